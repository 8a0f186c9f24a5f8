package controller_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
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

const (
	ours  = "example.com/ours"
	other = "example.com/other"
)

// errAny stands for any error.
var errAny = errors.New("any error")

// finalized is one object at a server, and a cache whose state the test chooses.
type finalized struct {
	*testing.T
	server *clienttest.Server
	maps   client.Resource[*pod]
	cache  storetest.Cache[*pod]
	key    meta.Key
	calls  []string
	// cleanup is what the cleanup does.
	cleanup func() (controller.Result, error)
}

// see lets the cache have the present state at the server, and returns it.
func (f *finalized) see() *pod {
	f.Helper()
	p, err := f.maps.Get(f.Context(), f.key)
	if err != nil {
		f.Fatal(err)
	}
	f.cache.Set(identity(p), p)
	return p
}

func (f *finalized) create(finalizers ...string) {
	f.Helper()
	p := &pod{}
	p.Namespace, p.Name, p.Finalizers = f.key.Namespace, f.key.Name, finalizers
	if _, err := f.maps.Create(f.Context(), p); err != nil {
		f.Fatal(err)
	}
}

func (f *finalized) delete() {
	f.Helper()
	if err := f.maps.Delete(f.Context(), f.key, client.DeleteOptions{}); err != nil {
		f.Fatal(err)
	}
}

func (f *finalized) remove(finalizer string) {
	f.Helper()
	if _, err := f.maps.RemoveFinalizer(f.Context(), f.key, finalizer, meta.FinalizerOptions{}); err != nil {
		f.Fatal(err)
	}
}

// note notes a call, and whether the server has the finalizer at that moment.
func (f *finalized) note(what string, p *pod) {
	live, err := f.maps.Get(f.Context(), f.key)
	if err != nil || live.UID != p.UID || !slices.Contains(live.Finalizers, ours) || !slices.Contains(p.Finalizers, ours) {
		f.Errorf("at the %s of %+v, the server has %+v, %v", what, p.ObjectMeta, live, err)
	}
	if what == "cleanup" && p.ResourceVersion != live.ResourceVersion {
		f.Errorf("cleanup of version %s, and the server has %s", p.ResourceVersion, live.ResourceVersion)
	}
	f.calls = append(f.calls, what)
}

func (f *finalized) run() (controller.Result, error) {
	fn := controller.Finalize(f.maps, f.cache.Reader(), ours, func(_ context.Context, p *pod) (controller.Result, error) {
		f.note("reconcile", p)
		return controller.Result{RequeueAfter: time.Hour}, nil
	}, func(_ context.Context, p *pod) (controller.Result, error) {
		if !meta.IsDeleting(p) {
			f.Errorf("cleanup of %+v, which is not being deleted", p)
		}
		f.note("cleanup", p)
		if f.cleanup != nil {
			return f.cleanup()
		}
		return controller.Result{}, nil
	}, controller.FinalizeOptions{})
	return fn(f.Context(), f.key)
}

