package store

import (
	"iter"
	"maps"
	"slices"

	"github.com/bowline-go/bowline/client/meta"
)

// Index implements cache.Index, which states the contract. The zero Index is empty and stays empty.
type Index[K comparable, T meta.Object] struct {
	s     *Store[T]
	by    func(T, []K) []K // appends the values of an object
	label string           // the label, for an index that Select may use

	buckets buckets[K] // guarded by s.mu
	next    buckets[K] // between fork and swap; guarded by s.write

	// Guarded by s.write: the buckets of each row. For a row with one value, of[row] is its bucket. For a row with
	// several values, of[row] is nil, and more[row] has its buckets. During a fork both may still refer to a bucket
	// that next has copied; see follow.
	of   []*bucket[K]
	more map[uint32][]*bucket[K]

	// Used between prepare and commit, and guarded by s.write: the moves, and the values of all of them in one slice.
	moves  []move[T]
	values []K
}

// move is a change of the values that an object has: after it they are Index.values[a:b].
type move[T any] struct {
	old, now *entry[T]
	a, b     int
}

// Open makes the zero index an index of the objects of s. by appends the values of an object.
func (ix *Index[K, T]) Open(s *Store[T], by func(obj T, values []K) []K) {
	if ix.s, ix.by = s, by; s == nil {
		return
	}
	// The lock stops writers while the index is filled. Readers do not have the index yet.
	s.write.Lock()
	defer s.unlock()
	ix.fill()
	s.indexes = append(s.indexes, ix)
}

// fill indexes the existing objects. The caller holds write, and no other goroutine has the index.
func (ix *Index[K, T]) fill() {
	ix.s.each("", func(e *entry[T]) {
		ix.values = ix.values[:0]
		ix.add(e)
		ix.place(&ix.buckets, e.row, ix.values, ix.s.gen)
	})
	ix.reset()
}

// Close is cache.Index.Close.
func (ix *Index[K, T]) Close() {
	s := ix.s
	if s == nil {
		return
	}
	s.write.Lock()
	defer s.unlock()
	s.indexes = slices.DeleteFunc(s.indexes, func(other index[T]) bool { return other == index[T](ix) })
	s.mu.Lock()
	defer s.mu.Unlock()
	s.labelled = slices.DeleteFunc(s.labelled, func(other *Index[string, T]) bool { return any(other) == any(ix) })
	ix.buckets = buckets[K]{}
	ix.of, ix.more = nil, nil
}

// Get is cache.Index.Get.
func (ix *Index[K, T]) Get(k K) iter.Seq[T] {
	return func(yield func(T) bool) {
		v := ix.s.view("Index.Get", meta.Key{}, func() rowSet { return ix.buckets.rows(k) })
		v.each(yield)
	}
}

// Len is cache.Index.Len.
func (ix *Index[K, T]) Len(k K) int {
	if ix.s == nil {
		return 0
	}
	ix.s.reading("Index.Len", meta.Key{})
	ix.s.mu.RLock()
	defer ix.s.mu.RUnlock()
	in := ix.buckets.rows(k)
	return in.len()
}

// Keys is cache.Index.Keys.
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
	ix.s.reading("Index.Keys", meta.Key{})
	ix.s.mu.RLock()
	defer ix.s.mu.RUnlock()
	return slices.AppendSeq(make([]K, 0, ix.buckets.len()), maps.Keys(ix.buckets.m))
}

func (ix *Index[K, T]) prepare(deltas []delta[T]) {
	ix.reset() // drops a preparation that was not committed because a later index panicked
	for i := range deltas {
		d := &deltas[i]
		m := move[T]{old: d.old, now: d.now, a: len(ix.values)}
		if d.now != nil {
			ix.add(d.now)
			if d.old != nil && ix.stays(d.old.row, ix.values[m.a:]) {
				ix.values = ix.values[:m.a]
				continue
			}
		}
		m.b = len(ix.values)
		ix.moves = append(ix.moves, m)
	}
}

