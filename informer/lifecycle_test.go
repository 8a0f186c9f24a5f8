package informer_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
)

// The ways into Run and out of it, and what WaitSynced says about each.

// says fails unless err has all of these texts.
func (r *rig) says(err error, want ...string) {
	r.Helper()
	for _, w := range want {
		if err == nil || !strings.Contains(err.Error(), w) {
			r.Errorf("the error is %q, want %q in it", err, w)
		}
	}
}

func timeout(r *rig, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(r.Context(), d)
}

// behaviours 246, 247
func TestWaitSyncedSaysWhyNot(t *testing.T) {
	errCause := errors.New("nobody cares any more")
	limited := func(r *rig) (context.Context, context.CancelFunc) {
		return context.WithTimeout(r.Context(), time.Minute)
	}
	for _, test := range []struct {
		name string
		f    func(r *rig, i *informed) error
		is   []error
		want []string
	}{
		{"refused", func(r *rig, i *informed) error {
			r.on("collection", failure(403, "Forbidden", "User \"x\" cannot list resource"))
			i.run()
			defer i.stop()
			ctx, cancel := limited(r)
			defer cancel()
			return i.WaitSynced(ctx)
		}, []error{context.DeadlineExceeded, apierrors.Forbidden}, []string{"sync configmaps", "list configmaps: server said Forbidden (403)", "cannot list resource"}},
		{"no answer", func(r *rig, i *informed) error {
			r.on("collection", clienttest.Hang())
			i.run()
			defer i.stop()
			ctx, cancel := limited(r)
			defer cancel()
			return i.WaitSynced(ctx)
		}, []error{context.DeadlineExceeded}, []string{"sync configmaps", "while Listing"}},
		{"never run", func(r *rig, i *informed) error {
			ctx, cancel := limited(r)
			defer cancel()
			return i.WaitSynced(ctx)
		}, []error{context.DeadlineExceeded}, []string{"while Idle"}},
		{"the context's cause", func(r *rig, i *informed) error {
			ctx, cancel := context.WithCancelCause(r.Context())
			cancel(errCause)
			return i.WaitSynced(ctx)
		}, []error{errCause}, nil},
		{"Run ends before", func(r *rig, i *informed) error {
			r.on("collection", failure(503, "ServiceUnavailable", "starting"))
			i.run()
			time.AfterFunc(time.Minute, i.cancel)
			return i.WaitSynced(r.Context())
		}, []error{apierrors.ServiceUnavailable}, []string{"has been stopped", "last error: list configmaps"}},
		{"Run has ended before", func(r *rig, i *informed) error {
			r.on("collection", clienttest.Hang())
			i.run()
			synctest.Wait()
			i.stop()
			return i.WaitSynced(r.Context())
		}, nil, []string{"sync configmaps", "has been stopped"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(r *rig) {
				err := test.f(r, r.informer(informer.Options{Mode: informer.Paged}))
				r.says(err, test.want...)
				for _, is := range test.is {
					if !errors.Is(err, is) {
						r.Errorf("%v is not %v", err, is)
					}
				}
			})
		})
	}
}

func TestInvalidOptionsSendNoRequest(t *testing.T) {
	for _, test := range []struct {
		o    informer.Options
		want string
	}{
		{informer.Options{LabelSelector: "app in (web"}, "informer.Options: LabelSelector: "},
		{informer.Options{FieldSelector: "metadata.name"}, "informer.Options: FieldSelector: "},
		{informer.Options{Namespace: "../x"}, "informer.Options: Namespace "},
	} {
		t.Run(test.want, func(t *testing.T) {
			bubble(t, func(r *rig) {
				i := informer.New(r.things, test.o)
				waited := make(chan error, 1)
				go func() { waited <- i.WaitSynced(r.Context()) }()
				synctest.Wait()
				r.says(i.Run(r.Context()), "run informer", test.want)
				r.says(<-waited, "sync configmaps", test.want)
				r.says(i.WaitSynced(r.Context()), test.want)
				if n := r.requests("list"); n != 0 {
					r.Errorf("%d requests", n)
				}
			})
		})
	}
}

