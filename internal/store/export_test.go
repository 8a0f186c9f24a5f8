package store

import (
	"github.com/bowline-go/bowline/client/meta"
)

// SetLarge sets from which number of objects on a change is put in place beside the tables of the readers.
func (s *Store[T]) SetLarge(objects int) { s.large = objects }

// SetHot sets how many bytes of packed texts the hot objects of a store of packed objects have.
func (s *Store[T]) SetHot(bytes int) { s.packs.room = bytes }

// indexed returns an index of s by the values that by returns.
func indexed[K comparable, T meta.Object](s *Store[T], by func(T) []K) *Index[K, T] {
	ix := new(Index[K, T])
	ix.Open(s, func(obj T, values []K) []K { return append(values, by(obj)...) })
	return ix
}

// valued returns an index of s by the one value that by returns.
func valued[K comparable, T meta.Object](s *Store[T], by func(T) K) *Index[K, T] {
	ix := new(Index[K, T])
	ix.Open(s, func(obj T, values []K) []K { return append(values, by(obj)) })
	return ix
}

// ignoring is a handler that does nothing.
type ignoring[T any] struct{}

func (ignoring[T]) OnAdd(T)         {}
func (ignoring[T]) OnUpdate(_, _ T) {}
func (ignoring[T]) OnDelete(T)      {}
