package ctrlcache_test

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

	bowcache "github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/informer/ctrlcache"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// recorder is a handler that notes its calls.
type recorder struct {
	mu    sync.Mutex // guards calls
	calls []string
	panic string // the name of an object at which it panics
}

func (r *recorder) note(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, fmt.Sprintf(format, args...))
}

// take returns the calls since the last take, in order if they have one, and otherwise sorted.
func (r *recorder) take(sorted bool) string {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	calls := r.calls
	r.calls = nil
	if sorted {
		slices.Sort(calls)
	}
	return strings.Join(calls, ", ")
}

func (r *recorder) OnAdd(obj any, initial bool) {
	name := obj.(client.Object).GetName()
	r.note("add %s %v", name, initial)
	if name == r.panic {
		panic("of the handler")
	}
}

func (r *recorder) OnUpdate(old, new any) {
	r.note("update %s %v", new.(client.Object).GetName(), old == new)
}

func (r *recorder) OnDelete(obj any) {
	if gone, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
		r.note("gone %s %s", gone.Key, gone.Obj.(*corev1.Pod).GetName())
		return
	}
	r.note("delete %s", obj.(*corev1.Pod).GetName())
}

func (r *recorder) want(t *testing.T, when, want string) {
	t.Helper()
	if got := r.take(true); got != want {
		t.Errorf("%s: got %q, want %q", when, got, want)
	}
}

func informerOf(t *testing.T, c cache.Cache, obj client.Object) cache.Informer {
	t.Helper()
	inf, err := c.GetInformer(t.Context(), obj)
	must(t, err)
	return inf
}

func TestHandlersGetTheEventsOfClientGo(t *testing.T) {
	bothCaches(t, clienttest.Options{}, func(t *testing.T, w *world) {
		w.create(pod("default", "a", "n1"))
		c := w.cache(ctrlcache.Options{}, cache.Options{})
		inf := informerOf(t, c, &corev1.Pod{})
		var early, late recorder
		first, err := inf.AddEventHandler(&early)
		must(t, err)
		if first.HasSynced() || inf.HasSynced() || inf.IsStopped() {
			t.Error("it is synced or stopped before it starts")
		}
		w.start(c)
		early.want(t, "the list", "add a true")
		if !first.HasSynced() || !inf.HasSynced() || !toolscache.IsDone(first.HasSyncedChecker()) || !toolscache.IsDone(inf.HasSyncedChecker()) {
			t.Error("it is not synced")
		}
		b := pod("default", "b", "n1")
		w.create(b)
		early.want(t, "a new object", "add b false")
		second, err := inf.AddEventHandler(&late)
		must(t, err)
		late.want(t, "a late handler", "add a true, add b true")
		b.Labels = map[string]string{"x": "y"}
		must(t, w.Update(t.Context(), b))
		early.want(t, "a change", "update b false")
		must(t, inf.RemoveEventHandler(second))
		must(t, inf.RemoveEventHandler(second))
		must(t, w.Delete(t.Context(), b, client.GracePeriodSeconds(0)))
		early.want(t, "a deletion, which begins with an update", "delete b, update b false")
		late.want(t, "a removed handler", "update b false")
		if err := inf.RemoveEventHandler(nil); err == nil {
			t.Error("a registration of nobody is removed")
		}
	})
}

// blocking is a handler whose first call waits.
type blocking struct {
	recorder
	once sync.Once
	free chan struct{}
}

func (b *blocking) OnAdd(obj any, initial bool) {
	b.once.Do(func() { <-b.free })
	b.recorder.OnAdd(obj, initial)
}

