// The hash table of the entries.

package workqueue

import "math/bits"

// table finds entries by the hash of their key. It is an array with linear probing. A map would hash every key again
// when it grows, and each key three times in its life; it would need more memory and never release it.
type table struct {
	slots []slot // the length is a power of two, and at least a quarter of it is free
	shift uint8  // the home slot of a hash is hash >> shift
	n     int
}

// slot is free if it has no entry. An entry is in the home slot of its hash or in a later one, with no free slot
// between.
type slot struct {
	hash uint32
	ref  ref
}

// fewestSlots is the size of the smallest table. Up to manySlots a table grows to four times its size, because it is
// copied less often then, and to twice its size from there on.
const fewestSlots, manySlots = 8, 4096

// fill puts s into the free slot that search returned.
func (t *table) fill(i uint32, s slot) {
	t.slots[i] = s
	t.n++
}

// put adds an entry whose key is not in the table. There must be room. It does not read the entry, which is not in the
// processor's cache when a large table is copied.
func (t *table) put(s slot) {
	mask := uint32(len(t.slots) - 1)
	i := s.hash >> t.shift & mask
	for t.slots[i].ref != 0 {
		i = (i + 1) & mask
	}
	t.fill(i, s)
}

// remove removes the entry r, and moves later ones up, so that no free slot lies between an entry and its home slot.
func (t *table) remove(hash uint32, r ref) {
	mask := uint32(len(t.slots) - 1)
	free := hash >> t.shift & mask
	for t.slots[free].ref != r {
		free = (free + 1) & mask
	}
	for i := (free + 1) & mask; t.slots[i].ref != 0; i = (i + 1) & mask {
		if home := t.slots[i].hash >> t.shift; (i-home)&mask >= (i-free)&mask {
			t.slots[free] = t.slots[i]
			free = i
		}
	}
	t.slots[free] = slot{}
	t.n--
}

// reserve makes room for one more.
func (t *table) reserve() {
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
		if s.ref != 0 {
			t.put(s)
		}
	}
}

// clear empties the table, and leaves room for twice as many entries as n.
func (t *table) clear(n int) {
	size := fewestSlots
	for size*3 < 2*n*4 {
		size *= 2
	}
	t.resize(size)
}

// resize makes an empty table.
func (t *table) resize(size int) {
	t.slots, t.shift, t.n = make([]slot, size), uint8(32-bits.TrailingZeros(uint(size))), 0
}
