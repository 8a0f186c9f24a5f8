// Package storetest has caches without an informer, for tests, and objects to put into them.
package storetest

import (
	"context"
	"encoding/json"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/packed"
	"github.com/bowline-go/bowline/internal/store"
)

// Cache is a store that the test writes. It has the methods of the store.Writer of all namespaces.
type Cache[T meta.Object] struct{ *store.Store[T] }

// New returns an empty cache.
func New[T meta.Object]() Cache[T] { return Cache[T]{store.New[T]()} }

// NewPacked returns an empty cache of packed objects, whose packed text is plain JSON.
func NewPacked[T meta.Object]() Cache[T] {
	way := &packed.Way{Unpack: func(into []byte, raw string) ([]byte, byte, error) { return append(into, raw...), 0, nil }}
	return Cache[T]{store.NewPacked(store.Packing[T]{
		Pack: func(obj T) packed.Text {
			raw, err := json.Marshal(obj)
			if err != nil {
				return packed.Text{}
			}
			return packed.New(way, string(raw))
		},
		Unpack: func(text packed.Text) (obj T, err error) {
			raw, _, err := text.Unpack(nil)
			if err != nil {
				return obj, err
			}
			err = json.Unmarshal(raw, &obj)
			return obj, err
		},
		Clone:  meta.Clone[T],
		Report: func(meta.Identity, error) {},
	})}
}

// Reader returns a reader that does not know what fills the cache.
func (c Cache[T]) Reader() cache.Reader[T] { return c.ReaderOf(nil) }

// ReaderOf returns a reader whose Runner is runner.
func (c Cache[T]) ReaderOf(runner cache.Runner) (r cache.Reader[T]) {
	r.Open(c.Store, runner)
	return r
}

// Set is store.Writer.Set.
func (c Cache[T]) Set(id meta.Identity, obj T) { c.Writer("").Set(id, obj) }

// Delete is store.Writer.Delete.
func (c Cache[T]) Delete(id meta.Identity, last T) { c.Writer("").Delete(id, last) }

// Bookmark is store.Writer.Bookmark.
func (c Cache[T]) Bookmark(resourceVersion string) { c.Writer("").Bookmark(resourceVersion) }

// Relist is store.Writer.Relist.
func (c Cache[T]) Relist() *store.Relist[T] { return c.Writer("").Relist() }

// Deliver is store.Store.Deliver, and reports errors of package cache. A nil report lets panics end the program.
func (c Cache[T]) Deliver(ctx context.Context, report func(*cache.PanicError)) error {
	if report == nil {
		return c.Store.Deliver(ctx, nil)
	}
	return c.Store.Deliver(ctx, func(p *store.Panic) { report((*cache.PanicError)(p)) })
}

// CheckMutations is store.Store.CheckMutations, and reports errors of package cache.
func (c Cache[T]) CheckMutations(oneIn, most int, report func(*cache.MutationError)) {
	c.Store.CheckMutations(oneIn, most, func(m *store.Mutation) { report((*cache.MutationError)(m)) })
}
