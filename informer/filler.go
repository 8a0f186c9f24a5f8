package informer

import (
	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/filler"
	"github.com/bowline-go/bowline/internal/store"
)

// door leads from an informer to what package controller needs of it. It is an alias, so that its methods are not among
// those that users see.
type door = filler.Door

// readerOf returns a reader of a store that runner fills.
func readerOf[T meta.Object](s *store.Store[T], runner Runner) (r cache.Reader[T]) {
	r.Open(s, runner)
	return r
}

// asFiller is an informer as package controller sees it. A part of its methods stands beside what they are about.
type asFiller[T meta.Object] struct{ *engine[T] }

// Shards implements filler.Filler.
func (i asFiller[T]) Shards() filler.Shards {
	if i.o.Shards == nil {
		return nil
	}
	return i.o.Shards
}

// Refuse implements filler.Filler.
func (i asFiller[T]) Refuse(err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.refused = err
}

// refusal returns the error of Refuse, or nil.
func (i *engine[T]) refusal() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.refused
}

// sharedFiller is an informer that others may use too, whose own Run can be refused.
type sharedFiller[T meta.Object] struct {
	asFiller[T]
	use *use[T]
}

// Refuse implements filler.Filler.
func (s sharedFiller[T]) Refuse(err error) {
	s.use.mu.Lock()
	defer s.use.mu.Unlock()
	s.use.refused = err
}

// refusal returns the error of Refuse, or nil.
func (u *use[T]) refusal() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.refused
}
