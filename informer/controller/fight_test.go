package controller_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/workqueue"
)

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
					_, err := a.mirror.AddFinalizer(ctx, web, ours, meta.FinalizerOptions{})
					return err
				}
			},
			func(a *arena) func(context.Context) error {
				return func(ctx context.Context) error {
					_, err := a.scaler.RemoveFinalizer(ctx, web, ours, meta.FinalizerOptions{})
					return err
				}
			},
			`"mirror" sets .metadata.finalizers[="example.com/ours"] and another writer removes it`,
		},
		{
			"a label that we remove with an update, before we write the status",
			func(a *arena) func(context.Context) error {
				return func(ctx context.Context) error {
					if err := modify(a.mirror, func(d *workload) { delete(d.Labels, "tier") })(ctx); err != nil {
						return err
					}
					return ready(a.mirror, "True")(ctx)
				}
			},
			func(a *arena) func(context.Context) error { return merge(a.scaler, labelled("a")) },
			`"kube-scaler" sets .metadata.labels.tier and "mirror" removes it`,
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
					if err := merge(a.mirror, map[string]any{"spec": map[string]any{"replicas": 3, "revisionHistoryLimit": 3}})(ctx); err != nil {
						return err
					}
					return merge(a.mirror, labelled("a"))(ctx)
				}
			},
			func(a *arena) func(context.Context) error {
				return merge(a.scaler, map[string]any{"spec": map[string]any{"replicas": 5, "revisionHistoryLimit": 5}})
			},
			`"kube-scaler" and "mirror" both write .spec.replicas, .spec.revisionHistoryLimit`,
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
				if len(told) != 1 || !strings.Contains(told[0], `controller "mirror": fight over default/web (Deployment): `) || !strings.Contains(told[0], test.want+", 5 times in ") ||
					!strings.HasSuffix(told[0], `; "default/web" is reconciled at most every 1s from now on`) {
					a.Errorf("told %q\nwant %s", told, test.want)
				}
				s := ctl.Status()
				if s.Fighting != 1 || s.FightsNoticed != 1 || len(s.Fights) != 1 || !strings.Contains(s.String(), ", 1 fights") {
					a.Fatalf("the status is %+v", s)
				}
				f := s.Fights[0]
				if f.UID != a.get().UID || f.Object != web || f.Key != any(web) || f.Count < 8 || f.Count > 10 || f.Delay != time.Second<<(f.Count-5) {
					a.Errorf("the fight is %+v", f)
				}
			})
		})
	}
}

// While the other one goes on, we write after 1 s, then 2 s, and so on up to a minute. When it stops, the object has our state
// within a minute, and the fight is over after ten. The next one begins anew.
func TestAKeyIsSlowedDownAndNeverDropped(t *testing.T) {
	inArena(t, func(a *arena) {
		ctl := a.reconciles(a.options(), func(ctx context.Context) error {
			if d, ok := a.inf.Reader().Get(web); ok && d.Spec.Replicas != 3 {
				a.wrote()
				return merge(a.mirror, replicas(3))(ctx)
			}
			return nil
		}, controller.Watch(a.inf), controller.Every(20*time.Second, web), controller.Fresh[meta.Key](a.inf))
		stop := a.every(400*time.Millisecond, merge(a.scaler, replicas(5)))
		sleep(10 * time.Minute)
		times := a.writeTimes()
		var pauses []time.Duration
		for i := 1; i < len(times); i++ {
			pauses = append(pauses, (times[i] - times[i-1]).Round(100*time.Millisecond))
		}
		first := slices.IndexFunc(pauses, func(d time.Duration) bool { return d >= time.Second })
		if first < 5 || first > 12 {
			a.Fatalf("the pauses are %v", pauses)
		}
		for i, d := range pauses[first:] {
			if want := min(time.Second<<i, time.Minute); d < want || d > want+500*time.Millisecond {
				a.Errorf("the pauses are %v; number %d is not %v", pauses[first:], i, want)
			}
		}
		if len(pauses) < first+12 {
			a.Errorf("the pauses are %v", pauses)
		}
		if s := ctl.Status(); s.Fighting != 1 || s.Fights[0].Delay != time.Minute || s.Queue.Held != 1 {
			a.Errorf("the status is %+v, %+v", s.Fights, s.Queue)
		}

		stop()
		last := time.Now()
		sleep(time.Minute)
		if n := a.get().Spec.Replicas; n != 3 {
			a.Errorf("after a minute it has %d replicas", n)
		}
		for ctl.Status().Fighting > 0 {
			sleep(time.Second)
		}
		if d := time.Since(last); d < 9*time.Minute || d > 12*time.Minute {
			a.Errorf("it took %v until the fight was over", d)
		}
		sleep(time.Minute)
		if told := a.all(); len(told) != 2 || !strings.HasPrefix(told[1], "over after ") {
			a.Errorf("told %q", told)
		}

		stop = a.every(400*time.Millisecond, merge(a.scaler, replicas(5)))
		sleep(20 * time.Second)
		stop()
		if s := ctl.Status(); s.Fighting != 1 || s.FightsNoticed != 2 || s.Fights[0].Delay > 16*time.Second {
			a.Errorf("the status is %+v", s.Fights)
		}
	})
}

