package cache

import (
	"slices"
	"sort"
)

// rows is a sequence of entries that can be looked at without a lock: a view of it is taken in constant time, without
// copying, and stays as it is whatever is written later. It is sorted by entry.seq, so an entry is found by binary
// search and no entry has to know its place in each sequence that it is part of.
//
// The entries lie in chunks. A writer changes a chunk in place only if it made that chunk after the last view was
// taken, and replaces it by a copy otherwise; likewise the slice of chunks. "After the last view" is told by
// generations: the store counts up its generation at the first write after a view, and each chunk carries the
// generation that it was made in. So bulk loading copies nothing, and a write beside busy readers copies one chunk,
// not the sequence.
//
// The zero rows is empty. It is guarded by the lock of the store.
type rows[T any] struct {
	chunks []*chunk[T]
	gen    uint64 // the generation that the slice chunks was made in
	n      int
}

// chunk is a run of entries, never empty.
type chunk[T any] struct {
	gen   uint64
	items []*entry[T]
}

// chunkSize is the most entries of one chunk: 2 KiB of references, so that a copy costs about as much as a map insert.
const chunkSize = 256

// find returns where seq is, or else where it belongs: chunk i at j. A seq beyond the last one belongs to the chunk
// after the last, which is where new objects go.
func (r *rows[T]) find(seq uint64) (i, j int, found bool) {
	i = len(r.chunks)
	if i == 0 || r.chunks[i-1].last() < seq {
		return i, 0, false
	}
	i = sort.Search(i, func(i int) bool { return r.chunks[i].last() >= seq })
	items := r.chunks[i].items
	j = sort.Search(len(items), func(j int) bool { return items[j].seq >= seq })
	return i, j, items[j].seq == seq
}

func (c *chunk[T]) last() uint64 { return c.items[len(c.items)-1].seq }

// put adds e, or puts it in the place of the entry with the same seq.
func (r *rows[T]) put(e *entry[T], gen uint64) {
	i, j, found := r.find(e.seq)
	if found {
		r.own(i, gen).items[j] = e
		return
	}
	r.n++
	if i == len(r.chunks) {
		if i > 0 && len(r.chunks[i-1].items) < chunkSize {
			c := r.own(i-1, gen)
			c.items = append(c.items, e)
			return
		}
		r.ownChunks(gen)
		r.chunks = append(r.chunks, &chunk[T]{gen: gen, items: []*entry[T]{e}})
		return
	}
	c := r.own(i, gen)
	if len(c.items) == chunkSize {
		right := &chunk[T]{gen: gen, items: slices.Clone(c.items[chunkSize/2:])}
		clear(c.items[chunkSize/2:])
		c.items = c.items[:chunkSize/2]
		r.chunks = slices.Insert(r.chunks, i+1, right)
		if j > chunkSize/2 {
			c, j = right, j-chunkSize/2
		}
	}
	c.items = slices.Insert(c.items, j, e)
}

// drop removes e if it is there; another entry with the same seq stays.
func (r *rows[T]) drop(e *entry[T], gen uint64) {
	i, j, found := r.find(e.seq)
	if !found || r.chunks[i].items[j] != e {
		return
	}
	r.n--
	c := r.own(i, gen)
	c.items = slices.Delete(c.items, j, j+1)
	switch {
	case len(c.items) == 0:
		r.chunks = slices.Delete(r.chunks, i, i+1)
	case len(c.items) < chunkSize/4:
		r.merge(i, gen)
	}
}

// merge joins chunk i to a neighbour where the two fill no more than half a chunk, so that deletions do not leave a
// long sequence of short chunks, and the next insertion does not split it again.
func (r *rows[T]) merge(i int, gen uint64) {
	for _, left := range [2]int{i - 1, i} {
		if left < 0 || left+1 >= len(r.chunks) ||
			len(r.chunks[left].items)+len(r.chunks[left+1].items) > chunkSize/2 {
			continue
		}
		c := r.own(left, gen)
		c.items = append(c.items, r.chunks[left+1].items...)
		r.chunks = slices.Delete(r.chunks, left+1, left+2)
		return
	}
}

// own returns chunk i for changing in place.
func (r *rows[T]) own(i int, gen uint64) *chunk[T] {
	r.ownChunks(gen)
	c := r.chunks[i]
	if c.gen != gen {
		c = &chunk[T]{gen: gen, items: slices.Clone(c.items)}
		r.chunks[i] = c
	}
	return c
}

func (r *rows[T]) ownChunks(gen uint64) {
	if r.gen != gen {
		r.chunks, r.gen = slices.Clone(r.chunks), gen
	}
}

// view is a sequence of entries as it was when the view was taken. It needs no lock. At most one of its fields is set.
type view[T any] struct {
	one    *entry[T]
	few    []*entry[T]
	chunks []*chunk[T]
}

func (r *rows[T]) view() view[T] { return view[T]{chunks: r.chunks} }
func (r *rows[T]) count() int    { return r.n }

// each calls yield with each object until it returns false.
func (v view[T]) each(yield func(T) bool) {
	if v.one != nil {
		yield(v.one.obj)
		return
	}
	if !each(v.few, yield) {
		return
	}
	for _, c := range v.chunks {
		if !each(c.items, yield) {
			return
		}
	}
}

func each[T any](entries []*entry[T], yield func(T) bool) bool {
	for _, e := range entries {
		if !yield(e.obj) {
			return false
		}
	}
	return true
}
