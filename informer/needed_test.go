package informer_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/internal/store/storetest"
)

// reconciled counts the reconciles of each key.
type reconciled struct{ keys chan meta.Key }

func newReconciled() reconciled { return reconciled{make(chan meta.Key, 100)} }

func (r reconciled) reconcile(_ context.Context, k meta.Key) (controller.Result, error) {
	r.keys <- k
	return controller.Result{}, nil
}

// together runs all of rs until the result is stopped.
func (r *rig) together(rs ...informer.Runner) *running {
	r.Helper()
	return r.running(informer.RunnerFunc(func(ctx context.Context) error { return informer.Run(ctx, rs...) }))
}

// missing returns a resource that the server does not have.
func (r *rig) missing() client.Resource[*Thing] {
	r.Helper()
	c, err := client.New(r.server.Config())
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(c.Close)
	return client.For(c, client.Type[*Thing]{Group: "example.com", Version: "v1", Kind: "Site", Resource: "sites"})
}

// A program that forgot to name its informer waited for ever, without a word.
func TestRunRunsTheInformersThatControllersWatch(t *testing.T) {
	for _, test := range []struct {
		name string
		// of returns the sources of a controller, and what is named in Run beside it.
		of func(inf *informer.Informer[*Thing]) (controller.Source[meta.Key], []informer.Runner)
	}{
		{"an informer", func(inf *informer.Informer[*Thing]) (controller.Source[meta.Key], []informer.Runner) {
			return controller.Watch(inf), nil
		}},
		{"its reader", func(inf *informer.Informer[*Thing]) (controller.Source[meta.Key], []informer.Runner) {
			return controller.Watch(inf.Reader()), nil
		}},
		{"a view of its reader", func(inf *informer.Informer[*Thing]) (controller.Source[meta.Key], []informer.Runner) {
			return controller.Watch(inf.Reader().Where(func(*Thing) bool { return true })), nil
		}},
		{"a map", func(inf *informer.Informer[*Thing]) (controller.Source[meta.Key], []informer.Runner) {
			return controller.Map(inf, func(t *Thing) []meta.Key { return []meta.Key{meta.KeyOf(t)} }), nil
		}},
		{"an informer that is named too", func(inf *informer.Informer[*Thing]) (controller.Source[meta.Key], []informer.Runner) {
			return controller.Watch(inf), []informer.Runner{inf, inf}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(r *rig) {
				r.put("a")
				inf := informer.New(r.things, informer.Options{})
				got := newReconciled()
				source, named := test.of(inf)
				ctl := controller.New("c", controller.Options{}, got.reconcile, source)
				stop := r.together(append(named, ctl)...)
				r.pass(time.Second)
				if len(got.keys) != 1 || <-got.keys != key("a") {
					r.Errorf("the object was not reconciled once: %v", ctl.Status())
				}
				if n := inf.Status().Watches + inf.Status().Lists; n != 1 {
					r.Errorf("the informer listed and watched %d times, want once", n)
				}
				stop.stop()
				if s := inf.Status().State; s != informer.Idle {
					r.Errorf("the informer is %v after Run", s)
				}
			})
		})
	}
}

func TestRunRunsTheUsersThatControllersWatch(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("a")
		shared := &informer.Factory{}
		got := newReconciled()
		one := controller.New("one", controller.Options{}, got.reconcile, controller.Watch(informer.Share(shared, r.things, informer.Options{})))
		user := informer.Share(shared, r.things, informer.Options{})
		two := controller.New("two", controller.Options{}, got.reconcile, controller.Watch(user.Reader()))
		stop := r.together(one, two)
		r.pass(time.Minute)
		if s := one.Status(); len(s.Unsynced) != 1 || !strings.Contains(s.String(), "its Factory does not run") {
			r.Errorf("without the Factory: %v", s)
		}
		stop.stop()
		stop = r.together(shared, one, two)
		r.pass(time.Second)
		if len(got.keys) != 2 {
			r.Errorf("%d reconciles, want one of each controller: %v", len(got.keys), two.Status())
		}
		stop.stop()
	})
}