// One reconcile after the wait serves all that sources have said of the key meanwhile. Other keys do not wait.
func TestEventsOfASlowedKeyAreServedLater(t *testing.T) {
	inArena(t, func(a *arena) {
		var others atomic.Int64
		var seen atomic.Int32
		ctl := controller.New("mirror", a.options(), func(ctx context.Context, key meta.Key) (controller.Result, error) {
			if key != web {
				others.Add(1)
				return controller.Result{}, nil
			}
			d, ok := a.inf.Reader().Get(web)
			if !ok {
				return controller.Result{}, nil
			}
			seen.Store(int32(len(d.Annotations)))
			a.wrote()
			return controller.Result{}, merge(a.mirror, replicas(3))(ctx)
		}, controller.Watch(a.inf), controller.Every(100*time.Millisecond, meta.Key{Name: "other"}))
		a.runs(ctl)
		stop := a.every(400*time.Millisecond, merge(a.scaler, replicas(5)))
		sleep(time.Minute)
		stop()
		for ctl.Status().Queue.Held == 0 {
			sleep(10 * time.Millisecond)
		}
		before, writes := others.Load(), len(a.writeTimes())
		for n := range 20 {
			if err := merge(a.scaler, map[string]any{"metadata": map[string]any{"annotations": map[string]any{fmt.Sprint("n", n): "x"}}})(a.Context()); err != nil {
				a.Fatal(err)
			}
			sleep(100 * time.Millisecond)
		}
		if n := others.Load() - before; n < 19 {
			a.Errorf("%d reconciles of another key in 2 s", n)
		}
		if n := len(a.writeTimes()) - writes; n != 0 || ctl.Status().Queue.Held != 1 {
			a.Errorf("%d reconciles of the key that waits", n)
		}
		sleep(time.Minute)
		if seen.Load() != 20 {
			a.Errorf("the last reconcile has seen %d annotations", seen.Load())
		}
	})
}

func TestFightsMayBeAllowed(t *testing.T) {
	inArena(t, func(a *arena) {
		o := a.options()
		o.AllowFights = true
		ctl := a.reconciles(o, func(ctx context.Context) error { a.wrote(); return merge(a.mirror, replicas(3))(ctx) })
		a.every(time.Second, merge(a.scaler, replicas(5)))
		sleep(100*time.Second + time.Millisecond)
		if n := len(a.writeTimes()); n < 200 || len(a.all()) > 0 || a.reads.Load() > 0 {
			a.Errorf("%d writes, %d reads, told %q, %v", n, a.reads.Load(), a.all(), ctl.Status())
		}
	})
}