// What the client does not even send is not tried again: the source is wrong, not the server. behaviour 265
func TestAnInvalidSourceIsNotTriedAgain(t *testing.T) {
	for _, test := range []struct {
		name string
		t    client.Type[*Thing]
		o    informer.Options
		want string
	}{
		{
			"a namespace of a cluster-wide resource",
			client.Type[*Thing]{Version: "v1", Kind: "Node", Resource: "nodes", Scope: meta.Cluster},
			informer.Options{Namespace: "x", Mode: informer.Paged},
			"namespace must be empty for a cluster-wide resource",
		},
		{
			"namespaces of a cluster-wide resource",
			client.Type[*Thing]{Version: "v1", Kind: "Node", Resource: "nodes", Scope: meta.Cluster},
			informer.Options{Namespaces: []string{"x"}, Mode: informer.Paged},
			"namespace must be empty for a cluster-wide resource",
		},
		{
			"a descriptor that is none",
			client.Type[*Thing]{Version: "v1", Kind: "Node", Resource: "no/des"},
			informer.Options{Mode: informer.Paged},
			"client.Type: Resource must be one path segment",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(r *rig) {
				c, err := client.New(r.server.Config())
				if err != nil {
					r.Fatal(err)
				}
				i := informer.New(client.For(c, test.t), test.o)
				err = i.Run(r.Context())
				r.says(err, "list ", test.want)
				if usage := (*client.UsageError)(nil); !errors.As(err, &usage) {
					r.Errorf("%v is no UsageError", err)
				}
				r.says(i.WaitSynced(r.Context()), "sync ", test.want)
				if s := i.Status(); s.State != informer.Idle || s.Lists != 1 {
					r.Errorf("status is %v", s)
				}
			})
		})
	}
	t.Run("no source", func(t *testing.T) {
		bubble(t, func(r *rig) {
			i := informer.New[*Thing](nil, informer.Options{})
			r.says(i.Run(r.Context()), "run informer: the source must not be nil")
			r.says(i.WaitSynced(r.Context()), "the source must not be nil")
			if i.String() != "informer of nothing" {
				r.Errorf("it is called %s", i)
			}
		})
	})
}

// behaviour 230
func TestASecondRunBesideTheFirstIsRefusedAndDoesNoHarm(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("a")
		i := r.start(informer.Options{})
		r.says(i.Run(r.Context()), ": already running")
		r.put("b")
		i.current()
		if err := i.WaitSynced(r.Context()); err != nil {
			r.Error(err)
		}
	})
}

// behaviour 191
func TestRunWithAContextThatHasEndedAsksForNothing(t *testing.T) {
	bubble(t, func(r *rig) {
		ctx, cancel := context.WithCancel(r.Context())
		cancel()
		if err := informer.New(r.things, informer.Options{}).Run(ctx); err != nil {
			r.Error(err)
		}
		if n := r.requests("list") + r.requests("watch"); n != 0 {
			r.Errorf("%d requests", n)
		}
	})
}

// behaviour 267: the cache stays readable between two Runs, and the second resumes the first one's watch.
func TestRunAgainResumes(t *testing.T) {
	for _, test := range []struct {
		name    string
		between func(r *rig)
		lists   int
		relists map[informer.Cause]int
	}{
		{"nothing has happened", func(*rig) {}, 1, nil},
		{"with events to catch up on", func(r *rig) { r.put("a", "x", "2"); r.remove("b"); r.put("c") }, 1, nil},
		{"after its history has gone", func(r *rig) { r.put("a", "x", "2"); r.remove("b"); r.server.Compact() }, 2, map[informer.Cause]int{informer.Expired: 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(r *rig) {
				r.put("a")
				r.put("b")
				i := r.informer(informer.Options{})
				i.run()
				synctest.Wait()
				r.put("a", "x", "1")
				synctest.Wait()
				i.stop()
				if i.Reader().Len() != 2 || i.Status().Synced {
					r.Errorf("after Run: %v", i.Status())
				}
				test.between(r)
				if err := i.WaitSynced(r.Context()); err == nil {
					r.Error("the cache counts as synced, although nobody keeps it current")
				}
				i.run()
				r.pass(2 * time.Second)
				i.current()
				i.relisted(test.relists)
				if n := i.Status().Lists; n != test.lists {
					r.Errorf("%d lists, want %d", n, test.lists)
				}
				i.stop()
			})
		})
	}
}

