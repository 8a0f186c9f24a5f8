package cache

import "slices"

// rows holds the entries in a fixed order. An object keeps its row through all its states: a new state takes the row of
// the previous one. So indexes hold row numbers, and an update that changes no value of an index does not touch it.
//
// A view of the rows is taken in constant time, without copying, and later writes do not change it. For that the rows lie
// in chunks. A writer changes a chunk in place only if it made that chunk after the last view was taken, and otherwise
// replaces it by a copy; likewise the slice of chunks. Generations decide what is "after the last view": the store
// increments its generation at the first write after a view, and each chunk carries the generation in which it was made.
// So bulk loading copies nothing, and a write beside busy readers copies one chunk, not everything.
//
// The zero rows is empty. It is guarded by the lock of the store.
type rows[T any] struct {
	chunks []*chunk[T] // nil for a chunk without entries
	gen    uint64      // the generation that the slice chunks was made in
	n      int         // entries
	used   uint32      // rows allocated since the last renumbering
	free   []uint32    // the free ones among them
}

// chunk holds chunkSize consecutive rows, as far as they are used.
type chunk[T any] struct {
	gen   uint64
	n     int
	items []*entry[T] // nil where a row is free
}

// chunkSize is the number of rows of a chunk: 2 KiB of references, so that a copy costs about as much as a map insert.
const chunkSize = 256

// next allocates a row.
func (r *rows[T]) next() uint32 {
	if last := len(r.free) - 1; last >= 0 {
		row := r.free[last]
		r.free = r.free[:last]
		return row
	}
	r.used++
	return r.used - 1
}

// at returns the entry in a row that is not free.
func (r *rows[T]) at(row uint32) *entry[T] { return r.chunks[row/chunkSize].items[row%chunkSize] }

// put stores e in its row.
func (r *rows[T]) put(e *entry[T], gen uint64) {
	c := r.own(int(e.row/chunkSize), gen)
	i := int(e.row % chunkSize)
	for len(c.items) <= i {
		c.items = append(c.items, nil)
	}
	if c.items[i] == nil {
		c.n++
		r.n++
	}
	c.items[i] = e
}

// drop frees e's row.
func (r *rows[T]) drop(e *entry[T], gen uint64) {
	i := int(e.row / chunkSize)
	c := r.own(i, gen)
	c.items[e.row%chunkSize] = nil
	c.n--
	r.n--
	if c.n == 0 {
		r.chunks[i] = nil
	}
	if r.n == 0 {
		*r = rows[T]{}
		return
	}
	r.free = append(r.free, e.row)
}

// own returns chunk i, copied if necessary, to be changed in place.
func (r *rows[T]) own(i int, gen uint64) *chunk[T] {
	if r.gen != gen {
		r.chunks, r.gen = slices.Clone(r.chunks), gen
	}
	for len(r.chunks) <= i {
		r.chunks = append(r.chunks, nil)
	}
	switch c := r.chunks[i]; {
	case c == nil:
		r.chunks[i] = &chunk[T]{gen: gen}
	case c.gen != gen:
		r.chunks[i] = &chunk[T]{gen: gen, n: c.n, items: slices.Clone(c.items)}
	}
	return r.chunks[i]
}

// sparse reports whether enough rows are free to make renumbering worthwhile.
func (r *rows[T]) sparse() bool { return r.used > tableFloor && r.n < int(r.used/8) }

// renumber compacts the entries, in their order, and returns the new row of each old one. Views do not change.
func (r *rows[T]) renumber(gen uint64) []uint32 {
	to := make([]uint32, r.used)
	var packed rows[T]
	for _, c := range r.chunks {
		if c == nil {
			continue
		}
		for _, e := range c.items {
			if e != nil {
				row := packed.next()
				to[e.row] = row
				e.row = row
				packed.put(e, gen)
			}
		}
	}
	*r = packed
	return to
}

// view is the content of some rows, or of all, at the moment when the view was taken. It needs no lock.
type view[T any] struct {
	chunks []*chunk[T]
	all    bool // all rows, not only few and runs
	few    []uint32
	runs   []*run
}

func (r *rows[T]) view() view[T] { return view[T]{chunks: r.chunks, all: true} }

// only restricts a view to the rows of s.
func (v view[T]) only(s rowSet) view[T] {
	v.all = false
	v.few = s.few
	if s.many != nil {
		v.runs = s.many.runs
	}
	return v
}

// each calls yield with each object until yield returns false, and reports whether it never did.
func (v *view[T]) each(yield func(T) bool) bool {
	if v.all {
		for _, c := range v.chunks {
			if c != nil && !eachOf(c.items, yield) {
				return false
			}
		}
		return true
	}
	if !v.eachIn(v.few, yield) {
		return false
	}
	for _, r := range v.runs {
		if !v.eachIn(r.rows, yield) {
			return false
		}
	}
	return true
}

// entries returns the entries of a view of all.
func (v *view[T]) entries() []*entry[T] {
	n := 0
	for _, c := range v.chunks {
		if c != nil {
			n += c.n
		}
	}
	entries := make([]*entry[T], 0, n)
	for _, c := range v.chunks {
		if c == nil {
			continue
		}
		for _, e := range c.items {
			if e != nil {
				entries = append(entries, e)
			}
		}
	}
	return entries
}

func (v *view[T]) eachIn(rows []uint32, yield func(T) bool) bool {
	for _, row := range rows {
		if !yield(v.chunks[row/chunkSize].items[row%chunkSize].obj) {
			return false
		}
	}
	return true
}

func eachOf[T any](entries []*entry[T], yield func(T) bool) bool {
	for _, e := range entries {
		if e != nil && !yield(e.obj) {
			return false
		}
	}
	return true
}
