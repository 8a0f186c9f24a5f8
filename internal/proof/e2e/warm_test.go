package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/warm"
)

// A cache in a file: the next process begins with it, also while its collection is quiet and other resources move the
// version of the server. The bookmark before the end of a short watch is then the only sign.
func TestWarmStarts(t *testing.T) {
	t.Parallel()
	c := open(t, adminConfig())
	const namespace = "warm"
	namespaces := client.For(c, client.Type[object]{Version: "v1", Kind: "Namespace", Resource: "namespaces", Scope: meta.Cluster})
	if _, err := namespaces.Create(t.Context(), &meta.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": namespace}}}); err != nil {
		t.Fatal(err)
	}
	quotas := client.For(c, client.Type[object]{Version: "v1", Kind: "LimitRange", Resource: "limitranges"}).In(namespace)
	others := client.For(c, configMaps)
	put := func(r client.Resource[object], name string) {
		t.Helper()
		obj := &meta.Unstructured{Object: map[string]any{"metadata": map[string]any{"namespace": namespace, "name": name}}}
		if _, err := r.Create(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
	}
	remove := func(name string) {
		t.Helper()
		if err := quotas.Delete(t.Context(), meta.Key{Namespace: namespace, Name: name}, client.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 20 {
		put(quotas, fmt.Sprint("a", n))
	}
	files := warm.Options{Dir: filepath.Join(t.TempDir(), "files")}
	// run is one process; it returns how long it took to be synced.
	run := func() (informer.Status, time.Duration) {
		t.Helper()
		inf := informer.New(quotas, informer.Options{Warm: warm.New(files), OnError: func(err error) { t.Error(err) }})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		ended := make(chan error, 1)
		began := time.Now()
		go func() { ended <- inf.Run(ctx) }()
		if err := inf.WaitSynced(ctx); err != nil {
			t.Fatal(err)
		}
		took, status := time.Since(began), inf.Status()
		list, err := quotas.List(t.Context(), client.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range list.Items {
			if got, ok := inf.Reader().Get(meta.KeyOf(want)); !ok || got.GetResourceVersion() != want.GetResourceVersion() {
				t.Errorf("the cache has %v, want %v", got, want)
			}
		}
		if inf.Reader().Len() != len(list.Items) {
			t.Errorf("the cache has %d objects, want %d", inf.Reader().Len(), len(list.Items))
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		return status, took
	}
	if s, _ := run(); s.Cold == nil || s.Warm != 0 {
		t.Errorf("the first process: %v", s)
	}
	for _, test := range []struct {
		name   string
		change func()
		want   int
	}{
		{"nothing has changed", func() {}, 20},
		{"its objects have changed last", func() { remove("a3"); put(quotas, "b") }, 20},
		{"something else has changed last", func() { remove("a4"); put(others, "x") }, 19},
		{"only something else has changed", func() { put(others, "y") }, 19},
	} {
		test.change()
		s, took := run()
		t.Logf("%s: synced after %v: %v", test.name, took.Round(time.Millisecond), s)
		if s.Warm != test.want || s.Cold != nil || s.Lists != 0 {
			t.Errorf("%s: %v", test.name, s)
		}
	}
	if names, err := os.ReadDir(files.Dir); err != nil || len(names) != 1 {
		t.Errorf("files are %v: %v", names, err)
	}
}
