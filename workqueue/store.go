// Where the entries of all keys are kept.

package workqueue

import "iter"

// store has the entries of all keys. An entry is reused when its key is gone, so a queue of a steady size allocates
// nothing. An entry does not move while its key is in progress, because its worker has a pointer to it.
type store[K comparable] struct {
	table  table
	peak   int // the highest table.n since the memory of an earlier peak was released
	blocks [][]entry[K]
	used   int // how many entries of the last block have been handed out so far
	free   ref // the first of the entries that were handed out and are free now

	grouped bool          // entries have groups
	owners  [][]*group[K] // the groups of the entries in blocks, if grouped
}

// ref names an entry: it is the entry's place in the blocks, plus 1; 0 means no entry. Lists and the table refer to
// entries by it. It is half as long as a pointer, and the garbage collector, which would follow four pointers to each
// entry, does not look at it.
type ref uint32

// blockSize is the number of entries in a block. The first blocks have as many entries as there are keys, but at least
// smallestBlock; the refs of the missing entries are not used.
const blockSize, smallestBlock = 128, 8

// minRoom is the number of keys below which shrinking is not worthwhile.
const minRoom = 1024

// at returns the entry that r names. r must not be 0.
func (s *store[K]) at(r ref) *entry[K] { return &s.blocks[(r-1)/blockSize][(r-1)%blockSize] }

// owner returns the place that holds the group of e. The entries must have groups.
func (s *store[K]) owner(e *entry[K]) **group[K] {
	return &s.owners[(e.ref-1)/blockSize][(e.ref-1)%blockSize]
}

// search returns the slot of k, or the one where it belongs. The table must not be empty.
func (s *store[K]) search(hash uint32, k K) (i uint32, found bool) {
	t := &s.table
	mask := uint32(len(t.slots) - 1)
	for i = hash >> t.shift & mask; t.slots[i].ref != 0; i = (i + 1) & mask {
		if slot := t.slots[i]; slot.hash == hash && s.at(slot.ref).key == k {
			return i, true
		}
	}
	return i, false
}

// find returns the entry of k, nil if there is none.
func (s *store[K]) find(hash uint32, k K) *entry[K] {
	if s.table.n == 0 {
		return nil
	}
	if i, found := s.search(hash, k); found {
		return s.at(s.table.slots[i].ref)
	}
	return nil
}

// get returns the entry of k, a new one if there is none.
func (s *store[K]) get(hash uint32, k K) *entry[K] {
	s.table.reserve()
	i, found := s.search(hash, k)
	if found {
		return s.at(s.table.slots[i].ref)
	}
	e := s.blank()
	e.key, e.hash = k, hash
	e.due, e.index, e.seat = never, -1, -1
	s.table.fill(i, slot{hash, e.ref})
	return e
}

// blank returns an entry that is not in use.
func (s *store[K]) blank() *entry[K] {
	if s.free != 0 {
		e := s.at(s.free)
		s.free, e.next = e.next, 0
		return e
	}
	last := len(s.blocks) - 1
	if last < 0 || s.used == len(s.blocks[last]) {
		s.blocks = append(s.blocks, make([]entry[K], min(max(s.table.n, smallestBlock), blockSize)))
		s.used = 0
		last++
		if s.grouped {
			s.owners = append(s.owners, make([]*group[K], len(s.blocks[last])))
		}
	}
	e := &s.blocks[last][s.used]
	e.ref = ref(last*blockSize + s.used + 1)
	s.used++
	return e
}

// all returns the entries, in no particular order. No key may be added or removed during the loop.
func (s *store[K]) all() iter.Seq[*entry[K]] {
	return func(yield func(*entry[K]) bool) {
		for i := range s.table.slots {
			if r := s.table.slots[i].ref; r != 0 && !yield(s.at(r)) {
				return
			}
		}
	}
}

// drop removes e, which is neither pending nor in progress. When an eighth of a peak is left, the queue shrinks.
func (q *Queue[K]) drop(e *entry[K]) {
	s := &q.store
	s.peak = max(s.peak, s.table.n)
	s.table.remove(e.hash, e.ref)
	if s.grouped {
		owner := s.owner(e)
		q.fair.leave(*owner)
		*owner = nil
	}
	*e = entry[K]{ref: e.ref, next: s.free}
	s.free = e.ref
	if s.peak >= minRoom && s.table.n <= s.peak/8 {
		q.shrink()
	}
}

// shrink releases the memory of a peak: it copies one entry for every seven that are gone. The block of an entry whose
// key is in progress is kept. All refs change. An entry that is not in progress is in a list, or in delays, or in
// throttled and delays.
func (q *Queue[K]) shrink() {
	before := q.store
	q.store = store[K]{peak: before.table.n, grouped: before.grouped}
	q.store.table.clear(before.table.n)
	q.keep(&before)
	for r := range q.allReady() {
		for l := range r.levels() {
			q.moveList(&before, &l.list)
		}
	}
	q.moveList(&before, &q.throttled)
	for _, e := range q.delays {
		if !e.running() && !e.throttled {
			q.move(&before, e)
		}
	}
}

// keep takes over the blocks that have entries in progress.
func (q *Queue[K]) keep(before *store[K]) {
	s := &q.store
	kept := map[ref]ref{} // the new numbers of blocks
	for _, r := range q.running {
		e := r.entry
		number := (e.ref - 1) / blockSize
		if _, ok := kept[number]; !ok {
			kept[number] = ref(len(s.blocks))
			s.blocks = append(s.blocks, before.blocks[number])
			if s.grouped {
				s.owners = append(s.owners, before.owners[number])
			}
			s.used = len(before.blocks[number]) // the other entries of this block are not reused
		}
		e.ref = kept[number]*blockSize + (e.ref-1)%blockSize + 1
		s.table.put(slot{e.hash, e.ref})
	}
}

// moveList moves the entries of l, whose refs are those of the store before.
func (q *Queue[K]) moveList(before *store[K], l *list[K]) {
	r := l.first
	*l = list[K]{}
	for r != 0 {
		e := before.at(r)
		r = e.next
		if !e.running() {
			e = q.move(before, e)
		}
		l.push(&q.store, e)
	}
}

// move copies e to a new entry, which takes its place in heaps and in the table.
func (q *Queue[K]) move(before *store[K], e *entry[K]) *entry[K] {
	moved := q.store.blank()
	r := moved.ref
	*moved = *e
	moved.ref = r
	if q.store.grouped {
		*q.store.owner(moved) = *before.owner(e)
	}
	switch {
	case e.index < 0:
	case e.listed():
		q.readyOf(moved).front[e.index] = moved
	default:
		q.delays[e.index] = moved
	}
	q.store.table.put(slot{moved.hash, moved.ref})
	return moved
}
