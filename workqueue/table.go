// The hash table of the entries.

package workqueue

import (
	"iter"
	"math/bits"
)

// table finds entries by key. It is an array with linear probing. A map would hash every key again when it grows, and each
// key three times in its life; it would need more memory, and never give it back.
type table[K comparable] struct {
	slots []slot[K] // the length is a power of two, and at least a quarter of it is free
	shift uint8     // the home slot of a hash is hash >> shift
	n     int
}

// slot is free if it has no entry. An entry is in the home slot of its hash or in a later one, with no free slot between.
type slot[K comparable] struct {
	hash  uint32
	entry *entry[K]
}

// fewestSlots is the size of the smallest table. Up to manySlots a table grows to four times its size, because it is copied
// less often then, and to twice its size from there on.
const fewestSlots, manySlots = 8, 4096

// search returns the slot of k, or the one where it belongs. The table must not be empty.
func (t *table[K]) search(hash uint32, k K) (i uint32, found bool) {
	mask := uint32(len(t.slots) - 1)
	for i = hash >> t.shift & mask; t.slots[i].entry != nil; i = (i + 1) & mask {
		if s := &t.slots[i]; s.hash == hash && s.entry.key == k {
			return i, true
		}
	}
	return i, false
}

// find returns the entry of k, nil if there is none.
func (t *table[K]) find(hash uint32, k K) *entry[K] {
	if t.n == 0 {
		return nil
	}
	if i, found := t.search(hash, k); found {
		return t.slots[i].entry
	}
	return nil
}

// fill puts s into the free slot that search returned.
func (t *table[K]) fill(i uint32, s slot[K]) {
	t.slots[i] = s
	t.n++
}

// put adds an entry whose key is not in the table. There must be room. It does not read the entry, which is not in the
// processor's cache when a large table is copied.
func (t *table[K]) put(s slot[K]) {
	mask := uint32(len(t.slots) - 1)
	i := s.hash >> t.shift & mask
	for t.slots[i].entry != nil {
		i = (i + 1) & mask
	}
	t.fill(i, s)
}

// remove removes an entry, and moves later ones up, so that no free slot lies between an entry and its home slot.
func (t *table[K]) remove(e *entry[K]) {
	mask := uint32(len(t.slots) - 1)
	free := e.hash >> t.shift & mask
	for t.slots[free].entry != e {
		free = (free + 1) & mask
	}
	for i := (free + 1) & mask; t.slots[i].entry != nil; i = (i + 1) & mask {
		if home := t.slots[i].hash >> t.shift; (i-home)&mask >= (i-free)&mask {
			t.slots[free] = t.slots[i]
			free = i
		}
	}
	t.slots[free] = slot[K]{}
	t.n--
}

// reserve makes room for one more.
func (t *table[K]) reserve() {
	size := len(t.slots)
	if (t.n+1)*4 <= size*3 {
		return
	}
	if size < manySlots {
		size *= 4
	} else {
		size *= 2
	}
	before := t.slots
	t.resize(max(size, fewestSlots))
	for _, s := range before {
		if s.entry != nil {
			t.put(s)
		}
	}
}

// clear empties the table, and leaves room for twice as many entries as n.
func (t *table[K]) clear(n int) {
	size := fewestSlots
	for size*3 < 2*n*4 {
		size *= 2
	}
	t.resize(size)
}

// resize makes an empty table.
func (t *table[K]) resize(size int) {
	t.slots, t.shift, t.n = make([]slot[K], size), uint8(32-bits.TrailingZeros(uint(size))), 0
}

// all returns the entries, in no order. The table must not change meanwhile.
func (t *table[K]) all() iter.Seq[*entry[K]] {
	return func(yield func(*entry[K]) bool) {
		for i := range t.slots {
			if e := t.slots[i].entry; e != nil && !yield(e) {
				return
			}
		}
	}
}