func TestWorkersWaitForWhatTheControllerReads(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("a")
		watched := informer.New(r.things, informer.Options{})
		read := informer.New(r.things, informer.Options{LabelSelector: "read=yes"})
		r.server.Intercept(func(q *http.Request) http.HandlerFunc {
			if strings.Contains(q.URL.RawQuery, "read") {
				return failure(403, "Forbidden", "not you")
			}
			return nil
		})
		got := newReconciled()
		ctl := controller.New("c", controller.Options{}, got.reconcile,
			controller.Watch(watched), controller.Reads[meta.Key](read))
		stop := r.together(ctl)
		r.pass(time.Minute)
		s := ctl.Status()
		if s.State != controller.Syncing || len(s.Unsynced) != 1 || !strings.HasPrefix(s.Unsynced[0].Error(), "Reads("+read.String()+"): ") ||
			!errors.Is(s.Unsynced[0], apierrors.Forbidden) {
			r.Errorf("the status is %v, want it to say what the workers wait for, and why", s)
		}
		r.heal()
		r.pass(time.Minute)
		if len(got.keys) != 1 {
			r.Errorf("%d reconciles after the cache has come: %v", len(got.keys), ctl.Status())
		}
		stop.stop()
	})
}

func TestTheErrorOfSyncTimeoutHasTheReasonOfEachSource(t *testing.T) {
	bubble(t, func(r *rig) {
		missing := informer.New(r.missing(), informer.Options{})
		refused := informer.New(r.things, informer.Options{Namespaces: []string{"default", "kube-system"}})
		r.server.Intercept(func(q *http.Request) http.HandlerFunc {
			if clienttest.RequestOf(q).Resource.Resource == "configmaps" {
				return failure(403, "Forbidden", "not you")
			}
			return nil
		})
		ctl := controller.New("c", controller.Options{SyncTimeout: time.Minute}, newReconciled().reconcile,
			controller.Watch(missing), controller.Watch(refused))
		err := informer.Run(r.Context(), ctl)
		r.says(err, `run controller "c": sources have not delivered within Options.SyncTimeout (1m0s)`, "sites.example.com", "NotFound (404)", "Forbidden (403)", "default", "kube-system")
		if strings.Count(err.Error(), "Watch(") != 2 || !errors.Is(err, apierrors.NotFound) || !errors.Is(err, apierrors.Forbidden) {
			r.Errorf("%v does not have the errors of the server in it", err)
		}
	})
}

func TestAMissingResourceDoesNotKeepOtherControllersFromWorking(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("a")
		waits := controller.New("waits", controller.Options{}, newReconciled().reconcile,
			controller.Watch(informer.New(r.missing(), informer.Options{})))
		got := newReconciled()
		works := controller.New("works", controller.Options{}, got.reconcile, controller.Watch(informer.New(r.things, informer.Options{})))
		stop := r.together(waits, works)
		r.pass(time.Minute)
		if len(got.keys) != 1 {
			r.Errorf("%d reconciles: %v", len(got.keys), works.Status())
		}
		if s := waits.Status(); len(s.Unsynced) != 1 || !errors.Is(s.Unsynced[0], apierrors.NotFound) {
			r.Errorf("the status is %v, want the resource that is missing", s)
		}
		stop.stop()
	})
}

