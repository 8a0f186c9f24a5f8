package clusters_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/clusters"
	"github.com/bowline-go/bowline/informer/controller"
)

func TestClustersComeAndGoWhileTheControllerRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newSite(t, "a"), newSite(t, "b")
		a.create(t, "x")
		b.create(t, "x")
		did := &log{}
		c := clusters.New("c", controller.Options{}, did.note)
		mustAdd(t, c, a)
		did.want(t, "before Run", "")
		if s := a.cache.Status().State; s != informer.Idle {
			t.Errorf("the informer is %v before Run", s)
		}
		stop := start(t, c)
		did.want(t, "the first cluster", "a:x")
		mustAdd(t, c, b)
		if err := c.WaitSynced(t.Context(), "b"); err != nil {
			t.Error(err)
		}
		did.want(t, "the second", "b:x")
		a.create(t, "y")
		b.create(t, "z")
		did.want(t, "changes", "a:y, b:z")
		if got := fmt.Sprint(c.Names(), c.Clusters()); got != `[a b] [cluster "a": 0 in progress, 0 later cluster "b": 0 in progress, 0 later]` {
			t.Errorf("the clusters are %s", got)
		}
		if got, found := c.Get("b"); got != b || !found {
			t.Errorf("b is %v, %v", got, found)
		}

		mustRemove(t, c, "a")
		wantQuiet(t, a)
		if got, found := c.Get("a"); got != nil || found {
			t.Errorf("a is %v, %v after its removal", got, found)
		}
		a.create(t, "w")
		b.create(t, "w")
		did.want(t, "after the removal", "b:w")

		a.connect(t)
		mustAdd(t, c, a)
		did.want(t, "it comes back", "a:w, a:x, a:y")

		stop()
		wantQuiet(t, a)
		wantQuiet(t, b)
		if got := c.Clusters()[0].String(); !strings.Contains(got, `; not synced: Watch(informer "a" of configmaps.v1): controller "c" does not run`) {
			t.Errorf("after Run the cluster is %s", got)
		}
		stop = start(t, c)
		did.want(t, "another Run", "a:w, a:x, a:y, b:w, b:x, b:z")
		stop()
	})
}

func TestInvalidCallsAreErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newSite(t, "a")
		c := clusters.New("c", controller.Options{}, (&log{}).note)
		mustAdd(t, c, a)
		ended, end := context.WithCancel(t.Context())
		end()
		for _, test := range []struct {
			name string
			err  error
			want string
		}{
			{"no name", c.Add("", a), `Add: the name must not be empty`},
			{"a name twice", c.Add("a", a, a.watch()), `Add "a": a cluster of this name exists`},
			{"a nil source", c.Add("b", a, a.watch(), nil), `Add "b": from[1] must not be nil`},
			{"no source", c.Add("b", a), `Add "b": from must have a source, unless New has one`},
			{"a line feed", c.Add("b\nc", a), `Add "b\nc": from must have a source`},
			{"an unknown name", c.Remove(ended, "b"), `Remove "b": no cluster has this name`},
			{"a wait for it", c.WaitSynced(ended, "b"), `WaitSynced "b": no cluster has this name`},
			{"a wait without Run", c.WaitSynced(ended, "a"), `controller "c" does not run`},
			{"no function", clusters.New[*site]("c", controller.Options{}, nil).Run(t.Context()), `fn must not be nil`},
		} {
			if test.err == nil || !strings.Contains(test.err.Error(), test.want) {
				t.Errorf("%s: the error is %v, want %s", test.name, test.err, test.want)
			}
		}
		if got := c.Names(); !slices.Equal(got, []string{"a"}) {
			t.Errorf("the clusters are %q", got)
		}
	})
}

