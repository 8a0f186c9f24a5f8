package controller_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/patch"
)

// workload is a deployment with the fields that the tests write.
type workload struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            workloadSpec   `json:"spec"`
	Status          workloadStatus `json:"status,omitzero"`
}

type workloadSpec struct {
	Replicas int32          `json:"replicas"`
	Paused   bool           `json:"paused,omitempty"`
	Selector map[string]any `json:"selector"`
	Template map[string]any `json:"template"`
}

type workloadStatus struct {
	ObservedGeneration int64       `json:"observedGeneration,omitempty"`
	Conditions         []condition `json:"conditions,omitempty"`
}

type condition struct {
	Type               string    `json:"type"`
	Status             string    `json:"status"`
	LastTransitionTime meta.Time `json:"lastTransitionTime,omitzero"`
}

var workloads = client.Type[*workload]{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments"}

// arena is a server with the deployment default/web, and two writers.
type arena struct {
	*testing.T
	server *clienttest.Server
	inf    *informer.Informer[*workload]
	mirror client.Resource[*workload] // ours
	scaler client.Resource[*workload] // the other's

	mu     sync.Mutex // guards the rest
	writes []time.Duration
	told   []string // by hooks and OnError
	began  time.Time
}

var web = meta.Key{Namespace: "default", Name: "web"}

func inArena(t *testing.T, f func(a *arena)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		a := &arena{T: t, server: clienttest.Start(t, clienttest.Options{HistoryAge: 1000 * time.Hour})}
		c, err := client.New(a.server.Config())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		all := client.For(c, workloads)
		a.mirror = all.With(client.WriteOptions{FieldManager: "mirror"})
		a.scaler = all.With(client.WriteOptions{FieldManager: "kube-scaler"})
		a.inf = informer.New(all, informer.Options{})
		a.create()
		a.began = time.Now()
		f(a)
	})
}

// create creates the deployment, as somebody else than the two.
func (a *arena) create() {
	a.Helper()
	app := map[string]any{"app": "web"}
	_, err := a.mirror.With(client.WriteOptions{FieldManager: "user"}).Create(a.Context(), &workload{
		ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "web"},
		Spec: workloadSpec{
			Replicas: 1, Selector: map[string]any{"matchLabels": app},
			Template: map[string]any{
				"metadata": map[string]any{"labels": app},
				"spec":     map[string]any{"containers": []any{map[string]any{"name": "web", "image": "web"}}},
			},
		},
	})
	if err != nil {
		a.Fatal(err)
	}
}

// options are those of a controller that tells the arena what it notices.
func (a *arena) options() controller.Options {
	return controller.Options{
		OnError: func(err error) { a.tell("%v", err) },
		Hooks: controller.Hooks{Fight: func(_ context.Context, f controller.Fight) {
			if f.Over {
				a.tell("over after %d", f.Count)
			}
		}},
	}
}

func (a *arena) tell(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.told = append(a.told, fmt.Sprintf(format, args...))
}

// all returns what was told.
func (a *arena) all() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.told)
}

// writeTimes returns when our reconciles have written.
func (a *arena) writeTimes() []time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.writes)
}

// wrote notes that our reconcile has written.
func (a *arena) wrote() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.writes = append(a.writes, time.Since(a.began))
}

// reconciles runs a controller of ours, which calls fn for each change of the deployment, until the test ends.
func (a *arena) reconciles(o controller.Options, fn func(ctx context.Context) error, more ...controller.Source[meta.Key]) *controller.Controller[meta.Key] {
	ctl := controller.New("mirror", o, func(ctx context.Context, _ meta.Key) (controller.Result, error) {
		return controller.Result{}, fn(ctx)
	}, append(more, controller.Watch(a.inf))...)
	a.runs(ctl)
	return ctl
}

// runs runs something until the test ends, or until stop is called.
func (a *arena) runs(r informer.Runner) (stop func()) {
	ctx, cancel := context.WithCancel(a.Context())
	ended := make(chan error, 1)
	go func() { ended <- informer.Run(ctx, r) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			a.Error(err)
		}
	})
	a.Cleanup(stop)
	return stop
}

