package store

import (
	"iter"
	"slices"

	"github.com/bowline-go/bowline/client/meta"
)

// This file implements cache.Reader, which states the contracts. All methods here accept a nil store.

// Get is cache.Reader.Get. It searches without a lock first: see Store.moment.
func (s *Store[T]) Get(k meta.Key) (obj T, found bool) {
	if s == nil {
		return obj, false
	}
	tag, moment := tagOf(s.seed, k), s.moment.Load()
	e := s.items.find(tag, k)
	if moment%2 != 0 || s.moment.Load() != moment {
		e = s.find(tag, k)
	}
	if e == nil {
		s.reading("Get", k)
		return obj, false
	}
	if s.packs != nil {
		return s.packs.get(e)
	}
	return e.obj, true
}

// find searches under the lock, when no change is in progress.
func (s *Store[T]) find(tag uint32, k meta.Key) *entry[T] {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.items.find(tag, k)
}

// All is cache.Reader.All.
func (s *Store[T]) All() iter.Seq[T] {
	return func(yield func(T) bool) {
		v := s.view("All", meta.Key{}, nil)
		v.each(yield)
	}
}

// Namespace is cache.Reader.Namespace.
func (s *Store[T]) Namespace(ns string) iter.Seq[T] {
	return func(yield func(T) bool) {
		v := s.view("Namespace", meta.Key{Namespace: ns}, func() rowSet { return s.spaces.rows(ns) })
		v.each(yield)
	}
}

// Sorted is cache.Reader.Sorted.
func (s *Store[T]) Sorted() iter.Seq[T] {
	return func(yield func(T) bool) {
		v := s.view("Sorted", meta.Key{}, nil)
		entries := v.entries()
		slices.SortFunc(entries, func(a, b *entry[T]) int { return a.key.Compare(b.key) })
		v.eachOf(entries, yield)
	}
}

// Len is cache.Reader.Len.
func (s *Store[T]) Len() int {
	if s == nil {
		return 0
	}
	s.reading("Len", meta.Key{})
	return s.Count("")
}

// ResourceVersion is cache.Reader.ResourceVersion.
func (s *Store[T]) ResourceVersion() string {
	if s == nil {
		return ""
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.version()
}

// view reports a read, and returns the view for it: of the rows that only() returns, or of all rows if only is nil.
func (s *Store[T]) view(op string, key meta.Key, only func() rowSet) view[T] {
	if s == nil {
		return view[T]{}
	}
	s.reading(op, key)
	s.mu.RLock()
	defer s.mu.RUnlock()
	s.touch()
	all := s.viewAll()
	if only == nil {
		return all
	}
	return all.only(only())
}

// touch makes the next write start a new generation. The caller holds mu.RLock and takes a view before releasing it.
// touch reads the flag first, so that parallel readers do not contend for writing it.
func (s *Store[T]) touch() {
	if !s.viewed.Load() {
		s.viewed.Store(true)
	}
}