// One cluster that cannot be used stops no other one, at the start or later, and works when it can be used.
func TestAnUnavailableClusterDoesNotStopOthers(t *testing.T) {
	answer := func(code int, reason string) func(s *clienttest.Server, on bool) {
		return func(s *clienttest.Server, on bool) {
			if !on {
				s.Intercept(nil)
				return
			}
			s.Intercept(func(*http.Request) http.HandlerFunc {
				return clienttest.Answer(meta.Status{Code: code, Reason: reason})
			})
		}
	}
	for _, test := range []struct {
		name  string
		fault func(s *clienttest.Server, on bool)
		want  string
	}{
		{"refused", func(s *clienttest.Server, on bool) {
			if on {
				s.Refuse(syscall.ECONNREFUSED)
				s.DropWatches()
			} else {
				s.Refuse(nil)
			}
		}, "connection refused"},
		{"silent", func(s *clienttest.Server, on bool) {
			s.BlackHole(on)
			if on {
				s.Freeze()
			}
		}, ""},
		{"401", answer(401, "Unauthorized"), "Unauthorized (401)"},
		{"403", answer(403, "Forbidden"), "Forbidden (403)"},
		{"500", answer(500, "InternalError"), "(500)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b := newSite(t, "a"), newSite(t, "b")
				a.create(t, "x")
				b.create(t, "x")
				b.connect(t) // over new connections
				test.fault(b.server, true)
				did := &log{}
				c := clusters.New("c", controller.Options{SyncTimeout: time.Minute, OnError: func(err error) { t.Error(err) }}, did.note)
				mustAdd(t, c, a)
				mustAdd(t, c, b)
				stop := start(t, c)
				did.want(t, "at the start", "a:x")
				time.Sleep(time.Hour)
				a.create(t, "y")
				did.want(t, "after an hour", "a:y")
				all := c.Clusters()
				if all[0].Err != nil || all[1].Err == nil || !strings.Contains(all[1].Err.Error(), test.want) {
					t.Errorf("the clusters are %v", all)
				}
				if s := c.Status(); s.State != controller.Running || len(s.Unsynced) != 1 || !strings.HasPrefix(s.Unsynced[0].Error(), `b: Watch(informer "b" of configmaps.v1): `) || s.Queue.InProgress != 0 {
					t.Errorf("the controller is %v", s)
				}
				// A key of b that somebody else names waits aside too, without a worker.
				other, err := c.AddSource(controller.Every(time.Hour, in("b", "named")))
				if err != nil {
					t.Fatal(err)
				}
				did.want(t, "a key of the cluster that is away", "")
				if s := c.Status(); s.Queue.Held != 1 {
					t.Errorf("the queue is %+v", s.Queue)
				}
				other.Remove()

				test.fault(b.server, false)
				if err := c.WaitSynced(t.Context(), "b"); err != nil {
					t.Error(err)
				}
				did.want(t, "when it has come", "b:named, b:x")

				// It goes away once more, later.
				test.fault(b.server, true)
				time.Sleep(time.Hour)
				a.create(t, "z")
				did.want(t, "while it is away", "a:z")
				test.fault(b.server, false)
				time.Sleep(2 * time.Hour)
				b.connect2(t).create(t, "z")
				time.Sleep(time.Hour)
				did.want(t, "when it is back", "b:z")
				stop()
				wantQuiet(t, a)
				wantQuiet(t, b)
			})
		})
	}
}

// connect2 returns the site as another client sees it.
func (s *site) connect2(t *testing.T) *site {
	other := &site{name: s.name, server: s.server}
	other.connect(t)
	return other
}

// In a cluster of which one namespace is forbidden, the keys of the others are reconciled, once each.
func TestAForbiddenNamespaceOfAClusterKeepsBackItsOwnKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newSite(t, "a")
		a.server.Intercept(func(r *http.Request) http.HandlerFunc {
			if clienttest.RequestOf(r).Key.Namespace == "kube-public" {
				return clienttest.Answer(meta.Status{Code: 403, Reason: "Forbidden"})
			}
			return nil
		})
		a.create(t, "x", "y")
		a.cache = informer.New(a.maps, informer.Options{Name: "a", Namespaces: []string{"default", "kube-public"}, OnError: func(error) {}})
		did := &log{}
		c := clusters.New("c", controller.Options{}, did.note)
		mustAdd(t, c, a)
		stop := start(t, c)
		time.Sleep(time.Hour)
		did.want(t, "the namespace that is there", "a:x, a:y")
		if s := c.Status(); s.Reconciles != 2 {
			t.Errorf("%v", s)
		}
		a.server.Intercept(nil)
		if _, err := a.maps.Create(t.Context(), &configMap{ObjectMeta: meta.Key{Namespace: "kube-public", Name: "z"}.ObjectMeta()}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		did.want(t, "the one that comes", "a:z")
		stop()
	})
}

