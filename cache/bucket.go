package cache

import "slices"

// buckets groups entries by a value: the objects of each namespace, and those of each value of an index. Most values of
// most indexes have one object or a few, so a value costs no map of its own: a single entry lies in the table itself, a
// few in a short slice, and only many in rows. A value without entries is not in the table.
//
// It is guarded by the lock of the store.
type buckets[K comparable, T any] struct {
	table[K, bucket[T]]
}

// bucket is one of single, few and *rows, by the number of its entries; nil if there is none. Two words, so that the
// most common one needs no memory beside them.
//
//lint:ignore U1000 it is used as a type argument of an embedded field, which the check does not see
type bucket[T any] interface {
	view() view[T]
	count() int
}

type single[T any] struct{ e *entry[T] }

func (s single[T]) view() view[T] { return view[T]{one: s.e} }
func (s single[T]) count() int    { return 1 }

// few is never changed in place, so a view of it needs no generations.
type few[T any] []*entry[T]

// fewest and most bound a few, where it grows out of and into rows: apart, so that an object that comes and goes does
// not turn one into the other each time.
const fewest, most = 8, 16

func (f few[T]) view() view[T] { return view[T]{few: f} }
func (f few[T]) count() int    { return len(f) }

// put adds e under k, or puts it in the place of the entry with the same seq.
func (b *buckets[K, T]) put(k K, e *entry[T], gen uint64) {
	switch old := b.m[k].(type) {
	case nil:
		b.table.put(k, single[T]{e})
	case single[T]:
		if old.e.seq == e.seq {
			b.table.put(k, single[T]{e})
		} else {
			b.table.put(k, few[T]{old.e, e})
		}
	case few[T]:
		i := slices.IndexFunc(old, func(other *entry[T]) bool { return other.seq == e.seq })
		switch {
		case i >= 0:
			f := slices.Clone(old)
			f[i] = e
			b.table.put(k, f)
		case len(old) < most:
			f := make(few[T], len(old)+1)
			f[copy(f, old)] = e
			b.table.put(k, f)
		default:
			many := &rows[T]{}
			for _, other := range old {
				many.put(other, gen)
			}
			many.put(e, gen)
			b.table.put(k, many)
		}
	case *rows[T]:
		old.put(e, gen)
	}
}

// drop removes e from k if it is there; another entry with the same seq stays.
func (b *buckets[K, T]) drop(k K, e *entry[T], gen uint64) {
	switch old := b.m[k].(type) {
	case single[T]:
		if old.e == e {
			b.table.drop(k)
		}
	case few[T]:
		i := slices.Index(old, e)
		switch {
		case i < 0:
		case len(old) == 2:
			b.table.put(k, single[T]{old[1-i]})
		default:
			f := make(few[T], len(old)-1)
			copy(f[copy(f, old[:i]):], old[i+1:])
			b.table.put(k, f)
		}
	case *rows[T]:
		old.drop(e, gen)
		if old.n <= fewest {
			f := make(few[T], 0, old.n)
			for _, c := range old.chunks {
				f = append(f, c.items...)
			}
			b.table.put(k, f)
		}
	}
}

func (b *buckets[K, T]) count(k K) int {
	if found := b.m[k]; found != nil {
		return found.count()
	}
	return 0
}

func (b *buckets[K, T]) view(k K) view[T] {
	if found := b.m[k]; found != nil {
		return found.view()
	}
	return view[T]{}
}
