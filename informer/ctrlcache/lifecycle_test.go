package ctrlcache_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/informer/ctrlcache"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// stalled makes the server answer no list and no watch.
func (w *world) stalled() {
	w.server.Intercept(func(r *http.Request) http.HandlerFunc {
		if verb := clienttest.RequestOf(r).Verb; verb != "list" && verb != "watch" {
			return nil
		}
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }
	})
}

func TestWaitForCacheSync(t *testing.T) {
	bothCaches(t, clienttest.Options{}, func(t *testing.T, w *world) {
		c := w.cache(ctrlcache.Options{}, cache.Options{})
		short := func() context.Context {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			t.Cleanup(cancel)
			return ctx
		}
		if c.WaitForCacheSync(short()) {
			t.Error("a cache that has not started is synced")
		}
		informerOf(t, c, &corev1.Pod{})
		w.start(c)
		if !c.WaitForCacheSync(short()) {
			t.Error("it is not synced")
		}
		w.stalled()
		if _, err := c.GetInformer(t.Context(), &corev1.Secret{}, cache.BlockUntilSynced(false)); err != nil {
			t.Error(err)
		}
		if c.WaitForCacheSync(short()) {
			t.Error("a cache whose server does not answer is synced")
		}
		_, err := c.GetInformer(short(), &corev1.Secret{})
		if !apierrors.IsTimeout(err) || !strings.Contains(err.Error(), "failed waiting for *v1.Secret Informer to sync") {
			t.Errorf("the informer of a server that does not answer: %v", err)
		}
		leader, ok := c.(manager.LeaderElectionRunnable)
		if !ok || leader.NeedLeaderElection() {
			t.Error("it needs the election of a leader")
		}
		if err := c.Start(t.Context()); err == nil {
			t.Error("it starts twice")
		}
	})
}

func TestAnInformerIsRemovedWhileItSyncs(t *testing.T) {
	bothCaches(t, clienttest.Options{}, func(t *testing.T, w *world) {
		w.stalled()
		c := w.started(ctrlcache.Options{}, cache.Options{})
		inf, err := c.GetInformer(t.Context(), &corev1.Pod{}, cache.BlockUntilSynced(false))
		must(t, err)
		failed := make(chan error, 1)
		go func() { failed <- c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "a"}, &corev1.Pod{}) }()
		synctest.Wait()
		must(t, c.RemoveInformer(t.Context(), &corev1.Pod{}))
		if err := <-failed; !apierrors.IsTimeout(err) || !strings.Contains(err.Error(), "has been removed") {
			t.Errorf("the read: %v", err)
		}
		synctest.Wait()
		if !inf.IsStopped() || inf.HasSynced() {
			t.Error("the informer is not stopped, or synced")
		}
		if _, err := inf.AddEventHandler(&recorder{}); err == nil {
			t.Error("it takes a handler")
		}
		if err := inf.AddIndexers(toolscache.Indexers{"x": nil}); err == nil {
			t.Error("it takes an index")
		}
		must(t, c.RemoveInformer(t.Context(), &corev1.Pod{})) // does nothing

		w.server.Intercept(nil)
		if again := informerOf(t, c, &corev1.Pod{}); again == inf || !again.HasSynced() {
			t.Error("the kind has no new informer")
		}
	})
}

func TestACacheThatHasStopped(t *testing.T) {
	bothCaches(t, clienttest.Options{}, func(t *testing.T, w *world) {
		w.create(pod("default", "a", "n1"))
		c := w.cache(ctrlcache.Options{}, cache.Options{})
		inf := informerOf(t, c, &corev1.Pod{})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- c.Start(ctx) }()
		if !c.WaitForCacheSync(t.Context()) {
			t.Error("it does not sync")
		}
		stop()
		must(t, <-done)
		if !inf.IsStopped() {
			t.Error("an informer runs after Start has returned")
		}
		must(t, c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "a"}, &corev1.Pod{})) // it is still there
		_, err := c.GetInformer(t.Context(), &corev1.Secret{})
		if !apierrors.IsTimeout(err) || !strings.Contains(err.Error(), "the cache has stopped") {
			t.Errorf("another informer: %v", err)
		}
	})
}

func TestTheUsersInformersAreControllerRuntimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, clienttest.Options{})
		made := 0
		c := w.cache(ctrlcache.Options{}, cache.Options{
			NewInformer: func(lw toolscache.ListerWatcher, obj runtime.Object, period time.Duration, ix toolscache.Indexers) toolscache.SharedIndexInformer {
				made++
				return toolscache.NewSharedIndexInformer(lw, obj, period, ix)
			},
		})
		if _, err := c.GetInformer(t.Context(), &corev1.Pod{}); err != nil || made != 1 {
			t.Errorf("made %d, %v", made, err)
		}
		if _, ok := ctrlcache.StatusOf(c); ok {
			t.Error("it has a Status")
		}
	})
}

func TestTheServersAddressIsThatOfTheConfig(t *testing.T) {
	if _, err := ctrlcache.New(&rest.Config{Host: "http://[::1"}, cache.Options{}); err == nil {
		t.Error("a broken address is accepted")
	}
}