// A cluster that is removed while it is away leaves nothing behind.
func TestAClusterIsRemovedWhileItIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newSite(t, "b")
		b.server.BlackHole(true)
		did := &log{}
		c := clusters.New("c", controller.Options{}, did.note)
		mustAdd(t, c, b)
		stop := start(t, c)
		other, err := c.AddSource(controller.Every(time.Hour, in("b", "named")))
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		other.Remove()
		waited := make(chan error, 1)
		go func() { waited <- c.WaitSynced(t.Context(), "b") }()
		time.Sleep(time.Minute)
		before := time.Now()
		mustRemove(t, c, "b")
		if took := time.Since(before); took > time.Second {
			t.Errorf("it took %v", took)
		}
		if err := <-waited; err == nil || !strings.Contains(err.Error(), "the source has been removed") {
			t.Errorf("the wait returned %v", err)
		}
		synctest.Wait()
		if q := c.Status().Queue; q.Held+q.Ready+q.Delayed+q.InProgress != 0 {
			t.Errorf("the queue is %+v", q)
		}
		did.want(t, "nothing", "")
		wantQuiet(t, b)
		stop()
	})
}

// A source that fails stops its own cluster.
func TestASourceThatFailsStopsItsClusterOnly(t *testing.T) {
	for name, wrong := range map[string]func(s *site) controller.Source[meta.Key]{
		"an informer with invalid options": func(s *site) controller.Source[meta.Key] {
			return controller.Watch(informer.New(s.maps, informer.Options{LabelSelector: "a in"}))
		},
		"a period of 0": func(*site) controller.Source[meta.Key] { return controller.Every(0, at("never")) },
		"a source that panics": func(*site) controller.Source[meta.Key] {
			return sourceFunc(func(context.Context, func(meta.Key), func()) error { panic("no") })
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b := newSite(t, "a"), newSite(t, "b")
				a.create(t, "x")
				b.create(t, "x")
				did := &log{}
				var told []error
				c := clusters.New("c", controller.Options{OnError: func(err error) { told = append(told, err) }}, did.note)
				mustAdd(t, c, a)
				mustAdd(t, c, b, wrong(b))
				stop := start(t, c)
				did.want(t, "at the start", "a:x")
				a.create(t, "y")
				b.create(t, "y")
				did.want(t, "later", "a:y")
				if len(told) != 1 || !strings.HasPrefix(told[0].Error(), "run source b: ") || !strings.Contains(told[0].Error(), " of controller ") {
					t.Errorf("told %v", told)
				}
				why := errors.Unwrap(told[0])
				if err := c.WaitSynced(t.Context(), "b"); err == nil || !errors.Is(err, why) {
					t.Errorf("the wait returned %v", err)
				}
				if err := c.Clusters()[1].Err; !errors.Is(err, why) {
					t.Errorf("the status is %v, want %v", err, why)
				}
				mustRemove(t, c, "b")
				wantQuiet(t, b)
				mustAdd(t, c, b)
				did.want(t, "added again", "b:x, b:y")
				stop()
			})
		})
	}
}

type sourceFunc func(ctx context.Context, add func(meta.Key), synced func()) error

func (f sourceFunc) Run(ctx context.Context, add func(meta.Key), synced func()) error {
	return f(ctx, add, synced)
}

