package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/internal/controlplane"
)

var configMaps = client.Type[*meta.Unstructured]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}

// Greeting is a ConfigMap of which little is read.
type Greeting struct {
	meta.Identity `json:"metadata"`
	Data          struct {
		Hello string `json:"hello"`
	} `json:"data"`
}

// subject is an informer under test, without its type of objects.
type subject struct {
	name   string
	runner informer.Runner
	synced func(context.Context) error
	// difference says how cache and handler differ from what the server has, or nothing.
	difference func(truth map[meta.Key]string) string
	status     func() informer.Status
}

// newSubject makes an informer that has to hold what covers says, and a handler that folds what it is told.
func newSubject[T meta.Object](name string, src informer.Source[T], o informer.Options, covers func(namespace string) bool) subject {
	inf := informer.New(src, o)
	var mu sync.Mutex
	told := map[meta.Key]string{}
	var wrong []string
	set := func(obj T, known bool) {
		mu.Lock()
		defer mu.Unlock()
		key := meta.KeyOf(obj)
		if _, ok := told[key]; ok != known {
			wrong = append(wrong, fmt.Sprintf("known is %v for %v", ok, key))
		}
		told[key] = obj.GetResourceVersion()
	}
	inf.Subscribe(cache.HandlerFuncs[T]{
		Add:    func(obj T) { set(obj, false) },
		Update: func(_, obj T) { set(obj, true) },
		Delete: func(obj T) {
			set(obj, true)
			mu.Lock()
			defer mu.Unlock()
			delete(told, meta.KeyOf(obj))
		},
	})
	return subject{
		name: name, runner: inf, synced: inf.WaitSynced, status: inf.Status,
		difference: func(truth map[meta.Key]string) string {
			mu.Lock()
			defer mu.Unlock()
			if len(wrong) > 0 {
				return wrong[0]
			}
			want := 0
			for key, version := range truth {
				if !covers(key.Namespace) {
					continue
				}
				want++
				obj, ok := inf.Reader().Get(key)
				if !ok || obj.GetResourceVersion() != version || told[key] != version {
					return fmt.Sprintf("%v is there: %v; its handler has version %q, want %s", key, ok, told[key], version)
				}
			}
			if n := inf.Reader().Len(); n != want || len(told) != want {
				return fmt.Sprintf("the cache has %d objects, its handler %d, want %d", n, len(told), want)
			}
			return ""
		},
	}
}

// Informers of every kind follow a server whose etcd is compacted and which crashes and starts again, with writes going
// on all the while; in the end each holds what the server has.
func TestInformersSurviveACompactionAndARestart(t *testing.T) {
	p, err := controlplane.Start(t.Context(), servers())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
	c, err := client.New(client.Config{Server: p.Server, TLS: client.TLS{CAData: client.Secret(p.CA)}, BearerToken: client.Secret(p.Token)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	w := &writer{configMaps: client.For(c, configMaps), dice: rand.New(rand.NewPCG(3, 0))}
	namespaces := client.For(c, client.Type[*meta.Unstructured]{Version: "v1", Kind: "Namespace", Resource: "namespaces", Scope: meta.Cluster})
	for _, name := range []string{"one", "two", "three"} {
		w.namespaces = append(w.namespaces, name)
		if _, err := namespaces.Create(t.Context(), &meta.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": name}}}); err != nil {
			t.Fatal(err)
		}
	}
	for range 150 {
		w.write(t)
	}

	all := func(string) bool { return true }
	plain := client.For(c, configMaps)
	greetings := client.For(c, client.Type[*Greeting]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"})
	subjects := []subject{
		newSubject("paged", plain, informer.Options{Mode: informer.Paged, PageSize: 20}, all),
		newSubject("streaming", plain, informer.Options{Mode: informer.Streaming}, all),
		newSubject("projected", greetings, informer.Options{}, all),
		newSubject("metadata-only", client.Metadata(plain), informer.Options{}, all),
		newSubject("raw", client.For(c, client.Type[*meta.Raw]{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}), informer.Options{}, all),
		newSubject("one namespace", greetings, informer.Options{Namespace: "two"}, func(ns string) bool { return ns == "two" }),
		newSubject("several namespaces", plain, informer.Options{Namespaces: []string{"one", "three"}},
			func(ns string) bool { return ns == "one" || ns == "three" }),
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	t.Cleanup(running.Wait)
	t.Cleanup(stop)
	for _, s := range subjects {
		running.Go(func() {
			if err := s.runner.Run(ctx); err != nil {
				t.Errorf("%s: Run returned %v", s.name, err)
			}
		})
	}
	for _, s := range subjects {
		if err := s.synced(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for range 100 {
		w.write(t)
	}
	compact(t, p.Etcd)
	for range 100 {
		w.write(t)
	}
	w.equal(t, subjects)

	// Writes go on during the crash; those that fail are tried again. After it the history is gone in etcd and in the server.
	written := make(chan struct{})
	go func() {
		defer close(written)
		for range 300 {
			w.write(t)
		}
	}()
	if err := p.RestartServer(t.Context(), func() { compact(t, p.Etcd) }); err != nil {
		t.Fatal(err)
	}
	<-written
	w.equal(t, subjects)
	for _, s := range subjects {
		t.Logf("%s: %v", s.name, s.status())
	}
}

// writer makes, changes and deletes config maps at random.
type writer struct {
	configMaps client.Resource[*meta.Unstructured]
	namespaces []string
	dice       *rand.Rand
}

// write makes one change. It goes on trying while the server cannot be reached.
func (w *writer) write(t *testing.T) {
	key := meta.Key{Namespace: w.namespaces[w.dice.IntN(len(w.namespaces))], Name: fmt.Sprint("greeting-", w.dice.IntN(40))}
	obj := &meta.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"namespace": key.Namespace, "name": key.Name},
		"data":     map[string]any{"hello": fmt.Sprint(w.dice.Uint64())},
	}}
	remove := w.dice.IntN(4) == 0
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		var err error
		if remove {
			err = w.configMaps.Delete(t.Context(), key, client.DeleteOptions{})
		} else if _, err = w.configMaps.Update(t.Context(), obj); errors.Is(err, apierrors.NotFound) {
			_, err = w.configMaps.Create(t.Context(), obj)
		}
		if err == nil || remove && errors.Is(err, apierrors.NotFound) {
			return
		}
		select {
		case <-tick.C: // the server is down, or not yet ready
		case <-t.Context().Done():
			t.Errorf("write %v: %v", key, err)
			return
		}
	}
}

// patience is how long the caches may take to be what the server has: the longest wait between two attempts of an informer,
// twice.
const patience = 90 * time.Second

// equal waits until all that is held is what the server has.
func (w *writer) equal(t *testing.T, subjects []subject) {
	t.Helper()
	list, err := w.configMaps.List(t.Context(), client.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	truth := map[meta.Key]string{}
	for _, obj := range list.Items {
		truth[meta.KeyOf(obj)] = obj.GetResourceVersion()
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(patience)
	for {
		wrong := slices.DeleteFunc(slices.Clone(subjects), func(s subject) bool { return s.difference(truth) == "" })
		if len(wrong) == 0 {
			return
		}
		select {
		case <-tick.C:
		case <-limit:
			for _, s := range wrong {
				t.Errorf("%s: %s; %v", s.name, s.difference(truth), s.status())
			}
			t.FailNow()
		}
	}
}
