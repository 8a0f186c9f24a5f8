package ctrlcache_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/informer/compact"
	"github.com/bowline-go/bowline/informer/ctrlcache"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// world is a server in the process, and a client of controller-runtime that writes to it.
type world struct {
	t      *testing.T
	server *clienttest.Server
	config *rest.Config
	http   *http.Client
	own    ctrlcache.Options // for each cache
	client.Client
}

// bothCaches runs f inside of a synctest bubble, once for each way to keep objects.
func bothCaches(t *testing.T, o clienttest.Options, f func(t *testing.T, w *world)) {
	for name, own := range map[string]ctrlcache.Options{"as they are": {}, "compact": {Compact: compact.New()}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, o)
				w.own = own
				f(t, w)
			})
		})
	}
}

// newWorld works inside of a synctest bubble.
func newWorld(t *testing.T, o clienttest.Options) *world {
	t.Helper()
	server := clienttest.Start(t, o)
	c := server.Config()
	transport := &http.Transport{DialContext: c.Dial}
	t.Cleanup(transport.CloseIdleConnections)
	w := &world{t: t, server: server, config: &rest.Config{Host: c.Server, QPS: -1}, http: &http.Client{Transport: transport}}
	var err error
	if w.Client, err = client.New(w.config, client.Options{HTTPClient: w.http}); err != nil {
		t.Fatal(err)
	}
	return w
}

// cache makes a cache, which nobody has started.
func (w *world) cache(own ctrlcache.Options, o cache.Options) cache.Cache {
	w.t.Helper()
	o.HTTPClient = w.http
	if own.Compact == nil {
		own.Compact = w.own.Compact
	}
	c, err := own.New(w.config, o)
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// start runs a cache until the test ends.
func (w *world) start(c cache.Cache) {
	w.t.Helper()
	ctx, stop := context.WithCancel(w.t.Context())
	done := make(chan error, 1)
	go func() { done <- c.Start(ctx) }()
	synctest.Wait() // it has started
	w.t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			w.t.Errorf("Start returned %v", err)
		}
	})
}

// started is a cache that runs until the test ends.
func (w *world) started(own ctrlcache.Options, o cache.Options) cache.Cache {
	w.t.Helper()
	c := w.cache(own, o)
	w.start(c)
	return c
}

func (w *world) create(objs ...client.Object) {
	w.t.Helper()
	for _, obj := range objs {
		if err := w.Create(w.t.Context(), obj); err != nil {
			w.t.Fatal(err)
		}
	}
}

func pod(namespace, name, node string, labels ...string) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{}},
		Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
	for i := 0; i+1 < len(labels); i += 2 {
		p.Labels[labels[i]] = labels[i+1]
	}
	return p
}

func namespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