// Remove ends the requests of the cluster's reconciles, and waits for them.
func TestRemoveEndsTheReconcilesInProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newSite(t, "a"), newSite(t, "b")
		a.create(t, "x")
		b.create(t, "x")
		did := &log{}
		c := clusters.New("c", controller.Options{Workers: 4, OnError: func(err error) { t.Error(err) }},
			func(ctx context.Context, s *site, k clusters.Key) (controller.Result, error) {
				did.add("%s begins", k.Cluster)
				_, err := s.maps.Get(ctx, k.Key)
				removed := (*clusters.RemovedError)(nil)
				if errors.As(context.Cause(ctx), &removed) {
					time.Sleep(time.Second) // to tidy up
					did.add("%s ends, %s is removed", k.Cluster, removed.Cluster)
				} else {
					did.add("%s ends, %v", k.Cluster, err)
				}
				return controller.Result{}, err
			})
		mustAdd(t, c, a)
		mustAdd(t, c, b)
		hang := func(r *http.Request) http.HandlerFunc {
			if clienttest.RequestOf(r).Verb == "get" {
				return clienttest.Hang()
			}
			return nil
		}
		a.server.Intercept(hang)
		b.server.Intercept(hang)
		stop := start(t, c)
		did.want(t, "they hang", "a begins, b begins")
		if got := c.Clusters()[0].InProgress; got != 1 {
			t.Errorf("%d are in progress", got)
		}
		began := time.Now()
		mustRemove(t, c, "a")
		if took := time.Since(began); took < time.Second || took > 2*time.Second {
			t.Errorf("Remove took %v, want the second of the reconcile", took)
		}
		did.want(t, "the other one goes on", "a ends, a is removed")
		if s := c.Status(); s.Errors != 0 || s.Failing != 0 || s.Queue.Delayed != 0 {
			t.Errorf("the status is %v", s)
		}
		time.Sleep(30 * time.Second)
		did.want(t, "it is not retried", "")
		stop()
		did.want(t, "the end", `b ends, get configmaps "default/x": context canceled`)
	})
}

// Remove returns an error when its context ends before a reconcile that does not obey its own.
func TestRemoveDoesNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newSite(t, "a")
		a.create(t, "x", "y")
		did := &log{}
		free := make(chan struct{})
		c := clusters.New("c", controller.Options{Workers: 2}, func(_ context.Context, s *site, k clusters.Key) (controller.Result, error) {
			did.add("%s begins", k.Name)
			<-free
			return controller.Result{}, nil
		})
		mustAdd(t, c, a)
		stop := start(t, c)
		did.want(t, "the start", "x begins, y begins")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := c.Remove(ctx, "a")
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "reconciles still run (2)") {
			t.Errorf("the error is %v", err)
		}
		wantQuiet(t, a)

		// It comes back meanwhile. A key is not in progress twice.
		a.connect(t)
		mustAdd(t, c, a)
		did.want(t, "while the old ones run", "")
		close(free)
		did.want(t, "afterwards", "x begins, y begins")
		stop()
	})
}

// A reconcile may remove its own cluster, and so may several at the same time.
func TestAReconcileRemovesItsCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newSite(t, "a"), newSite(t, "b")
		a.create(t, "x", "y", "z")
		b.create(t, "x")
		did := &log{}
		var c *clusters.Controller[*site]
		var together sync.WaitGroup
		together.Add(3)
		c = clusters.New("c", controller.Options{Workers: 4}, func(ctx context.Context, s *site, k clusters.Key) (controller.Result, error) {
			if k.Cluster == "b" {
				did.add("b")
				return controller.Result{}, nil
			}
			together.Done()
			together.Wait()
			inner, cancel := context.WithTimeout(ctx, time.Hour)
			defer cancel()
			err := c.Remove(inner, "a")
			removed := (*clusters.RemovedError)(nil)
			did.add("removed: %v", err == nil)
			if !errors.As(context.Cause(ctx), &removed) {
				t.Errorf("the context of a reconcile of the cluster has ended with %v", context.Cause(ctx))
			}
			return controller.Result{}, err
		})
		mustAdd(t, c, a)
		mustAdd(t, c, b)
		began := time.Now()
		stop := start(t, c)
		got := did.take()
		if strings.Count(got, "removed") != 3 || strings.Count(got, "removed: true") != 1 || time.Since(began) != 0 {
			t.Errorf("after %v got %q, want one of three to have removed it", time.Since(began), got)
		}
		wantQuiet(t, a)
		b.create(t, "y")
		did.want(t, "the other cluster", "b")
		stop()
	})
}

