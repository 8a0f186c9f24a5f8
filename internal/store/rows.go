package store

import "slices"

// rows holds the entries in a fixed order. An object keeps its row through all its states: a new state takes the row
// of the previous one. So indexes hold row numbers, and an update that changes no value of an index does not touch it.
//
// A view of the rows is taken in constant time, without copying, and later writes do not change it. To make that
// possible, the rows lie in a tree of three levels. A writer changes a chunk in place only if it made that chunk after
// the last view was taken, and otherwise replaces it by a copy; likewise the branch and the root. Generations decide
// what is "after the last view": the store increments its generation at the first write after a view, and each part
// carries the generation in which it was made. So bulk loading copies nothing, and a write beside busy readers copies
// a chunk, a branch and the root: 1 KiB, and 2 more for a million entries.
//
// The zero rows is empty. It is guarded by the lock of the store.
type rows[T any] struct {
	tree tree[T]
	gen  uint64   // the generation that the root was made in
	n    int      // entries
	used uint32   // rows allocated since the last renumbering
	free []uint32 // the free ones among them
}

// tree is the root of the rows: branches of branchSize chunks, nil for a branch without entries.
type tree[T any] []*branch[T]

// branch holds consecutive chunks, as far as they are used.
type branch[T any] struct {
	gen    uint64
	n      int         // chunks that are not nil
	chunks []*chunk[T] // nil for a chunk without entries
}

// chunk holds chunkSize consecutive rows, as far as they are used.
type chunk[T any] struct {
	gen   uint64
	n     int
	items []*entry[T] // nil where a row is free
}

// chunkSize is the number of rows of a chunk, and branchSize that of chunks of a branch: half a KiB of references
// each, so that a copy costs less than a map insert.
const chunkSize, branchSize = 64, 64

// at returns the entry in a row that is not free.
func (t tree[T]) at(row uint32) *entry[T] {
	return t[row/chunkSize/branchSize].chunks[row/chunkSize%branchSize].items[row%chunkSize]
}

// each calls yield with each chunk that has entries, until yield returns false.
func (t tree[T]) each(yield func(*chunk[T]) bool) {
	for _, b := range t {
		if b == nil {
			continue
		}
		for _, c := range b.chunks {
			if c != nil && !yield(c) {
				return
			}
		}
	}
}

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
func (r *rows[T]) at(row uint32) *entry[T] { return r.tree.at(row) }

// put stores e in its row.
func (r *rows[T]) put(e *entry[T], gen uint64) {
	_, c := r.own(e.row, gen)
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
	b, c := r.own(e.row, gen)
	c.items[e.row%chunkSize] = nil
	c.n--
	r.n--
	if c.n == 0 {
		b.chunks[e.row/chunkSize%branchSize] = nil
		b.n--
	}
	if b.n == 0 {
		r.tree[e.row/chunkSize/branchSize] = nil
	}
	if r.n == 0 {
		*r = rows[T]{}
		return
	}
	r.free = append(r.free, e.row)
}

// own returns the branch and the chunk of a row, copied if necessary, to be changed in place.
func (r *rows[T]) own(row uint32, gen uint64) (*branch[T], *chunk[T]) {
	i := int(row / chunkSize / branchSize)
	if r.gen != gen {
		r.tree, r.gen = slices.Clone(r.tree), gen
	}
	for len(r.tree) <= i {
		r.tree = append(r.tree, nil)
	}
	b := r.tree[i]
	if b == nil {
		b = &branch[T]{gen: gen}
		r.tree[i] = b
	} else if b.gen != gen {
		b = &branch[T]{gen: gen, n: b.n, chunks: slices.Clone(b.chunks)}
		r.tree[i] = b
	}
	i = int(row / chunkSize % branchSize)
	for len(b.chunks) <= i {
		b.chunks = append(b.chunks, nil)
	}
	c := b.chunks[i]
	if c == nil {
		c = &chunk[T]{gen: gen}
		b.chunks[i] = c
		b.n++
	} else if c.gen != gen {
		c = &chunk[T]{gen: gen, n: c.n, items: slices.Clone(c.items)}
		b.chunks[i] = c
	}
	return b, c
}

// fewestRows is the number below which rows are not renumbered.
const fewestRows = 1024

// sparse reports whether enough rows are free to make renumbering worthwhile.
func (r *rows[T]) sparse() bool { return r.used > fewestRows && r.n < int(r.used/8) }

// renumber compacts the entries, in their order, and returns the new row of each old one. Views do not change.
func (r *rows[T]) renumber(gen uint64) []uint32 {
	to := make([]uint32, r.used)
	var packed rows[T]
	for c := range r.tree.each {
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
	tree tree[T]
	all  bool // the view has all rows; otherwise it has few and runs
	few  []uint32
	runs []*run

	packs *packs[T] // of the store
}

func (r *rows[T]) view() view[T] { return view[T]{tree: r.tree, all: true} }

// viewAll returns the view of everything. The caller holds mu.
func (s *Store[T]) viewAll() view[T] {
	v := s.all.view()
	v.packs = s.packs
	return v
}

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
		for c := range v.tree.each {
			if !v.eachOf(c.items, yield) {
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
	for c := range v.tree.each {
		n += c.n
	}
	entries := make([]*entry[T], 0, n)
	for c := range v.tree.each {
		for _, e := range c.items {
			if e != nil {
				entries = append(entries, e)
			}
		}
	}
	return entries
}

func (v *view[T]) eachIn(rows []uint32, yield func(T) bool) bool {
	if v.packs != nil {
		return v.packs.eachIn(v.tree, rows, yield)
	}
	for _, row := range rows {
		if !yield(v.tree.at(row).obj) {
			return false
		}
	}
	return true
}

func (v *view[T]) eachOf(entries []*entry[T], yield func(T) bool) bool {
	if v.packs != nil {
		return v.packs.each(entries, yield)
	}
	for _, e := range entries {
		if e != nil && !yield(e.obj) {
			return false
		}
	}
	return true
}