// A relist that was due when Run ended is still due: the version of the cache was no good then and is none now.
func TestRunAgainDoesTheRelistThatWasDue(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("a")
		i := r.informer(informer.Options{})
		i.run()
		synctest.Wait()
		r.on("watch", failure(404, "NotFound", ""))
		r.server.DropWatches()
		r.pass(2 * time.Second)
		if s := i.Status(); s.State != informer.Waiting || !errors.Is(s.Err, apierrors.NotFound) {
			r.Fatalf("status is %v", s)
		}
		i.stop()
		r.heal()
		i.run()
		synctest.Wait()
		i.relisted(map[informer.Cause]int{informer.Absent: 1})
		i.current()
		i.stop()
	})
}

// The first Run ends before its list is complete; those who wait for the second are not told of the first.
func TestWaitSyncedWaitsForTheRunThatIsUnderWay(t *testing.T) {
	bubble(t, func(r *rig) {
		r.on("collection", clienttest.Hang())
		i := r.informer(informer.Options{})
		first := make(chan error, 1)
		go func() { first <- i.WaitSynced(r.Context()) }()
		i.run()
		synctest.Wait()
		i.stop()
		// The waiter may learn of the end only when the second Run is under way: it must still be told of the first one's.
		r.heal()
		i.run()
		if err := i.WaitSynced(r.Context()); err != nil && !strings.Contains(err.Error(), "has been stopped") {
			r.Error(err)
		}
		synctest.Wait()
		if err := <-first; err != nil {
			r.says(err, "has been stopped")
		}
		if err := i.WaitSynced(r.Context()); err != nil {
			r.Error(err)
		}
		i.stop()
	})
}

// behaviours 229, 231, 244, fault F36: subscribing, asking, closing and waiting at any time, from anywhere.
func TestEverythingAtOnce(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("a")
		i := r.informer(informer.Options{})
		var (
			wg    sync.WaitGroup
			calls atomic.Int64
		)
		for range 8 {
			wg.Go(func() {
				for range 50 {
					var sub *cache.Subscription
					own := make(chan struct{})
					sub = i.Subscribe(cache.HandlerFuncs[*Thing]{Add: func(*Thing) {
						calls.Add(1)
						<-own
						sub.Close() // from within itself
						i.Subscribe(cache.HandlerFuncs[*Thing]{}).Close()
					}})
					close(own)
					_ = i.Status().String()
					<-time.After(time.Millisecond)
					sub.Close()
				}
			})
		}
		wg.Go(func() {
			for n := range 50 {
				r.put("a", "n", strings.Repeat("x", n))
				if n%10 == 0 {
					r.server.DropWatches()
				}
			}
		})
		for range 5 {
			i.run()
			r.pass(10 * time.Millisecond)
			i.stop()
		}
		i.run()
		wg.Wait()
		r.pass(3 * time.Second)
		i.current()
		i.stop()
		if calls.Load() == 0 {
			r.Error("no handler was called")
		}
	})
}

// fault F36: Run waits for the handlers that it called, and a handler may end it.
func TestRunReturnsAfterItsHandlers(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("a")
		i := informer.New(r.things, informer.Options{})
		ctx, cancel := context.WithCancel(r.Context())
		returned := false
		i.Subscribe(cache.HandlerFuncs[*Thing]{Add: func(*Thing) {
			cancel()
			<-time.After(time.Minute)
			returned = true
		}})
		if err := i.Run(ctx); err != nil || !returned {
			r.Errorf("Run returned %v, the handler has returned: %v", err, returned)
		}
	})
}

