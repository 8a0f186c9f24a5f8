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

// An engine is the filler.Filler of its informer. Some of the methods are in other files, by subject.

// Shards implements filler.Filler.
func (i *engine[T]) Shards() filler.Shards {
	if i.o.Shards == nil {
		return nil
	}
	return i.o.Shards
}

// Refuse implements filler.Filler.
func (i *engine[T]) Refuse(err error) {
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

// sharedFiller is the filler.Filler of a shared informer: that of the engine, but Refuse applies to the Run of one
// user.
type sharedFiller struct {
	filler.Filler
	refuse func(error)
}

// Refuse implements filler.Filler.
func (s sharedFiller) Refuse(err error) { s.refuse(err) }

// refuse makes the next run return err.
func (u *use[T]) refuse(err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.refused = err
}

// refusal returns the error of Refuse, or nil.
func (u *use[T]) refusal() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.refused
}