// every calls fn at an interval until the test ends, or until stop is called.
func (a *arena) every(d time.Duration, fn func(ctx context.Context) error) (stop func()) {
	return a.runs(informer.RunnerFunc(func(ctx context.Context) error {
		for {
			select {
			case <-time.After(d):
			case <-ctx.Done():
				return nil
			}
			if err := fn(ctx); err != nil && ctx.Err() == nil {
				return err
			}
		}
	}))
}

func (a *arena) get() *workload {
	a.Helper()
	d, err := a.mirror.Get(a.Context(), web)
	if err != nil {
		a.Fatal(err)
	}
	return d
}

// merge returns a function that merges fields into the deployment.
func merge(r client.Resource[*workload], fields map[string]any) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		_, err := r.Patch(ctx, web, patch.Merge(fields))
		return err
	}
}

// apply returns a function that applies fields to the deployment.
func apply(r client.Resource[*workload], fields map[string]any) func(ctx context.Context) error {
	config := map[string]any{"apiVersion": "apps/v1", "kind": "Deployment"}
	for name, value := range fields {
		config[name] = value
	}
	return func(ctx context.Context) error {
		_, err := r.Apply(ctx, web, config, client.ApplyOptions{Force: true})
		return err
	}
}

// modify returns a function that changes the deployment with an update.
func modify(r client.Resource[*workload], change func(d *workload)) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		_, err := r.Modify(ctx, web, func(d *workload) error { change(d); return nil })
		return err
	}
}

func replicas(n int) map[string]any { return map[string]any{"spec": map[string]any{"replicas": n}} }

func labelled(value any) map[string]any {
	return map[string]any{"metadata": map[string]any{"labels": map[string]any{"tier": value}}}
}

func annotated(value any) map[string]any {
	return map[string]any{"metadata": map[string]any{"annotations": map[string]any{"example.com/a": value}}}
}

func scale(r client.Resource[*workload], n int32) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		_, err := client.ScaleOf(r).Modify(ctx, web, func(s *client.Scale) error { s.Spec.Replicas = n; return nil })
		return err
	}
}

func ready(r client.Resource[*workload], status string) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		_, err := r.Status().Modify(ctx, web, func(d *workload) error {
			if len(d.Status.Conditions) != 1 || d.Status.Conditions[0].Status != status {
				d.Status.Conditions = []condition{{Type: "Ready", Status: status, LastTransitionTime: meta.Time{Time: time.Now()}}}
			}
			return nil
		})
		return err
	}
}