// The context of a reconcile that removes a cluster lasts until the other reconciles of that cluster have returned, and goes on if it is
// of another cluster.
func TestTheContextOfAReconcileThatRemovesAClusterLasts(t *testing.T) {
	for remover, ends := range map[string]bool{"a": true, "b": false} {
		t.Run(remover, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b := newSite(t, "a"), newSite(t, "b")
				a.create(t, "slow", "x")
				b.create(t, "x")
				did := &log{}
				var c *clusters.Controller[*site]
				c = clusters.New("c", controller.Options{Workers: 4}, func(ctx context.Context, s *site, k clusters.Key) (controller.Result, error) {
					switch {
					case k.Name == "slow":
						<-ctx.Done()
						time.Sleep(time.Second) // to tidy up
					case k.Cluster == remover:
						time.Sleep(time.Second)
						began := time.Now()
						err := c.Remove(ctx, "a")
						did.add("Remove took %v and returned %v", time.Since(began), err)
						if removed := (*clusters.RemovedError)(nil); errors.As(context.Cause(ctx), &removed) != ends || (ctx.Err() != nil) != ends {
							t.Errorf("the context has ended with %v", context.Cause(ctx))
						}
					}
					return controller.Result{}, nil
				})
				mustAdd(t, c, a)
				mustAdd(t, c, b)
				stop := start(t, c)
				time.Sleep(time.Minute)
				did.want(t, "it", "Remove took 1s and returned <nil>")
				stop()
			})
		})
	}
}

// Two reconciles that remove each other's cluster do not wait for each other.
func TestReconcilesRemoveEachOthersClusters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newSite(t, "a"), newSite(t, "b")
		a.create(t, "x")
		b.create(t, "x")
		did := &log{}
		var c *clusters.Controller[*site]
		var together sync.WaitGroup
		together.Add(2)
		c = clusters.New("c", controller.Options{Workers: 2}, func(ctx context.Context, s *site, k clusters.Key) (controller.Result, error) {
			together.Done()
			together.Wait()
			_ = c.Remove(ctx, map[string]string{"a": "b", "b": "a"}[k.Cluster])
			did.add("%s returns", k.Cluster)
			return controller.Result{}, nil
		})
		mustAdd(t, c, a)
		mustAdd(t, c, b)
		stop := start(t, c)
		did.want(t, "both", "a returns, b returns")
		if got := c.Names(); len(got) != 0 {
			t.Errorf("there are %q", got)
		}
		stop()
	})
}

// Keys that wait for a retry or a requeue leave the queue with their cluster, and their failures are forgotten.
func TestWaitingKeysLeaveTheQueueWithTheirCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newSite(t, "a"), newSite(t, "b")
		a.create(t, "fails", "later", "panics", "works", "fine")
		b.create(t, "fails")
		did := &log{}
		o := controller.Options{MinBackoff: time.Hour, MaxBackoff: time.Hour, OnError: func(error) {}}
		c := clusters.New("c", o, func(_ context.Context, s *site, k clusters.Key) (controller.Result, error) {
			did.add("%s:%s", k.Cluster, k.Name)
			switch k.Name {
			case "fails":
				return controller.Result{}, apierrors.Conflict
			case "panics":
				panic("no")
			case "later":
				return controller.Result{RequeueAfter: time.Hour}, nil
			}
			return controller.Result{}, nil
		})
		mustAdd(t, c, a)
		mustAdd(t, c, b)
		stop := start(t, c)
		did.want(t, "the start", "a:fails, a:fine, a:later, a:panics, a:works, b:fails")
		if s := c.Status(); s.Failing != 3 || s.Queue.Delayed != 4 || c.Clusters()[0].Later != 3 {
			t.Errorf("the status is %v, %v", s, c.Clusters())
		}
		mustRemove(t, c, "a")
		did.want(t, "the removal", "")
		if s := c.Status(); s.Failing != 1 || s.Queue.Delayed != 1 {
			t.Errorf("the status is %v", s)
		}
		a.connect(t)
		mustAdd(t, c, a)
		did.want(t, "it comes back", "a:fails, a:fine, a:later, a:panics, a:works")
		time.Sleep(time.Hour)
		did.want(t, "retries", "a:fails, a:later, a:panics, b:fails")
		stop()
	})
}