func TestFinalize(t *testing.T) {
	for _, test := range []struct {
		name     string
		given    func(f *finalized)
		calls    string
		want     string // the finalizers that are left; "gone" if the object is
		requests string // that Finalize has made
		err      error
	}{
		{
			"a new object",
			func(f *finalized) { f.create(); f.see() },
			"reconcile", ours, "get patch", nil,
		},
		{
			"one with the finalizer",
			func(f *finalized) { f.create(ours); f.see() },
			"reconcile", ours, "", nil,
		},
		{
			"one whose finalizer the cache does not know yet",
			func(f *finalized) {
				f.create()
				f.see()
				_, _ = f.maps.AddFinalizer(f.Context(), f.key, ours, meta.FinalizerOptions{})
			},
			"reconcile", ours, "get", nil,
		},
		{
			"one whose finalizer somebody has removed",
			func(f *finalized) { f.create(ours, other); f.remove(ours); f.see() },
			"reconcile", other + " " + ours, "get patch", nil,
		},
		{
			"one that the cache does not have",
			func(f *finalized) { f.create() },
			"", "", "", nil,
		},
		{
			"one that has gone before it had the finalizer",
			func(f *finalized) { f.create(); f.see(); f.delete() },
			"", "gone", "get", nil,
		},
		{
			"one that is being deleted before it had the finalizer",
			func(f *finalized) { f.create(other); f.delete(); f.see() },
			"", other, "", nil,
		},
		{
			"one that is being deleted before it had the finalizer, which the cache does not know yet",
			func(f *finalized) { f.create(other); f.see(); f.delete() },
			"", other, "get", nil,
		},
		{
			"one that is being deleted",
			func(f *finalized) { f.create(ours); f.delete(); f.see() },
			"cleanup", "gone", "get get patch", nil,
		},
		{
			"one that is being deleted, and has changed since the cache got it",
			func(f *finalized) { f.create(ours, other); f.delete(); f.see(); f.remove(other) },
			"cleanup", "gone", "get get patch", nil,
		},
		{
			"one that is being deleted and that another finalizer holds",
			func(f *finalized) { f.create(ours, other); f.delete(); f.see() },
			"cleanup", other, "get get patch", nil,
		},
		{
			"one that has been cleaned up, and that another finalizer holds",
			func(f *finalized) { f.create(ours, other); f.delete(); f.remove(ours); f.see() },
			"", other, "", nil,
		},
		{
			"one that has been cleaned up, which the cache does not know yet",
			func(f *finalized) { f.create(ours, other); f.delete(); f.see(); f.remove(ours) },
			"", other, "get", nil,
		},
		{
			"one that has been cleaned up and is gone, which the cache does not know yet",
			func(f *finalized) { f.create(ours); f.delete(); f.see(); f.remove(ours) },
			"", "gone", "get", nil,
		},
		{
			// If it were cleaned up, the cache would have it for a while as an object to reconcile, with the finalizer.
			"one that is being deleted, when the cache does not know of the finalizer yet",
			func(f *finalized) {
				f.create()
				f.see()
				_, _ = f.maps.AddFinalizer(f.Context(), f.key, ours, meta.FinalizerOptions{})
				f.delete()
			},
			"", ours, "get", nil,
		},
		{
			"one that has the place of another that was cleaned up",
			func(f *finalized) {
				f.create(ours)
				f.delete()
				f.see()
				f.remove(ours)
				f.create()
			},
			"", "", "get", nil,
		},
		{
			"one that is being deleted, in the place of another",
			func(f *finalized) {
				f.create(ours)
				f.delete()
				f.see()
				f.remove(ours)
				f.create(ours)
				f.delete()
			},
			"", ours, "get", nil,
		},
		{
			"a cleanup that fails",
			func(f *finalized) {
				f.create(ours)
				f.delete()
				f.see()
				f.cleanup = func() (controller.Result, error) { return controller.Result{}, errFailed }
			},
			"cleanup", ours, "get", errFailed,
		},
		{
			"a cleanup that has not finished",
			func(f *finalized) {
				f.create(ours)
				f.delete()
				f.see()
				f.cleanup = func() (controller.Result, error) { return controller.Result{RequeueAfter: time.Hour}, nil }
			},
			"cleanup", ours, "get", nil,
		},
		{
			"a cleanup that has not finished in time",
			func(f *finalized) {
				f.create(ours)
				f.delete()
				f.see()
				f.cleanup = func() (controller.Result, error) { return controller.Result{RequeueAfter: -time.Second}, nil }
			},
			"cleanup", ours, "get", nil,
		},
		{
			"a cleanup that is to go on at a time",
			func(f *finalized) {
				f.create(ours)
				f.delete()
				f.see()
				f.cleanup = func() (controller.Result, error) { return controller.Result{RequeueAt: time.Now().Add(time.Hour)}, nil }
			},
			"cleanup", ours, "get", nil,
		},
		{
			"a cleanup that is to go on at a time that has passed",
			func(f *finalized) {
				f.create(ours)
				f.delete()
				f.see()
				f.cleanup = func() (controller.Result, error) {
					return controller.Result{RequeueAt: time.Now().Add(-time.Hour)}, nil
				}
			},
			"cleanup", ours, "get", nil,
		},
		{
			"a cleanup that returns a priority, so that nobody knows whether it has finished",
			func(f *finalized) {
				f.create(ours)
				f.delete()
				f.see()
				f.cleanup = func() (controller.Result, error) { return controller.Result{Priority: 1}, nil }
			},
			"cleanup", ours, "get", errAny,
		},
		{
			"another object comes during the cleanup, with the finalizer in its manifest",
			func(f *finalized) {
				f.create(ours)
				f.delete()
				f.see()
				f.cleanup = func() (controller.Result, error) {
					f.remove(ours)
					f.create(ours)
					return controller.Result{}, nil
				}
			},
			"cleanup", ours, "get get", nil,
		},
		{
			"the server fails before the finalizer is stored",
			func(f *finalized) {
				f.create()
				f.see()
				f.server.Intercept(func(r *http.Request) http.HandlerFunc {
					if clienttest.RequestOf(r).Verb == "patch" {
						return clienttest.Answer(meta.Status{Reason: "InternalError", Code: 500})
					}
					return nil
				})
			},
			"", "", "get patch", apierrors.InternalError,
		},
		{
			"a path that leads nowhere says nothing of the object",
			func(f *finalized) {
				f.create()
				f.see()
				f.server.Intercept(func(*http.Request) http.HandlerFunc { return http.NotFound })
			},
			"", "", "get", apierrors.NotFound,
		},
		{
			"other writers are always faster",
			func(f *finalized) {
				f.create()
				f.see()
				f.server.Intercept(func(r *http.Request) http.HandlerFunc {
					if clienttest.RequestOf(r).Verb == "patch" {
						return clienttest.Conflict()
					}
					return nil
				})
			},
			"", "", "many", apierrors.Conflict,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &finalized{T: t, cache: storetest.New[*pod](), key: meta.Key{Namespace: "default", Name: "a"}}
				f.server, f.maps = startServer(t, clienttest.Options{})
				test.given(f)
				before := f.server.Requests()
				result, err := f.run()
				got := ""
				for _, verb := range []string{"get", "patch"} { // of the test's own gets, there is one for each call
					call := clienttest.Call{Verb: verb, Resource: "configmaps"}
					n := f.server.Requests()[call] - before[call]
					if verb == "get" {
						n -= len(f.calls)
					}
					got += strings.Repeat(" "+verb, max(0, n))
				}
				if test.err != errAny && !errors.Is(err, test.err) || (test.err == nil) != (err == nil) {
					t.Errorf("error is %v, want %v", err, test.err)
				}
				if calls := strings.Join(f.calls, " "); calls != test.calls {
					t.Errorf("called %s, want %s", calls, test.calls)
				}
				if got = strings.TrimSpace(got); got != test.requests && test.requests != "many" && f.cleanup == nil {
					t.Errorf("sent %s, want %s", got, test.requests)
				}
				unfinished := strings.HasPrefix(test.name, "a cleanup that has not finished") || strings.HasPrefix(test.name, "a cleanup that is to go on")
				if _, again := result.Delay(time.Now()); again != (unfinished || test.calls == "reconcile") {
					t.Errorf("the result is %v", result)
				}
				f.server.Intercept(nil)
				if test.want != "" {
					left := "gone"
					if p, err := f.maps.Get(t.Context(), f.key); err == nil {
						left = strings.Join(p.Finalizers, " ")
					}
					if left != test.want {
						t.Errorf("the finalizers are %s, want %s", left, test.want)
					}
				}
			})
		})
	}
}

