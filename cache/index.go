package cache

import (
	"iter"
	"maps"
	"slices"

	"github.com/bowline-go/bowline/client/meta"
)

// Index finds the objects of a cache by a value of theirs: pods by node, objects by owner, certificates by the secrets
// that they name. It is kept up to date with the cache in the same step, so it never disagrees with the objects.
//
// It costs one reference per object and value, plus a map entry for each value. All methods may be called from any
// goroutine. The zero Index is empty and stays empty.
type Index[K comparable, T meta.Object] struct {
	s  *Store[T]
	by func(T) []K

	buckets buckets[K, T] // guarded by s.mu

	// Between prepare and commit, and guarded by s.write: what changes, with the values of all of it in one slice.
	moves  []move[T]
	values []K
}

// move is an object's change of values: values[a:b] from there, values[b:c] to here.
type move[T any] struct {
	old, now *entry[T]
	a, b, c  int
}

// NewIndex indexes the objects of r by the values that the function by returns for each: none, one or several, where
// one that is named twice counts once. It covers the objects that are there when it returns, and all later changes.
//
// The function by is called in the middle of writing to the cache. It must be pure: it answers the same for the same
// object each time, because it is asked again when the object goes; it does not call Subscribe, NewIndex, Close or a
// method of the store, and it does not wait. What it returns is copied. A value that is not equal to itself, as a
// floating-point NaN, is not indexed, since nobody could ask for it. If by panics, so does the call that writes, and
// the cache stays as it was.
//
// There is no way yet to end an index before its cache.
func NewIndex[K comparable, T meta.Object](r Reader[T], by func(T) []K) *Index[K, T] {
	ix := &Index[K, T]{s: r.s, by: by}
	if r.s == nil {
		return ix
	}
	// Only writers are kept out while the index is filled. A reader cannot have it before it is returned.
	r.s.write.Lock()
	defer r.s.write.Unlock()
	for _, c := range r.s.all.chunks {
		for _, e := range c.items {
			for _, k := range by(e.obj) {
				if equal(k, k) {
					ix.buckets.put(k, e, r.s.gen)
				}
			}
		}
	}
	r.s.indexes = append(r.s.indexes, ix)
	return ix
}

// Get loops over the objects with the value k, in no particular order. Each loop runs over the objects that have it
// when the loop starts, without holding a lock.
func (ix *Index[K, T]) Get(k K) iter.Seq[T] {
	return func(yield func(T) bool) { ix.view(k).each(yield) }
}

// Len returns how many objects have the value k.
func (ix *Index[K, T]) Len(k K) int {
	if ix.s == nil {
		return 0
	}
	ix.s.mu.RLock()
	defer ix.s.mu.RUnlock()
	return ix.buckets.count(k)
}

// Keys loops over the values that at least one object has, in no particular order. Each loop runs over a copy of them.
func (ix *Index[K, T]) Keys() iter.Seq[K] {
	return func(yield func(K) bool) {
		for _, k := range ix.keys() {
			if !yield(k) {
				return
			}
		}
	}
}

func (ix *Index[K, T]) keys() []K {
	if ix.s == nil {
		return nil
	}
	ix.s.mu.RLock()
	defer ix.s.mu.RUnlock()
	return slices.AppendSeq(make([]K, 0, ix.buckets.len()), maps.Keys(ix.buckets.m))
}

func (ix *Index[K, T]) view(k K) view[T] {
	if ix.s == nil {
		return view[T]{}
	}
	ix.s.mu.RLock()
	defer ix.s.mu.RUnlock()
	ix.s.touch()
	return ix.buckets.view(k)
}

func (ix *Index[K, T]) prepare(deltas []delta[T]) {
	ix.reset() // a preparation that was not committed, because a later index panicked
	for i := range deltas {
		d := &deltas[i]
		m := move[T]{old: d.old, now: d.now, a: len(ix.values)}
		ix.add(d.old)
		m.b = len(ix.values)
		ix.add(d.now)
		m.c = len(ix.values)
		ix.moves = append(ix.moves, m)
	}
}

// add appends the values of e, and panics here rather than in commit over one that cannot be a map's key.
func (ix *Index[K, T]) add(e *entry[T]) {
	if e == nil {
		return
	}
	for _, k := range ix.by(e.obj) {
		if equal(k, k) {
			ix.values = append(ix.values, k)
		}
	}
}

func equal[K comparable](a, b K) bool { return a == b }

// commit puts the new state under its values first: under a value that the old state has too it takes the old one's
// place, so that dropping the old state afterwards touches the values only that are gone.
func (ix *Index[K, T]) commit(gen uint64) {
	for _, m := range ix.moves {
		for _, k := range ix.values[m.b:m.c] {
			ix.buckets.put(k, m.now, gen)
		}
		for _, k := range ix.values[m.a:m.b] {
			ix.buckets.drop(k, m.old, gen)
		}
	}
	ix.reset()
}

// keepScratch is how many elements of scratch memory an index keeps from one change to the next.
const keepScratch = 64

func (ix *Index[K, T]) reset() {
	clear(ix.moves)
	clear(ix.values)
	ix.moves, ix.values = ix.moves[:0], ix.values[:0]
	if cap(ix.moves) > keepScratch {
		ix.moves = nil
	}
	if cap(ix.values) > keepScratch {
		ix.values = nil
	}
}