// Hooks and OnError are called without a lock, so they may ask for the status.
func TestHooksOfAFightMayAskForTheStatus(t *testing.T) {
	inArena(t, func(a *arena) {
		var ctl *controller.Controller[meta.Key]
		note := func(of string) {
			s := ctl.Status()
			a.tell("%s %d %d", of, s.Fighting, s.FightsNoticed)
		}
		asks := func(workqueue.HookInfo[any]) { ctl.Status() }
		o := controller.Options{
			OnError: func(err error) {
				var fight *controller.FightError
				if errors.As(err, &fight) {
					note("error")
				}
			},
			Hooks: controller.Hooks{
				Queue: func(context.Context, controller.RunInfo) workqueue.Hooks[any] {
					return workqueue.Hooks[any]{
						Add:   asks,
						Start: func(workqueue.HookInfo[any]) { ctl.Status() },
						Done:  func(workqueue.HookInfo[any]) { ctl.Status() },
					}
				},
				Fight: func(_ context.Context, f *controller.FightError) { note(fmt.Sprint("hook ", f.Over)) },
			},
		}
		ctl = controller.New("mirror", o, func(ctx context.Context, _ meta.Key) (controller.Result, error) {
			return controller.Result{}, merge(a.mirror, replicas(3))(ctx)
		}, controller.Watch(a.inf))
		hooked := controller.WithHooks(a.Context(), controller.Hooks{Fight: func(_ context.Context, f *controller.FightError) { note(fmt.Sprint("context ", f.Over)) }})
		ended := make(chan error)
		ctx, cancel := context.WithCancel(hooked)
		go func() { ended <- informer.Run(ctx, ctl) }()
		stop := a.every(time.Second, merge(a.scaler, replicas(5)))
		sleep(time.Minute)
		stop()
		sleep(12 * time.Minute)
		if err := merge(a.scaler, labelled("x"))(a.Context()); err != nil {
			a.Fatal(err)
		}
		sleep(time.Minute)
		cancel()
		if err := <-ended; err != nil {
			a.Error(err)
		}
		want := []string{"hook false 1 1", "context false 1 1", "error 1 1", "hook true 0 1", "context true 0 1"}
		if got := a.all(); !slices.Equal(got, want) {
			a.Errorf("told %q, want %q", got, want)
		}
	})
}

// Without OnError, a fight is one line, and its end is another.
func TestAFightIsLogged(t *testing.T) {
	inArena(t, func(a *arena) {
		handler, written := lines()
		guarded := &guardedHandler{Handler: handler}
		ctl := a.reconciles(controller.Options{Logger: logr.FromSlogHandler(guarded)}, merge(a.mirror, replicas(3)))
		stop := a.every(time.Second, merge(a.scaler, replicas(5)))
		sleep(5 * time.Minute)
		stop()
		sleep(12 * time.Minute)
		if err := merge(a.scaler, labelled("x"))(a.Context()); err != nil {
			a.Fatal(err)
		}
		sleep(time.Second)
		guarded.mu.Lock()
		defer guarded.mu.Unlock()
		got := strings.Split(strings.TrimSpace(written.String()), "\n")
		if len(got) != 2 || !strings.Contains(got[0], `level=ERROR msg="controller \"mirror\": fights with another writer over the same fields" err="controller \"mirror\": fight over default/web (Deployment): `) ||
			!strings.Contains(got[0], `controller=mirror key=default/web`) || !strings.Contains(got[1], `level=INFO msg="controller \"mirror\": fights have ended`) {
			a.Errorf("got\n%s\n%v", written, ctl.Status())
		}
	})
}

// guardedHandler writes one line at a time.
type guardedHandler struct {
	slog.Handler
	mu sync.Mutex
}

func (h *guardedHandler) Handle(ctx context.Context, r slog.Record) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.Handler.Handle(ctx, r)
}