func TestFinalizeRefusesNilArguments(t *testing.T) {
	_, maps := func() (*clienttest.Server, client.Resource[*pod]) {
		c, err := client.New(client.Config{Server: "http://127.0.0.1"})
		if err != nil {
			t.Fatal(err)
		}
		return nil, client.For(c, configMaps)
	}()
	fn := func(context.Context, *pod) (controller.Result, error) { return controller.Result{}, nil }
	r := storetest.New[*pod]().Reader()
	for want, f := range map[string]controller.Func[meta.Key]{
		"server must not be nil":             controller.Finalize(nil, r, ours, fn, fn, controller.FinalizeOptions{}),
		"cached must not be the zero Reader": controller.Finalize(maps, cache.Reader[*pod]{}, ours, fn, fn, controller.FinalizeOptions{}),
		"reconcile must not be nil":          controller.Finalize(maps, r, ours, nil, fn, controller.FinalizeOptions{}),
		"cleanup must not be nil":            controller.Finalize(maps, r, ours, fn, nil, controller.FinalizeOptions{}),
	} {
		_, err := f(t.Context(), meta.Key{})
		var terminal *controller.TerminalError
		if !errors.As(err, &terminal) || terminal.Err.Error() != "controller.Finalize: "+want {
			t.Errorf("error is %v, want %s", err, want)
		}
	}
}

// A cleanup that panics or hangs keeps the object, and a controller that runs it goes on.
func TestACleanupThatMisbehavesKeepsTheObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, maps := startServer(t, clienttest.Options{})
		inf := informer.New(maps, informer.Options{})
		l, n := newLog(), 0
		fn := controller.Finalize(maps, inf.Reader(), ours, func(context.Context, *pod) (controller.Result, error) {
			l.add("reconcile")
			return controller.Result{}, nil
		}, func(ctx context.Context, _ *pod) (controller.Result, error) {
			switch n++; n {
			case 1:
				panic("oh")
			case 2:
				<-ctx.Done()
				return controller.Result{}, ctx.Err()
			case 3:
				return controller.Result{RequeueAfter: time.Hour}, nil
			}
			l.add("cleaned up")
			return controller.Result{}, nil
		}, controller.FinalizeOptions{})
		c := controller.New("c", controller.Options{
			Timeout: time.Minute, MinBackoff: 4 * time.Second,
			OnError: func(err error) { l.add("%v", errors.Unwrap(err)) },
		}, fn, controller.Watch(controller.Changed(inf, controller.GenerationChanged)))
		stop := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { stop <- informer.Run(ctx, c) }()
		create(t, maps, "a")
		key := meta.Key{Namespace: "default", Name: "a"}
		if err := maps.Delete(t.Context(), key, client.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Minute)
		if p, err := maps.Get(t.Context(), key); err != nil || !slices.Equal(p.Finalizers, []string{ours}) {
			t.Errorf("after failed cleanups the object is %+v, %v", p, err)
		}
		time.Sleep(time.Hour)
		if _, err := maps.Get(t.Context(), key); !errors.Is(err, apierrors.NotFound) {
			t.Errorf("the object is there: %v", err)
		}
		cancel()
		if err := <-stop; err != nil {
			t.Error(err)
		}
		var got []string
		for _, line := range l.lines {
			_, text, _ := strings.Cut(line, " ")
			if text != "reconcile" || len(got) == 0 || got[len(got)-1] != "reconcile" {
				got = append(got, text)
			}
		}
		want := []string{"reconcile", "panic: oh", "ran longer than Options.Timeout (1m0s): context deadline exceeded", "cleaned up"}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		if s := fmt.Sprint(c.Status()); !strings.Contains(s, "2 errors") {
			t.Errorf("status is %s", s)
		}
	})
}