func TestAFightIsNoticed(t *testing.T) {
	for _, test := range []struct {
		name         string
		ours, theirs func(a *arena) func(ctx context.Context) error
		want         string
	}{
		{
			"two applies",
			func(a *arena) func(context.Context) error { return apply(a.mirror, replicas(3)) },
			func(a *arena) func(context.Context) error { return apply(a.scaler, replicas(5)) },
			`"kube-scaler" and "mirror" both write .spec.replicas`,
		},
		{
			"an apply and an update",
			func(a *arena) func(context.Context) error { return apply(a.mirror, replicas(3)) },
			func(a *arena) func(context.Context) error {
				return modify(a.scaler, func(d *workload) { d.Spec.Replicas = 5 })
			},
			`"kube-scaler" and "mirror" both write .spec.replicas`,
		},
		{
			"an update and a patch",
			func(a *arena) func(context.Context) error {
				return modify(a.mirror, func(d *workload) { d.Spec.Replicas = 3 })
			},
			func(a *arena) func(context.Context) error { return merge(a.scaler, replicas(5)) },
			`"kube-scaler" and "mirror" both write .spec.replicas`,
		},
		{
			"scale and a patch",
			func(a *arena) func(context.Context) error { return scale(a.mirror, 3) },
			func(a *arena) func(context.Context) error { return merge(a.scaler, replicas(5)) },
			`"kube-scaler" and "mirror" both write .spec.replicas`,
		},
		{
			"a patch and scale",
			func(a *arena) func(context.Context) error { return merge(a.mirror, replicas(3)) },
			func(a *arena) func(context.Context) error { return scale(a.scaler, 5) },
			`"kube-scaler" and "mirror" both write .spec.replicas`,
		},
		{
			"labels",
			func(a *arena) func(context.Context) error { return merge(a.mirror, labelled("a")) },
			func(a *arena) func(context.Context) error { return merge(a.scaler, labelled("b")) },
			`"kube-scaler" and "mirror" both write .metadata.labels.tier`,
		},
		{
			"an annotation that the other removes",
			func(a *arena) func(context.Context) error { return merge(a.mirror, annotated("a")) },
			func(a *arena) func(context.Context) error { return merge(a.scaler, annotated(nil)) },
			`"mirror" sets .metadata.annotations.example.com/a and another writer removes it`,
		},
		{
			"an annotation that we remove",
			func(a *arena) func(context.Context) error { return merge(a.mirror, annotated(nil)) },
			func(a *arena) func(context.Context) error { return merge(a.scaler, annotated("a")) },
			`"kube-scaler" sets .metadata.annotations.example.com/a and "mirror" removes it`,
		},
		{
			"a finalizer that the other removes",
			func(a *arena) func(context.Context) error {
				return func(ctx context.Context) error {
					_, err := a.mirror.AddFinalizer(ctx, web, ours)
					return err
				}
			},
			func(a *arena) func(context.Context) error {
				return func(ctx context.Context) error {
					_, err := a.scaler.RemoveFinalizer(ctx, web, ours)
					return err
				}
			},
			`"mirror" sets .metadata.finalizers[="example.com/ours"] and another writer removes it`,
		},
		{
			"a condition, with the times of its changes",
			func(a *arena) func(context.Context) error { return ready(a.mirror, "True") },
			func(a *arena) func(context.Context) error { return ready(a.scaler, "False") },
			`"kube-scaler" and "mirror" both write .status.conditions[type="Ready"].status`,
		},
		{
			"a writer of the same name",
			func(a *arena) func(context.Context) error { return merge(a.mirror, replicas(3)) },
			func(a *arena) func(context.Context) error { return merge(a.mirror, replicas(5)) },
			`"mirror" and another writer of that name both write .spec.replicas`,
		},
		{
			"several fields, and a second write that is undone by nobody",
			func(a *arena) func(context.Context) error {
				return func(ctx context.Context) error {
					if err := merge(a.mirror, map[string]any{"spec": map[string]any{"replicas": 3, "paused": true}})(ctx); err != nil {
						return err
					}
					return merge(a.mirror, labelled("a"))(ctx)
				}
			},
			func(a *arena) func(context.Context) error {
				return merge(a.scaler, map[string]any{"spec": map[string]any{"replicas": 5, "paused": false}})
			},
			`"kube-scaler" and "mirror" both write .spec.paused, .spec.replicas`,
		},
		{
			"two writes, under two names",
			func(a *arena) func(context.Context) error {
				return func(ctx context.Context) error {
					if err := apply(a.mirror, replicas(3))(ctx); err != nil {
						return err
					}
					return merge(a.mirror.With(client.WriteOptions{FieldManager: "mirror-labels"}), labelled("a"))(ctx)
				}
			},
			func(a *arena) func(context.Context) error { return apply(a.scaler, replicas(5)) },
			`"kube-scaler" and "mirror" both write .spec.replicas`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			inArena(t, func(a *arena) {
				ours, theirs := test.ours(a), test.theirs(a)
				ctl := a.reconciles(a.options(), ours)
				a.every(700*time.Millisecond, theirs)
				sleep(time.Minute)
				told := a.all()
				if len(told) != 1 || !strings.Contains(told[0], `controller "mirror": fight over default/web (`) || !strings.Contains(told[0], test.want+", 5 times in ") ||
					!strings.HasSuffix(told[0], `; "default/web" is reconciled at most every 1s from now on`) {
					a.Errorf("told %q\nwant %s", told, test.want)
				}
				s := ctl.Status()
				if s.Fights.On != 1 || s.Fights.Noticed != 1 || len(s.Fights.First) != 1 || !strings.Contains(s.String(), ", 1 fights") {
					a.Fatalf("the status is %+v", s)
				}
				f := s.Fights.First[0]
				if f.UID != a.get().UID || f.Object != web || f.Key != any(web) || f.Count < 8 || f.Count > 10 || f.Delay != time.Second<<(f.Count-5) {
					a.Errorf("the fight is %+v", f)
				}
			})
		})
	}
}