// A key that waited in the queue of one Run is not in the queue of the next.
func TestKeysThatWaitAreForgottenWithTheirRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		once := sourceFunc(func(ctx context.Context, add func(meta.Key), synced func()) error {
			if runs++; runs == 1 {
				add(at("x"))
			}
			synced()
			<-ctx.Done()
			return nil
		})
		did := &log{}
		c := clusters.New("c", controller.Options{}, func(_ context.Context, _ *site, k clusters.Key) (controller.Result, error) {
			did.add("%s", k.Name)
			return controller.Result{RequeueAfter: time.Hour}, nil
		})
		if err := c.Add("a", nil, once); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"x", ""} {
			stop := start(t, c)
			did.want(t, "a Run", want)
			if n := c.Clusters()[0].Later; n != len(want) {
				t.Errorf("%d keys wait, want %d", n, len(want))
			}
			stop()
		}
	})
}

// An error of a reconcile whose cluster is removed is reported once.
func TestAnErrorAfterTheRemovalIsReportedAndNotRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newSite(t, "a")
		a.create(t, "x")
		did := &log{}
		var told []error
		c := clusters.New("c", controller.Options{MinBackoff: time.Hour, MaxBackoff: time.Hour, OnError: func(err error) { told = append(told, err) }},
			func(ctx context.Context, s *site, k clusters.Key) (controller.Result, error) {
				did.add("%s", k.Name)
				<-ctx.Done()
				return controller.Result{RequeueAfter: time.Second}, errors.New("could not tidy up")
			})
		mustAdd(t, c, a)
		stop := start(t, c)
		mustRemove(t, c, "a")
		did.want(t, "it ran once", "x")
		if len(told) != 1 || !strings.Contains(told[0].Error(), "could not tidy up") {
			t.Errorf("told %v", told)
		}
		if s := c.Status(); s.Failing != 0 || s.Queue.Delayed != 0 {
			t.Errorf("the status is %v", s)
		}
		stop()
	})
}

// A reconcile that returns the error of its context, or the cause of that, when its cluster is removed has not failed.
func TestAReconcileThatARemovalInterruptsHasNotFailed(t *testing.T) {
	for name, why := range map[string]func(context.Context) error{"the error of the context": context.Context.Err, "its cause": context.Cause} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newSite(t, "a")
				a.create(t, "x")
				did := &log{}
				c := clusters.New("c", controller.Options{OnError: func(err error) { t.Errorf("told %v", err) }},
					func(ctx context.Context, _ *site, k clusters.Key) (controller.Result, error) {
						<-ctx.Done()
						did.add("%s", k.Name)
						return controller.Result{}, fmt.Errorf("wait: %w", why(ctx))
					})
				mustAdd(t, c, a)
				stop := start(t, c)
				mustRemove(t, c, "a")
				did.want(t, "it ran once", "x")
				if s := c.Status(); s.Errors != 0 || s.Failing != 0 || s.Queue.Delayed != 0 {
					t.Errorf("the status is %v", s)
				}
				stop()
			})
		})
	}
}

// A key of a cluster waits for all of its sources, and a cluster that follows another one has its keys.
func TestEveryObjectOfAHubHasAKeyInEachCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hub, a, b := newSite(t, "hub"), newSite(t, "a"), newSite(t, "b")
		hub.create(t, "x")
		a.server.Refuse(syscall.ECONNREFUSED)
		a.connect(t)
		did := &log{}
		c := clusters.New("c", controller.Options{}, did.note)
		mustAdd(t, c, a, hub.watch())
		mustAdd(t, c, b, hub.watch())
		stop := start(t, c)
		did.want(t, "the start", "b:x")
		hub.create(t, "y")
		did.want(t, "a change", "b:y")
		if n := hub.server.Watches(); n != 1 {
			t.Errorf("%d watches of the hub, want one for all", n)
		}
		a.server.Refuse(nil)
		if err := c.WaitSynced(t.Context(), "a"); err != nil {
			t.Error(err)
		}
		did.want(t, "the other one", "a:x, a:y")
		mustRemove(t, c, "a")
		hub.create(t, "z")
		did.want(t, "without it", "b:z")
		mustRemove(t, c, "b")
		wantQuiet(t, hub)
		stop()
	})
}