// The cache is current until the last reconcile has ended: one that writes may wait for what it has written.
func TestInformersStopAfterTheControllers(t *testing.T) {
	type follows interface {
		informer.Runner
		controller.Subscriber[*Thing]
		Reader() cache.Reader[*Thing]
		WaitFor(ctx context.Context, key meta.Key, resourceVersion string) error
	}
	for _, test := range []struct {
		name string
		make func(r *rig) (inf follows, beside []informer.Runner)
	}{
		{"its own", func(r *rig) (follows, []informer.Runner) { return informer.New(r.things, informer.Options{}), nil }},
		{"a shared one", func(r *rig) (follows, []informer.Runner) {
			s := &informer.Factory{}
			return informer.Share(s, r.things, informer.Options{}), []informer.Runner{s}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(r *rig) {
				r.put("a")
				inf, beside := test.make(r)
				ctx, cancel := context.WithCancel(r.Context())
				defer cancel()
				var waited error
				ctl := controller.New("c", controller.Options{Grace: time.Hour},
					func(ctx context.Context, k meta.Key) (controller.Result, error) {
						cancel()
						time.Sleep(time.Second)
						made, err := r.things.Modify(ctx, k, func(t *Thing) error {
							t.Data = Payload{"by": "c"}
							return nil
						})
						if err == nil {
							waited = inf.WaitFor(ctx, k, made.ResourceVersion)
						}
						held, _ := inf.Reader().Get(k)
						if held == nil || held.Data["by"] != "c" {
							r.Errorf("the cache has %v", held)
						}
						return controller.Result{}, err
					}, controller.Watch(inf))
				if err := informer.Run(ctx, append([]informer.Runner{ctl, inf}, beside...)...); err != nil || waited != nil {
					r.Errorf("Run: %v, WaitFor: %v", err, waited)
				}
			})
		})
	}
}

// A program may start its informers in one Run and a controller in another, as under leader election.
func TestAnInformerThatRunsElsewhereIsTakenOver(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("a")
		inf := informer.New(r.things, informer.Options{})
		got := newReconciled()
		ctl := controller.New("c", controller.Options{}, got.reconcile, controller.Watch(inf))
		elsewhere := r.together(inf)
		stop := r.together(ctl)
		r.pass(time.Second)
		if len(got.keys) != 1 || inf.Status().Lists != 1 {
			r.Errorf("%d reconciles: %v", len(got.keys), inf.Status())
		}
		elsewhere.stop()
		r.put("b")
		r.pass(time.Second)
		if len(got.keys) != 2 || inf.Status().Lists != 1 {
			r.Errorf("%d reconciles after the other Run has ended: %v", len(got.keys), inf.Status())
		}
		stop.stop()
	})
}

// A runner of one's own hands on what a controller needs.
type wrapped struct {
	*controller.Controller[meta.Key]
}

func TestRunRunsTheInformersOfAWrappedController(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("a")
		got := newReconciled()
		stop := r.together(wrapped{controller.New("c", controller.Options{}, got.reconcile, controller.Watch(informer.New(r.things, informer.Options{})))})
		r.pass(time.Second)
		if len(got.keys) != 1 {
			r.Errorf("%d reconciles", len(got.keys))
		}
		stop.stop()
	})
}

// An informer that is only needed does not keep Run from ending.
func TestRunDoesNotWaitForInformersThatAreOnlyNeeded(t *testing.T) {
	bubble(t, func(r *rig) {
		job := needing{informer.New(r.things, informer.Options{})}
		if err := informer.Run(r.Context(), job); err != nil {
			r.Error(err)
		}
		if s := job.inf.Status(); s.State != informer.Idle || s.Lists != 1 {
			r.Errorf("the informer is %v", s)
		}
	})
}

// needing is a job that is over when its informer has a list.
type needing struct{ inf *informer.Informer[*Thing] }

func (n needing) Run(ctx context.Context) error { return n.inf.WaitSynced(ctx) }

func (n needing) Runners() []informer.Runner { return []informer.Runner{n.inf} }

func TestAReaderKnowsWhoFillsIt(t *testing.T) {
	bubble(t, func(r *rig) {
		inf := informer.New(r.things, informer.Options{})
		user := informer.Share(&informer.Factory{}, r.things, informer.Options{})
		if inf.Reader().Runner() != cache.Runner(inf) || user.Reader().Runner() != cache.Runner(user) {
			r.Error("a reader leads to something else than what it came from")
		}
		if (cache.Reader[*Thing]{}).Runner() != nil || storetest.New[*Thing]().Reader().Runner() != nil {
			r.Error("a reader that nobody fills names somebody")
		}
	})
}
