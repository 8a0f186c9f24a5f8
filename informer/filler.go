package informer

import (
	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/filler"
	"github.com/bowline-go/bowline/internal/store"
)

// door leads from an informer to the methods that package controller needs. It is an alias, so that these methods are
// not visible to users.
type door = filler.Door

// readerOf returns a reader of a store that runner fills.
func readerOf[T meta.Object](s *store.Store[T], runner Runner) (r cache.Reader[T]) {
	r.Open(s, runner)
	return r
}

// asFiller is an informer as package controller sees it. Some of its methods stand in the files of their subject.
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

// sharedFiller is an informer with other users, which has a Run of its own that can be refused.
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
