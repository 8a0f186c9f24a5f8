package store

import (
	"hash/maphash"
	"sync/atomic"

	"github.com/bowline-go/bowline/client/meta"
)

// keys finds entries by key. It is a hash table with linear probing that holds only references, because an entry knows
// its key; so it takes about a third of the memory of a map. One writer changes it, and any number of readers may
// search it at the same time without a lock. A search during a change may miss an entry, or return one that has been
// replaced. So a reader without the store's lock checks Store.moment before and after.
//
// The zero keys is empty.
type keys[T any] struct {
	slots atomic.Pointer[slots[T]]
	n     int
}

// slots is the array of a table; its length is a power of two, and at least a quarter of it is free. The low bits of
// an entry's tag name its home slot. The entry is there or in a later slot, with no free slot between.
type slots[T any] struct {
	tags    []uint32 // read and written atomically; 0 is a free slot
	entries []atomic.Pointer[entry[T]]
}

// fewestSlots is the size of the smallest table.
const fewestSlots = 8

// tagOf returns the part of k's hash that tables use. It is never 0.
func tagOf(seed maphash.Seed, k meta.Key) uint32 { return uint32(maphash.Comparable(seed, k)) | 1<<31 }

// find returns the entry at k, or nil. tag is the tag of k.
func (t *keys[T]) find(tag uint32, k meta.Key) *entry[T] {
	s := t.slots.Load()
	if s == nil {
		return nil
	}
	mask := uint32(len(s.tags) - 1)
	// The bound is for readers without a lock: during a change they may miss the free slot.
	for i, tried := tag&mask, uint32(0); tried <= mask; i, tried = (i+1)&mask, tried+1 {
		switch atomic.LoadUint32(&s.tags[i]) {
		case 0:
			return nil
		case tag:
			if e := s.entries[i].Load(); e != nil && e.key == k {
				return e
			}
		}
	}
	return nil
}

// place returns the slot of e. e must be in the table.
func (s *slots[T]) place(e *entry[T]) uint32 {
	mask := uint32(len(s.tags) - 1)
	i := e.tag & mask
	for s.entries[i].Load() != e {
		i = (i + 1) & mask
	}
	return i
}

// replace puts now, which has the same key, into the slot of old.
func (t *keys[T]) replace(old, now *entry[T]) {
	s := t.slots.Load()
	s.entries[s.place(old)].Store(now)
}

// add adds an entry whose key is not in the table.
func (t *keys[T]) add(e *entry[T]) {
	t.reserve(1)
	t.n++
	t.slots.Load().add(e)
}

func (s *slots[T]) add(e *entry[T]) {
	mask := uint32(len(s.tags) - 1)
	i := e.tag & mask
	for s.tags[i] != 0 {
		i = (i + 1) & mask
	}
	s.entries[i].Store(e)
	atomic.StoreUint32(&s.tags[i], e.tag)
}

// drop removes an entry, and moves later ones up, so that no free slot lies between an entry and its home slot.
func (t *keys[T]) drop(e *entry[T]) {
	s := t.slots.Load()
	mask := uint32(len(s.tags) - 1)
	free := s.place(e)
	for i := (free + 1) & mask; s.tags[i] != 0; i = (i + 1) & mask {
		if home := s.tags[i] & mask; (i-home)&mask >= (i-free)&mask {
			s.entries[free].Store(s.entries[i].Load())
			atomic.StoreUint32(&s.tags[free], s.tags[i])
			free = i
		}
	}
	atomic.StoreUint32(&s.tags[free], 0)
	s.entries[free].Store(nil)
	t.n--
	if len(s.tags) > tableFloor && t.n < len(s.tags)/16 {
		t.resize(t.n)
	}
}

// reserve makes room for n more.
func (t *keys[T]) reserve(n int) {
	room := 0
	if s := t.slots.Load(); s != nil {
		room = len(s.tags)
	}
	if (t.n+n)*4 > room*3 {
		t.resize(max(t.n+n, 2*t.n))
	}
}

// copy makes t a copy of other with room for n more.
func (t *keys[T]) copy(other *keys[T], n int) {
	if old := other.slots.Load(); old != nil {
		s := &slots[T]{tags: make([]uint32, len(old.tags)), entries: make([]atomic.Pointer[entry[T]], len(old.entries))}
		copy(s.tags, old.tags) // the caller keeps writers away from both
		copy(s.entries, old.entries)
		t.slots.Store(s)
	}
	t.n = other.n
	t.reserve(n)
}

// become takes over the slots of other. Readers that search without a lock see this as one step.
func (t *keys[T]) become(other *keys[T]) {
	t.slots.Store(other.slots.Load())
	t.n = other.n
}

// resize makes a table with room for n.
func (t *keys[T]) resize(n int) {
	size := fewestSlots
	for size*3 < n*4 {
		size *= 2
	}
	old := t.slots.Load()
	s := &slots[T]{tags: make([]uint32, size), entries: make([]atomic.Pointer[entry[T]], size)}
	if old != nil {
		for i := range old.entries {
			if e := old.entries[i].Load(); e != nil {
				s.add(e)
			}
		}
	}
	t.slots.Store(s)
}