// A function of an index that panics takes Run down, as panics do; nothing stays behind, and the next Run starts with a
// list, because it is not known what of the watch has been applied.
func TestAPanicInRunLeavesNothingRunning(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("a")
		i := r.informer(informer.Options{})
		poison := ""
		cache.NewIndex(i.Reader(), func(obj *Thing) []string {
			if obj.Name == poison {
				panic("no such key")
			}
			return nil
		})
		i.run()
		synctest.Wait()
		r.put("b")
		synctest.Wait()
		i.stop()

		poison = "c"
		r.put("a", "x", "1")
		r.put("c")
		func() {
			defer func() {
				if v := recover(); !strings.Contains(fmt.Sprint(v), "no such key") || !strings.Contains(fmt.Sprint(v), "lifecycle_test.go") {
					r.Errorf("recovered %v, want the panic and where it was", v)
				}
			}()
			_ = i.Run(r.Context())
		}()
		if s := i.Status(); s.State != informer.Idle { // it was said to watch for ever
			r.Errorf("afterwards the status is %v", s)
		}
		r.pass(time.Second) // since Go 1.27 net/http reads on for 50 ms when a body is closed
		if n := r.server.Watches(); n != 0 {
			r.Errorf("%d watches are left", n)
		}
		poison = ""
		i.run()
		synctest.Wait()
		i.relisted(map[informer.Cause]int{informer.Reset: 1})
		i.current()
		i.stop()
	})
}

// A change that a program makes after the last event is found when Run ends, also where no test watches over the source.
func TestAChangeIsFoundWhenRunEnds(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("a")
		i := r.from(&fails{Source: r.things, listed: true}, informer.Options{CheckMutations: 1})
		i.run()
		synctest.Wait()
		for obj := range i.Reader().All() {
			obj.Labels = map[string]string{"changed": "yes"}
		}
		i.stop()
		if !i.hasReported("was changed at metadata.labels") {
			r.Errorf("reported %v", i.reported())
		}
	})
}

// An OnError that panics at a sweep takes Run down as well. Run returned before the watches had ended, which went on to write
// to the cache.
func TestAPanicOfOnErrorLeavesNothingRunning(t *testing.T) {
	bubble(t, func(r *rig) {
		r.put("a")
		i := informer.New(r.things, informer.Options{CheckMutations: 1, OnError: func(err error) { panic(err) }})
		recovered := make(chan string)
		go func() {
			defer func() { recovered <- fmt.Sprint(recover(), ", and then ", i.Status().State) }()
			_ = i.Run(r.Context())
		}()
		synctest.Wait()
		for obj := range i.Reader().All() {
			obj.Labels = map[string]string{"changed": "yes"}
		}
		i.Subscribe(cache.HandlerFuncs[*Thing]{}).Close() // for the race detector: it locks what the sweep locks
		if got := <-recovered; !strings.Contains(got, "was changed at metadata.labels") || !strings.Contains(got, "and then Idle") {
			r.Error(got)
		}
	})
}

// behaviour 191: whatever an informer is doing, it ends at once, with nil, and leaves nothing running.
func TestRunEndsInEveryState(t *testing.T) {
	slowBody := func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"apiVersion":"v1","kind":"ConfigMapList","metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"a","namespace":"x"`))
		_ = http.NewResponseController(w).Flush()
		<-q.Context().Done()
	}
	for _, test := range []struct {
		name  string
		verb  string
		fault http.HandlerFunc
		state informer.State
	}{
		{"asking for a list", "list", clienttest.Hang(), informer.Listing},
		{"reading a list", "list", slowBody, informer.Listing},
		{"waiting to list", "list", clienttest.TooManyRequests(time.Hour), informer.Waiting},
		{"opening a watch", "watch", clienttest.Hang(), informer.Watching},
		{"in the middle of an event", "watch", func(w http.ResponseWriter, q *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"type":"ADD`))
			_ = http.NewResponseController(w).Flush()
			<-q.Context().Done()
		}, informer.Watching},
		{"watching", "", nil, informer.Watching},
		{"waiting to watch", "watch", clienttest.TooManyRequests(time.Hour), informer.Waiting},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(r *rig) {
				r.put("a")
				i := r.informer(informer.Options{Mode: informer.Paged})
				r.on(test.verb, test.fault)
				i.run()
				r.pass(time.Second)
				s := i.Status()
				if s.State != test.state {
					r.Fatalf("status is %v, want %v", s, test.state)
				}
				i.stop()
				if after := i.Status(); fmt.Sprint(after.Err) != fmt.Sprint(s.Err) {
					r.Errorf("the end is reported as %v", after.Err)
				}
				r.pass(time.Second)
				if n := r.server.Watches(); n != 0 {
					r.Errorf("%d watches are left", n)
				}
			})
		})
	}
}
