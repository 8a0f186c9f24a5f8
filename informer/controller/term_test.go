package controller_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
)

// elections is an Elector whose process leads when the test says so.
type elections struct {
	stood atomic.Bool
	terms chan context.Context
}

func (e *elections) Run(ctx context.Context, lead func(context.Context) error) error {
	e.stood.Store(true)
	for {
		select {
		case term := <-e.terms:
			if err := lead(term); err != nil || ctx.Err() != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// term leads for a minute, and for another minute does not.
func (e *elections) term(t *testing.T) {
	term, lose := context.WithCancel(t.Context())
	e.terms <- term
	time.Sleep(time.Minute)
	lose()
	time.Sleep(time.Minute)
}

// done is what reconciles have done, by the version of the object that they were named for.
type done struct {
	mu   sync.Mutex
	keys []string
}

func (d *done) take() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	slices.Sort(d.keys)
	all := strings.Join(d.keys, " ")
	d.keys = nil
	return all
}

// A follower collects the keys of all changes that the leader handles, and reconciles them when it leads: work that is done once for each
// change was done twice. With StartAtTerm it begins with what exists then, also in a second term.
func TestATermBeginsWithTheCurrentObjects(t *testing.T) {
	for _, test := range []struct {
		name   string
		atTerm bool
		want   []string // what each of three terms has done
	}{
		{"the sources run all the time", false, []string{"a:1 a:2 a:3 b:1 c:1", "a:3 a:4 d:1", ""}},
		{"the sources start with the term", true, []string{"a:3 c:1", "a:4 c:1 fails", "a:4 c:1 fails"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, maps := startServer(t, clienttest.Options{})
				r := &livePods{maps}
				create(t, maps, "a")
				r.label(t, "a", "n", "1")
				inf := informer.New(maps, informer.Options{})
				d := &done{}
				term := 0
				ctl := controller.New("x", controller.Options{StartAtTerm: test.atTerm, OnError: func(error) {}},
					func(_ context.Context, k string) (controller.Result, error) {
						d.mu.Lock()
						defer d.mu.Unlock()
						switch {
						case k == "fails" && term > 0:
							if !slices.Contains(d.keys, k) {
								d.keys = append(d.keys, k)
							}
							return controller.Result{}, errFailed
						case k == "fails":
							return controller.Result{}, nil
						}
						d.keys = append(d.keys, k)
						if k == "c:1" && term == 0 {
							return controller.Result{RequeueAfter: 1000 * time.Hour}, nil
						}
						return controller.Result{}, nil
					}, controller.Map(inf, func(p *pod) []string { return []string{p.Name + ":" + p.Labels["n"]} }), controller.Every(10000*time.Hour, "fails"))
				e := &elections{terms: make(chan context.Context)}
				ctx, stop := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() {
					ended <- informer.Run(ctx, inf, informer.RunnerFunc(func(ctx context.Context) error {
						return ctl.RunLed(ctx, func(ctx context.Context, work func(context.Context) error) error { return e.Run(ctx, work) })
					}))
				}()
				put := func(name, n string) {
					create(t, maps, name)
					r.label(t, name, "n", n)
				}
				time.Sleep(time.Minute)
				r.label(t, "a", "n", "2")
				r.label(t, "a", "n", "3")
				put("b", "1")
				r.delete(t, "b")
				put("c", "1")
				var got []string
				want := test.want
				for i := range want {
					if s := ctl.Status(); s.State != controller.Standby {
						t.Errorf("before term %d the state is %v", i, s.State)
					}
					term = i
					e.term(t)
					got = append(got, withoutEmpty(d.take()))
					if i == 0 {
						r.label(t, "a", "n", "4")
						put("d", "1")
						r.delete(t, "d")
					}
				}
				if !slices.Equal(got, want) {
					t.Errorf("the terms have done %q, want %q", got, want)
				}
				stop()
				if err := <-ended; err != nil {
					t.Error(err)
				}
				if s := ctl.Status(); s.State != controller.Stopped {
					t.Errorf("at the end the state is %v", s.State)
				}
			})
		})
	}
}

