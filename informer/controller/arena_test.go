package controller_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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
	reads  atomic.Int64               // requests of ours that read the deployment

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
		writer := func(name string) client.Resource[*workload] {
			cfg := a.server.Config()
			cfg.UserAgent = name + "/v1"
			c, err := client.New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.Close)
			return client.For(c, workloads).With(client.WriteOptions{FieldManager: name})
		}
		a.mirror, a.scaler = writer("mirror"), writer("kube-scaler")
		a.server.Intercept(func(r *http.Request) http.HandlerFunc {
			if q := clienttest.RequestOf(r); q.Verb == "get" && strings.HasPrefix(r.UserAgent(), "mirror/") {
				a.reads.Add(1)
			}
			return nil
		})
		a.inf = informer.New(a.mirror, informer.Options{})
		if err := a.create(t.Context()); err != nil {
			t.Fatal(err)
		}
		a.began = time.Now()
		f(a)
	})
}

// create creates the deployment, as somebody else than the two.
func (a *arena) create(ctx context.Context) error {
	app := map[string]any{"app": "web"}
	_, err := a.scaler.With(client.WriteOptions{FieldManager: "user"}).Create(ctx, &workload{
		ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "web"},
		Spec: workloadSpec{
			Replicas: 1, Selector: map[string]any{"matchLabels": app},
			Template: map[string]any{
				"metadata": map[string]any{"labels": app},
				"spec":     map[string]any{"containers": []any{map[string]any{"name": "web", "image": "web"}}},
			},
		},
	})
	return err
}

// options are those of a controller that tells the arena what it notices.
func (a *arena) options() controller.Options {
	return controller.Options{
		OnError: func(err error) { a.tell("%v", err) },
		Hooks: controller.Hooks{Fight: func(_ context.Context, f *controller.FightError) {
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

// reconciles runs a controller of ours, which calls fn for each change of the deployment, or when other sources say, until the test
// ends.
func (a *arena) reconciles(o controller.Options, fn func(ctx context.Context) error, from ...controller.Source[meta.Key]) *controller.Controller[meta.Key] {
	if from == nil {
		from = append(from, controller.Watch(a.inf))
	}
	ctl := controller.New("mirror", o, func(ctx context.Context, _ meta.Key) (controller.Result, error) {
		return controller.Result{}, fn(ctx)
	}, from...)
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
