package controller_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/workqueue"
)

func TestTheHookSeesHowEachReconcileBeginsAndEnds(t *testing.T) {
	for _, test := range []struct {
		name string
		fn   func(ctx context.Context) (controller.Result, error)
		want string
	}{
		{"success", func(context.Context) (controller.Result, error) {
			time.Sleep(2 * time.Second)
			return controller.Result{}, nil
		}, "succeeded after 2s: <nil>"},
		{"a requeue", func(context.Context) (controller.Result, error) {
			return controller.Result{RequeueAfter: 2 * time.Hour}, nil
		}, "requeued after 0s: <nil>, again after 2h0m0s"},
		{"an error", func(context.Context) (controller.Result, error) {
			time.Sleep(time.Second)
			return controller.Result{RequeueAfter: time.Hour}, errFailed
		}, "failed after 1s: failed"},
		{"a terminal error", func(context.Context) (controller.Result, error) {
			return controller.Result{}, controller.Terminal(errFailed)
		}, "failed for good after 0s: will not be retried: failed"},
		{"a conflict", func(context.Context) (controller.Result, error) {
			return controller.Result{}, apierrors.Conflict
		}, "conflicted after 0s: Conflict"},
		{"a timeout", func(ctx context.Context) (controller.Result, error) {
			<-ctx.Done()
			return controller.Result{}, errFailed
		}, "failed after 1m0s: failed, timed out"},
		{"a panic", func(context.Context) (controller.Result, error) { panic("oh") }, "failed after 0s: panic: oh, panicked"},
		{"the end of the goroutine", func(context.Context) (controller.Result, error) {
			time.Sleep(time.Second)
			runtime.Goexit()
			return controller.Result{}, nil
		}, "failed after 1s: called runtime.Goexit instead of returning"},
		{"the end of the controller", func(ctx context.Context) (controller.Result, error) {
			if _, ok := ctx.Deadline(); ok {
				select {
				case <-ctx.Done():
				case <-time.After(31 * time.Second):
				}
			}
			return controller.Result{}, ctx.Err()
		}, "interrupted after 30s: context canceled"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				type value struct{}
				l := newLog()
				hook := func(of string) controller.Hooks {
					return controller.Hooks{
						Run: func(_ context.Context, r controller.RunInfo) func() {
							l.add("%s run %s with %d workers, %v", of, r.Name, r.Status().Workers, r.Status().State)
							return func() { l.add("%s stop %v", of, r.Status().State) }
						},
						Reconcile: func(ctx context.Context, r controller.ReconcileInfo) (context.Context, func(controller.ReconcileEnd)) {
							if r.Attempt > 1 {
								return nil, nil
							}
							l.add("%s begin %s %v %v", of, r.Controller, r.Key, ctx.Value(value{}))
							return context.WithValue(ctx, value{}, of), func(e controller.ReconcileEnd) {
								s := fmt.Sprintf("%v after %v: %v", e.Outcome, e.Duration, e.Err)
								if e.Result.RequeueAfter > 0 {
									s += fmt.Sprintf(", again after %v", e.Result.RequeueAfter)
								}
								if e.TimedOut {
									s += ", timed out"
								}
								if p := (*cache.PanicError)(nil); errors.As(e.Err, &p) {
									s += ", panicked"
								}
								l.add("%s %s", of, s)
							}
						},
					}
				}
				limit := time.Minute
				c := controller.New("c", controller.Options{
					Workers: 3, Timeout: limit, Hooks: hook("own"), MinBackoff: 24 * time.Hour, MaxBackoff: 24 * time.Hour, OnError: func(error) {},
				}, func(ctx context.Context, _ string) (controller.Result, error) {
					l.add("runs with %v", ctx.Value(value{}))
					return test.fn(ctx)
				}, keys{names: []string{"a"}})
				ctx, cancel := context.WithCancel(controller.WithHooks(controller.WithHooks(t.Context(), hook("outer")), hook("inner")))
				end := time.Hour
				if test.name == "the end of the controller" {
					end = 30 * time.Second
				}
				time.AfterFunc(end, cancel)
				if err := c.Run(ctx); err != nil {
					t.Error(err)
				}
				_, at, _ := strings.Cut(test.want, " after ")
				at, _, _ = strings.Cut(at, ":")
				l.want(t,
					"0s own run c with 3 workers, syncing", "0s outer run c with 3 workers, syncing", "0s inner run c with 3 workers, syncing",
					"0s own begin c a <nil>", "0s outer begin c a own", "0s inner begin c a outer", "0s runs with inner",
					at+" inner "+test.want, at+" outer "+test.want, at+" own "+test.want,
					fmt.Sprint(end)+" inner stop stopping", fmt.Sprint(end)+" outer stop stopping", fmt.Sprint(end)+" own stop stopping",
				)
			})
		})
	}
}

func TestTheHookOfTheQueueSeesItsKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog()
		hook := func(of string) controller.Hooks {
			return controller.Hooks{Queue: func(_ context.Context, r controller.RunInfo) workqueue.Hooks[any] {
				return workqueue.Hooks[any]{
					Add: func(i workqueue.HookInfo[any]) { l.add("%s %s add %v %d", of, r.Name, i.Key, i.Priority) },
					Start: func(i workqueue.HookInfo[any]) {
						l.add("%s %s start %v %d %v %d", of, r.Name, i.Key, i.Priority, i.Duration, i.Failures)
					},
					Done: func(i workqueue.HookInfo[any]) {
						l.add("%s %s done %v %d %v %v %d, ready %v", of, r.Name, i.Key, i.Priority, i.Duration, i.Err, i.Failures, r.ReadyByPriority())
					},
					Retry: func(i workqueue.HookInfo[any]) {
						l.add("%s %s retry %v %d %v %d %v", of, r.Name, i.Key, i.Priority, i.Duration > 0, i.Failures, i.Err)
					},
				}
			}}
		}
		var priorities []int
		both := hook("own")
		both.Reconcile = func(ctx context.Context, r controller.ReconcileInfo) (context.Context, func(controller.ReconcileEnd)) {
			priorities = append(priorities, r.Priority)
			return ctx, nil
		}
		c := controller.New("c", controller.Options{Hooks: both, MinBackoff: time.Hour, OnError: func(error) {}},
			func(context.Context, string) (controller.Result, error) {
				time.Sleep(time.Second)
				return controller.Result{}, errFailed
			}, added{{time.Second, "key", workqueue.AddOptions{Priority: 5}}, {time.Second, "other", workqueue.AddOptions{Priority: -3}}})
		ctx, cancel := context.WithCancel(controller.WithHooks(t.Context(), hook("outer")))
		time.AfterFunc(2500*time.Millisecond, cancel)
		if err := c.Run(ctx); err != nil {
			t.Error(err)
		}
		var got []string
		for _, line := range l.lines {
			if strings.Contains(line, "own") && strings.Contains(line, "key") {
				got = append(got, line)
			}
		}
		want := []string{"1s own c add key 5", "1s own c start key 5 0s 0", "2s own c done key 5 1s failed 1, ready map[-3:1]", "2s own c retry key 5 true 1 failed"}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		if n := len(l.lines); n%2 != 0 || n < 12 {
			t.Errorf("%d lines, want as many of each hook: %q", n, l.lines)
		}
		if !slices.Equal(priorities, []int{5, -3}) {
			t.Errorf("priorities %v", priorities)
		}
	})
}

// The hook hears which version of an object names a key, before the key is reconciled, however the key is made.
func TestTheHookHearsWhyAKeyIsNamed(t *testing.T) {
	for _, wrap := range []func(s controller.Subscriber[*pod]) controller.Subscriber[*pod]{
		func(s controller.Subscriber[*pod]) controller.Subscriber[*pod] { return s }, controller.CancelDeleted[*pod],
	} {
		synctest.Test(t, func(t *testing.T) {
			s, l := newPods(t), newLog()
			s.list(newPod("ns", "a", "1", "n1", "n2", "n1"))
			var named sync.Map // the keys that the hook has heard of since their last reconcile
			hooks := controller.Hooks{Named: func(_ context.Context, n controller.NamedInfo) {
				if n.Controller != "c" || n.Source != "Map(*controller_test.pod)" {
					t.Errorf("it is %+v", n)
				}
				named.Store(n.Key, true)
				l.add("%v by %v at %q after %q", n.Key, n.Object, n.ResourceVersion, n.Previous)
			}}
			stop := run(t, controller.New("c", controller.Options{Hooks: hooks}, func(_ context.Context, k string) (controller.Result, error) {
				if _, heard := named.LoadAndDelete(k); heard != (k != "of nobody") {
					t.Errorf("%s is reconciled, heard of before: %v", k, heard)
				}
				return controller.Result{}, nil
			}, controller.Map(wrap(s.Reader()), func(p *pod) []string { return p.Nodes }), keys{names: []string{"of nobody"}}))
			s.set(newPod("ns", "a", "2", "n3"))
			deleting := newPod("ns", "a", "3", "n3")
			deleting.DeletionTimestamp = &meta.Time{Time: time.Now()}
			s.set(deleting)
			s.delete(newPod("ns", "a", "4", "n3"))
			l.want(t, `0s n1 by ns/a at "1" after ""`, `0s n2 by ns/a at "1" after ""`,
				`0s n3 by ns/a at "2" after "1"`, `0s n1 by ns/a at "2" after "1"`, `0s n2 by ns/a at "2" after "1"`,
				`0s n3 by ns/a at "3" after "2"`, `0s n3 by ns/a at "4" after ""`)
			mustStop(t, stop)
		})
	}
}

func TestOutcomesHaveNames(t *testing.T) {
	if got := fmt.Sprint(controller.Succeeded, controller.Interrupted, controller.Outcome(9), controller.Outcome(-1), controller.State(99)); got != "succeeded interrupted Outcome(9) Outcome(-1) State(99)" {
		t.Errorf("got %s", got)
	}
}