// A controller has to hear of a child that somebody deletes at once: it may have read the child from the cache.
func TestASlowHandlerHearsOfAnObjectThatCameAndWent(t *testing.T) {
	bothCaches(t, clienttest.Options{}, func(t *testing.T, w *world) {
		w.create(pod("default", "a", "n1"))
		c := w.started(ctrlcache.Options{}, cache.Options{})
		r := blocking{free: make(chan struct{})}
		_, err := informerOf(t, c, &corev1.Pod{}).AddEventHandler(&r)
		must(t, err)
		b := pod("default", "b", "n1")
		w.create(b)
		b.Labels = map[string]string{"x": "y"}
		must(t, w.Update(t.Context(), b))
		must(t, w.Delete(t.Context(), b, client.GracePeriodSeconds(0)))
		synctest.Wait()
		close(r.free)
		// The second update is the one in which the deletion begins.
		if got, want := r.take(false), "add a true, add b false, update b false, update b false, delete b"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestADeletionThatNoWatchReportsIsATombstone(t *testing.T) {
	bothCaches(t, clienttest.Options{}, func(t *testing.T, w *world) {
		a := pod("default", "a", "n1")
		w.create(a, pod("default", "b", "n1"))
		c := w.started(ctrlcache.Options{OnError: func(schema.GroupVersionKind, error) {}}, cache.Options{})
		var r recorder
		_, err := informerOf(t, c, &corev1.Pod{}).AddEventHandler(&r)
		must(t, err)
		r.want(t, "the list", "add a true, add b true")
		var down atomic.Bool
		w.server.Intercept(func(r *http.Request) http.HandlerFunc {
			if verb := clienttest.RequestOf(r).Verb; !down.Load() || verb != "list" && verb != "watch" {
				return nil
			}
			return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }
		})
		down.Store(true)
		w.server.DropWatches()
		must(t, w.Delete(t.Context(), a, client.GracePeriodSeconds(0)))
		w.server.Compact()
		down.Store(false)
		wait(t, time.Minute)
		r.want(t, "a deletion during an outage", "gone default/a a")
	})
}

func TestResyncsAreUpdatesWithoutAChange(t *testing.T) {
	bothCaches(t, clienttest.Options{}, func(t *testing.T, w *world) {
		w.create(pod("default", "a", "n1"), pod("default", "b", "n1"))
		period := time.Hour
		c := w.started(ctrlcache.Options{}, cache.Options{SyncPeriod: &period})
		inf := informerOf(t, c, &corev1.Pod{})
		var usual, often, never recorder
		_, err := inf.AddEventHandler(&usual)
		must(t, err)
		_, err = inf.AddEventHandlerWithResyncPeriod(&often, 10*time.Minute)
		must(t, err)
		zero := time.Duration(0)
		_, err = inf.AddEventHandlerWithOptions(&never, toolscache.HandlerOptions{ResyncPeriod: &zero})
		must(t, err)
		for _, r := range []*recorder{&usual, &often, &never} {
			r.want(t, "the list", "add a true, add b true")
		}
		wait(t, 11*time.Minute)
		often.want(t, "after 11 minutes", "update a true, update b true")
		usual.want(t, "after 11 minutes", "")
		wait(t, 56*time.Minute)
		usual.want(t, "after more than an hour", "update a true, update b true")
		never.want(t, "a handler without resyncs", "")
	})
}

// wait lets virtual time pass.
func wait(t *testing.T, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	<-ctx.Done()
	synctest.Wait()
}

func TestAHandlerThatPanicsDoesNotStopTheOthers(t *testing.T) {
	bothCaches(t, clienttest.Options{}, func(t *testing.T, w *world) {
		w.create(pod("default", "a", "n1"), pod("default", "b", "n1"))
		errs := make(chan error, 10)
		c := w.started(ctrlcache.Options{OnError: func(gvk schema.GroupVersionKind, err error) {
			errs <- fmt.Errorf("%s: %w", gvk.Kind, err)
		}}, cache.Options{})
		inf := informerOf(t, c, &corev1.Pod{})
		bad, good := recorder{panic: "a"}, recorder{}
		for _, r := range []*recorder{&bad, &good} {
			_, err := inf.AddEventHandler(r)
			must(t, err)
		}
		bad.want(t, "the handler that panics", "add a true, add b true")
		good.want(t, "the other one", "add a true, add b true")
		if err := <-errs; !strings.Contains(err.Error(), `Pod: deliver OnAdd of "default/a": handler panicked: of the handler`) {
			t.Errorf("the error is %v", err)
		}
	})
}

func TestErrorsOfTheServerAreThoseOfApimachinery(t *testing.T) {
	bothCaches(t, clienttest.Options{Authorize: func(a clienttest.Access) (bool, string) { return a.Resource.Resource != "pods", "no pods" }}, func(t *testing.T, w *world) {
		type call struct {
			name string
			err  error
		}
		calls := make(chan call, 100)
		c := w.started(ctrlcache.Options{}, cache.Options{
			DefaultWatchErrorHandler: func(ctx context.Context, r *toolscache.Reflector, err error) {
				if ctx.Err() == nil {
					calls <- call{r.TypeDescription(), err}
				}
			},
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "a"}, &corev1.Pod{})
		if !apierrors.IsTimeout(err) || !strings.Contains(err.Error(), "no pods") || !strings.Contains(err.Error(), "*v1.Pod") {
			t.Errorf("get: %v", err)
		}
		got := <-calls
		if !apierrors.IsForbidden(got.err) || !strings.Contains(got.name, "Pod") {
			t.Errorf("the handler got %q, %v", got.name, got.err)
		}
		if errors.Is(got.err, context.Canceled) {
			t.Error("the error is an end")
		}
	})
}

func TestChangesOfSharedObjectsAreFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, clienttest.Options{})
		w.create(pod("default", "a", "n1", "app", "web"))
		errs := make(chan error, 1)
		c := w.cache(ctrlcache.Options{CheckMutations: 1, OnError: func(_ schema.GroupVersionKind, err error) { errs <- err }}, cache.Options{})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- c.Start(ctx) }()
		synctest.Wait() // it has started
		var p corev1.Pod
		must(t, c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "a"}, &p, client.UnsafeDisableDeepCopy))
		wait(t, 2*time.Minute)
		select {
		case err := <-errs:
			t.Errorf("nobody has changed anything: %v", err)
		default:
		}
		p.Labels["app"] = "db"
		stop() // the informer looks once more at its end
		must(t, <-done)
		var mutation *bowcache.MutationError
		select {
		case err := <-errs:
			if !errors.As(err, &mutation) || mutation.Key.Name != "a" || !strings.Contains(mutation.Field, "abels") {
				t.Errorf("the error is %v", err)
			}
		default:
			t.Error("the change is not found")
		}
	})
}