// Two controllers of one program that write the same field under two names each notice it.
func TestTwoControllersOfOneProgramFight(t *testing.T) {
	inArena(t, func(a *arena) {
		var all []*controller.Controller[meta.Key]
		for i, r := range []client.Resource[*workload]{a.mirror, a.scaler} {
			ctl := controller.New([]string{"mirror", "scaler"}[i], a.options(), func(ctx context.Context, _ meta.Key) (controller.Result, error) {
				sleepIn(ctx, 100*time.Millisecond)
				if d, ok := a.inf.Reader().Get(web); ok && int(d.Spec.Replicas) != 3+i {
					return controller.Result{}, apply(r, replicas(3+i))(ctx)
				}
				return controller.Result{}, nil
			}, controller.Watch(a.inf))
			all = append(all, ctl)
		}
		a.runs(all[0])
		a.runs(all[1])
		sleep(10 * time.Minute)
		told := a.all()
		slices.Sort(told)
		if len(told) == 0 || !strings.HasPrefix(told[0], `controller "mirror": fight`) && !strings.HasPrefix(told[0], `controller "scaler": fight`) {
			a.Errorf("told %q", told)
		}
		for _, line := range told {
			if !strings.Contains(line, `"kube-scaler" and "mirror" both write .spec.replicas`) {
				a.Errorf("told %q", line)
			}
		}
	})
}

// The end of the object ends the fight: the key does not wait for the next one.
func TestTheEndOfTheObjectEndsTheFight(t *testing.T) {
	inArena(t, func(a *arena) {
		var gone atomic.Bool
		ctl := a.reconciles(a.options(), func(ctx context.Context) error {
			if gone.Load() {
				if err := a.mirror.Delete(ctx, web, client.DeleteOptions{}); !errors.Is(err, apierrors.NotFound) {
					return err
				}
				return nil
			}
			return merge(a.mirror, replicas(3))(ctx)
		})
		stop := a.every(time.Second, merge(a.scaler, replicas(5)))
		sleep(time.Minute)
		stop()
		gone.Store(true)
		sleep(2 * time.Minute)
		if err := merge(a.scaler, labelled("x"))(a.Context()); err != nil && !errors.Is(err, apierrors.NotFound) {
			a.Fatal(err)
		}
		sleep(time.Minute)
		gone.Store(false)
		if s := ctl.Status(); s.Fighting != 0 || s.Queue.Held != 0 {
			a.Errorf("the status is %+v", s)
		}
		if err := a.create(a.Context()); err != nil {
			a.Fatal(err)
		}
		sleep(time.Second)
		if n := a.get().Spec.Replicas; n != 3 {
			a.Errorf("the new object has %d replicas", n)
		}
		if told := a.all(); len(told) != 2 || !strings.HasPrefix(told[1], "over ") {
			a.Errorf("told %q", told)
		}
	})
}

func TestAFightIsReadable(t *testing.T) {
	f := &controller.FightError{Controller: "c", Fields: []string{`"me" and "x" both write .a`, `"y" sets .c and "me" removes it`}}
	f.Resource.Resource, f.Object.Name, f.Key, f.Count = "things", "n", "k", 6
	for _, test := range []struct{ kind, want string }{
		{"", `controller "c": fight over n (things): "me" and "x" both write .a; "y" sets .c and "me" removes it, 6 times in 0s; "k" is reconciled at most every 0s from now on`},
		{"PartialObjectMetadata", `controller "c": fight over n (things): `},
		{"Thing", `controller "c": fight over n (Thing): `},
	} {
		if f.Kind = test.kind; !strings.HasPrefix(f.Error(), test.want) {
			t.Errorf("got %v\nwant %s", f, test.want)
		}
	}
	if f.Over = true; !strings.HasSuffix(f.Error(), "; it is over") {
		t.Errorf("got %v", f)
	}
}