// The keys of a cluster's first list have a low priority.
func TestAChangeComesBeforeTheFirstListOfACluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newSite(t, "a")
		for i := range 20 {
			a.create(t, fmt.Sprintf("x-%02d", i))
		}
		did := make(chan string, 100)
		c := clusters.New("c", controller.Options{}, func(_ context.Context, s *site, k clusters.Key) (controller.Result, error) {
			did <- k.Name
			time.Sleep(time.Second)
			return controller.Result{}, nil
		})
		mustAdd(t, c, a)
		stop := start(t, c)
		time.Sleep(time.Second / 2)
		a.create(t, "change")
		time.Sleep(time.Minute)
		first, second := <-did, <-did
		if first == "change" || second != "change" || len(did) != 19 {
			t.Errorf("the order is %s, %s, and %d further ones", first, second, len(did))
		}
		stop()
	})
}

// A cluster may be added when the controller has looked already whether a key has to wait for it.
func TestAClusterIsAddedWhileAKeyOfItIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newSite(t, "a")
		a.create(t, "x")
		a.connect(t)
		a.server.Refuse(syscall.ECONNREFUSED)
		did := &log{}
		var c *clusters.Controller[*site]
		add := sync.OnceFunc(func() {
			if err := c.Add("a", a, a.watch()); err != nil {
				t.Error(err)
			}
		})
		hooks := controller.Hooks{Reconcile: func(ctx context.Context, _ controller.ReconcileInfo) (context.Context, func(controller.ReconcileEnd)) {
			add()
			return ctx, nil
		}}
		c = clusters.New("c", controller.Options{Hooks: hooks}, did.note, controller.Every(24*time.Hour, in("a", "named")))
		stop := start(t, c)
		time.Sleep(time.Minute)
		did.want(t, "while it is away", "")
		if q := c.Status().Queue; q.Held != 1 {
			t.Errorf("the queue is %+v", q)
		}
		a.server.Refuse(nil)
		if err := c.WaitSynced(t.Context(), "a"); err != nil {
			t.Error(err)
		}
		did.want(t, "when it has come", "a:named, a:x")
		stop()
	})
}

// A write to one cluster is waited for in the caches of that cluster only.
func TestAWriteIsWaitedForInItsOwnCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newSite(t, "a"), newSite(t, "b")
		a.create(t, "x", "y", "z")
		did := &log{}
		c := clusters.New("c", controller.Options{}, func(ctx context.Context, s *site, k clusters.Key) (controller.Result, error) {
			known, _ := s.cache.Reader().Get(k.Key)
			_, ensured, err := s.maps.Ensure(ctx, &configMap{ObjectMeta: k.ObjectMeta(), Data: map[string]string{"n": "1"}}, client.EnsureOptions{Known: known})
			did.add("%s %v", k, ensured.Outcome)
			return controller.Result{RequeueAfter: time.Second}, err
		})
		mustAdd(t, c, a, controller.Fresh[meta.Key](a.cache))
		mustAdd(t, c, b, controller.Fresh[meta.Key](b.cache))
		stop := start(t, c)
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		s := c.Status()
		if s.Waiting != 0 || s.WentAhead != 0 || s.Waited > 0 || s.Reconciles < 6 {
			t.Errorf("the status is %v, waited %v", s, s.Waited)
		}
		if got := did.take(); strings.Count(got, fmt.Sprint(client.Unchanged)) < 3 {
			t.Errorf("it did %s", got)
		}
		stop()
	})
}