// add appends the values of e, without those that are not equal to themselves. If a value cannot be a map's key, add
// panics, so that commit does not.
func (ix *Index[K, T]) add(e *entry[T]) {
	had := len(ix.values)
	if obj, ok := ix.s.known(e); ok {
		ix.values = ix.by(obj, ix.values)
	}
	kept := ix.values[:had]
	for _, k := range ix.values[had:] {
		if equal(k, k) {
			kept = append(kept, k)
		}
	}
	ix.values = kept
}

func equal[K comparable](a, b K) bool { return a == b }

// stays reports whether values are those of row, each once and in the same order. If only the order differs it returns
// false; the cost is a commit that changes nothing.
func (ix *Index[K, T]) stays(row uint32, values []K) bool {
	one, more := ix.under(row)
	if one != nil {
		return len(values) == 1 && values[0] == one.value
	}
	return slices.EqualFunc(more, values, func(b *bucket[K], k K) bool { return b.value == k })
}

// under returns the bucket of row, or its buckets if there are several.
func (ix *Index[K, T]) under(row uint32) (one *bucket[K], more []*bucket[K]) {
	if int(row) < len(ix.of) {
		one = ix.of[row]
	}
	if one == nil {
		more = ix.more[row]
	}
	return one, more
}

func (ix *Index[K, T]) commit(gen uint64) { ix.move(&ix.buckets, gen) }

func (ix *Index[K, T]) fork(gen uint64, all bool) {
	if len(ix.moves) == 0 && !all {
		return
	}
	ix.next = ix.buckets.fork()
	ix.move(&ix.next, gen)
	if !all {
		ix.follow()
	}
}

func (ix *Index[K, T]) swap() {
	if ix.next.forked {
		ix.buckets, ix.next = ix.next.joined(), buckets[K]{}
	}
}

// follow makes the rows of copied buckets refer to the copies.
func (ix *Index[K, T]) follow() {
	for _, b := range ix.next.copies {
		if ix.next.m[b.value] != b {
			continue // the bucket has gone
		}
		b.each(func(row uint32) {
			one, more := ix.under(row)
			if one != nil {
				ix.of[row] = b
				return
			}
			i := slices.IndexFunc(more, func(other *bucket[K]) bool { return other.value == b.value })
			more[i] = b
		})
	}
}

// move makes the prepared moves.
func (ix *Index[K, T]) move(in *buckets[K], gen uint64) {
	for _, m := range ix.moves {
		e := m.now
		if e == nil {
			e = m.old
		}
		ix.place(in, e.row, ix.values[m.a:m.b], gen)
	}
	ix.reset()
}

// place puts row under values, and under nothing else.
func (ix *Index[K, T]) place(in *buckets[K], row uint32, values []K, gen uint64) {
	one, more := ix.under(row)
	if one != nil {
		more = []*bucket[K]{one}
	}
	for _, b := range more {
		if !slices.Contains(values, b.value) {
			in.drop(b, row, gen)
		}
	}
	if more != nil {
		delete(ix.more, row)
	}
	if int(row) < len(ix.of) {
		ix.of[row] = nil
	}
	var first *bucket[K]
	var all []*bucket[K]
	for i, k := range values {
		if slices.Contains(values[:i], k) {
			continue
		}
		b := in.add(k, row, gen)
		switch {
		case first == nil:
			first = b
		case all == nil:
			all = []*bucket[K]{first, b}
		default:
			all = append(all, b)
		}
	}
	switch {
	case all != nil:
		if ix.more == nil {
			ix.more = make(map[uint32][]*bucket[K])
		}
		ix.more[row] = all
	case first != nil:
		for int(row) >= len(ix.of) {
			ix.of = append(ix.of, nil)
		}
		ix.of[row] = first
	}
}

func (ix *Index[K, T]) renumber(to []uint32, gen uint64) {
	in := &ix.buckets
	if ix.next.forked {
		in = &ix.next
	}
	in.renumber(to, gen)
	of := make([]*bucket[K], 0, ix.s.all.n)
	for row, b := range ix.of {
		if b == nil {
			continue
		}
		for len(of) <= int(to[row]) {
			of = append(of, nil)
		}
		of[to[row]] = b
	}
	ix.of = of
	more := make(map[uint32][]*bucket[K], len(ix.more))
	for row, all := range ix.more {
		more[to[row]] = all
	}
	ix.more = more
	if in.forked {
		ix.follow()
	}
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