// withoutEmpty leaves out the keys of objects without a label.
func withoutEmpty(keys string) string {
	return strings.Join(slices.DeleteFunc(strings.Fields(keys), func(k string) bool { return strings.HasSuffix(k, ":") }), " ")
}

// A replica whose caches cannot fill does not stand for election, and its status says why.
func TestStartAtTermWaitsForTheCachesBeforeItLeads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, maps := startServer(t, clienttest.Options{})
		server.Intercept(func(r *http.Request) http.HandlerFunc {
			return clienttest.Answer(meta.Status{Reason: "Forbidden", Code: 403})
		})
		inf := informer.New(maps, informer.Options{OnError: func(error) {}})
		e := &elections{terms: make(chan context.Context)}
		seen := &counting{}
		ctl := controller.New("x", controller.Options{StartAtTerm: true}, seen.reconcile, controller.Watch(inf))
		group := &informer.Group{Leader: e, Runners: []informer.Runner{ctl}}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- group.Run(ctx) }()
		time.Sleep(time.Minute)
		if s := ctl.Status(); e.stood.Load() || s.State != controller.Syncing || len(s.Unsynced) != 1 || !strings.Contains(s.Unsynced[0].Error(), ": ") {
			t.Errorf("it stands for election: %v, and its status is %v", e.stood.Load(), s)
		}
		server.Intercept(nil)
		create(t, maps, "a")
		time.Sleep(time.Hour)
		if s := ctl.Status(); !e.stood.Load() || s.State != controller.Standby || len(s.Unsynced) != 0 || seen.take() != "" {
			t.Errorf("it stands for election: %v, and its status is %v", e.stood.Load(), s)
		}
		e.terms <- ctx
		time.Sleep(time.Second)
		if got := seen.take(); got != "a" {
			t.Errorf("reconciled %q, want a", got)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// A namespace that is forbidden does not keep a replica from standing for election.
func TestStartAtTermDoesNotWaitForAForbiddenNamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, maps := startServer(t, clienttest.Options{})
		server.Intercept(func(r *http.Request) http.HandlerFunc {
			if q := clienttest.RequestOf(r); q.Key.Namespace == "kube-public" {
				return clienttest.Answer(meta.Status{Reason: "Forbidden", Code: 403})
			}
			return nil
		})
		inf := informer.New(maps, informer.Options{OnError: func(error) {}, Namespaces: []string{"default", "kube-public"}})
		e := &elections{terms: make(chan context.Context)}
		seen := &counting{}
		ctl := controller.New("x", controller.Options{StartAtTerm: true}, seen.reconcile, controller.Watch(inf))
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- (&informer.Group{Leader: e, Runners: []informer.Runner{ctl}}).Run(ctx) }()
		create(t, maps, "a")
		time.Sleep(time.Minute)
		if !e.stood.Load() {
			t.Fatalf("it does not stand for election: %v", ctl.Status())
		}
		e.terms <- ctx
		time.Sleep(time.Minute)
		if got := seen.take(); got != "a" {
			t.Errorf("reconciled %q, want a", got)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestStartAtTermWithoutAnElectionAndWithErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := newLog()
		fn := func(_ context.Context, k string) (controller.Result, error) {
			seen.add("%s", k)
			return controller.Result{}, nil
		}
		c := controller.New("c", controller.Options{StartAtTerm: true}, fn, keys{names: []string{"a"}, after: time.Second})
		for range 2 { // the Run is the term, also the second time
			stop := run(t, c)
			time.Sleep(time.Minute)
			mustStop(t, stop)
		}
		if got := fmt.Sprint(seen.lines); got != "[1s a 1m1s a]" {
			t.Errorf("reconciled %s", got)
		}
		failed := controller.New("c", controller.Options{StartAtTerm: true}, fn, keys{err: errFailed})
		if err := failed.Run(t.Context()); !errors.Is(err, errFailed) {
			t.Errorf("Run returned %v, want the error of the source", err)
		}
		late := controller.New("c", controller.Options{StartAtTerm: true, SyncTimeout: time.Second}, fn, keys{after: time.Minute})
		if err := late.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "sources have not delivered within Options.SyncTimeout (1s): ") {
			t.Errorf("Run returned %v, want that the sources have not delivered", err)
		}
	})
}
