package debug_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/debug"
)

// large is a source of many things.
type large struct{ n int }

func (l large) GVR() meta.GVR { return configMaps.GVR() }

func (l large) ListEach(_ context.Context, _ client.ListOptions, _ func(meta.Identity) (*Thing, bool), fn func(client.Item[*Thing]) error) (meta.ListMeta, error) {
	for i := range l.n {
		t := &Thing{
			ObjectMeta: meta.ObjectMeta{
				Namespace: fmt.Sprintf("namespace-%d", i%50), Name: fmt.Sprintf("thing-%06d", (i*7919)%l.n), UID: fmt.Sprint("uid-", i), ResourceVersion: fmt.Sprint(i + 1),
				Labels: map[string]string{"app": "web", "tier": fmt.Sprint("t", i%3)},
			},
			Data: map[string]string{"text": fmt.Sprint("text ", i)},
		}
		id := meta.Identity{Namespace: t.Namespace, Name: t.Name, UID: t.UID, ResourceVersion: t.ResourceVersion}
		if err := fn(client.Item[*Thing]{Object: t, Identity: id}); err != nil {
			return meta.ListMeta{}, err
		}
	}
	return meta.ListMeta{ResourceVersion: fmt.Sprint(l.n + 1)}, nil
}

func (l large) WatchEach(ctx context.Context, _ client.WatchOptions, _ func(meta.Identity) (*Thing, bool), _ func(client.Event[*Thing]) error) error {
	<-ctx.Done()
	return ctx.Err()
}

// BenchmarkPage answers requests for the pages of a cache of 100,000 objects. "cold" weighs the objects anew each time.
func BenchmarkPage(b *testing.B) {
	page := newPage(b, debug.Options{Objects: true})
	inf := informer.New[*Thing](large{100_000}, informer.Options{Mode: informer.Paged})
	ctx, cancel := context.WithCancel(page.Context(b.Context()))
	done := make(chan error, 1)
	go func() { done <- inf.Run(ctx) }()
	if err := inf.WaitSynced(ctx); err != nil {
		b.Fatal(err)
	}
	defer func() {
		cancel()
		if err := <-done; err != nil {
			b.Error(err)
		}
	}()
	for name, address := range map[string]string{
		"overview": "/", "cache": "/?cache=configmaps.v1", "search": "/?cache=configmaps.v1&q=thing-09", "none": "/?cache=configmaps.v1&q=nothing",
		"object": "/?cache=configmaps.v1&object=namespace-7/thing-099983", "events": "/?events",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if code, body := get(b, page, address); code != http.StatusOK {
					b.Fatal(code, body)
				}
			}
		})
	}
	b.Run("cold", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			debug.Weigh(debug.RunInfo(page), 100_000)
		}
	})
}

// BenchmarkEvent is what an event costs the program that is watched.
func BenchmarkEvent(b *testing.B) {
	page := newPage(b, debug.Options{})
	b.ReportAllocs()
	for b.Loop() {
		debug.Add(page, "default/thing")
	}
}
