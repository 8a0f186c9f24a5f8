package recorder

import "math/bits"

// lru is a map of bounded size. A new entry replaces the least recently used one when the map is full.
//
// Its entries lie in one slice and refer to each other by their indices. Maps of Go and lists of pointers take several
// times as much memory for values as small as these.
type lru[V any] struct {
	most    int        // less than 1<<16
	size    int        // number of keys
	entries []entry[V] // entries[0] is the root of the order; its newer is the least recently used entry
	heads   []uint16   // the first entry of each chain; their number is a power of two
	free    uint16     // the first of the chain of unused entries
}

type entry[V any] struct {
	key          digest
	value        V
	chain        uint16 // the next entry whose key belongs to the same chain, or the next unused entry; 0 ends a chain
	older, newer uint16
}

func newLRU[V any](most int) *lru[V] { return &lru[V]{most: most, entries: make([]entry[V], 1)} }

// get returns the value of a key, and makes one if there is none. The pointer is valid until the next call of a method.
func (l *lru[V]) get(key digest) *V {
	if i := l.find(key); i != 0 {
		l.unlink(i)
		l.link(i)
		return &l.entries[i].value
	}
	if l.size >= l.most {
		l.removeOldest()
	}
	i := l.unused()
	head := l.head(key)
	l.entries[i] = entry[V]{key: key, chain: *head}
	*head = i
	l.link(i)
	l.size++
	return &l.entries[i].value
}

// take removes a key, and returns its value. It returns false if there is none.
func (l *lru[V]) take(key digest) (value V, ok bool) {
	i := l.find(key)
	if i == 0 {
		return value, false
	}
	value = l.entries[i].value
	l.remove(i)
	return value, true
}

// removeOldest removes the least recently used key. There must be one.
func (l *lru[V]) removeOldest() { l.remove(l.entries[0].newer) }

// head returns the first entry of a key's chain.
func (l *lru[V]) head(key digest) *uint16 { return &l.heads[key[0]&uint64(len(l.heads)-1)] }

// find returns the index of a key, or 0.
func (l *lru[V]) find(key digest) uint16 {
	if l.size == 0 {
		return 0
	}
	i := *l.head(key)
	for i != 0 && l.entries[i].key != key {
		i = l.entries[i].chain
	}
	return i
}

func (l *lru[V]) remove(i uint16) {
	at := l.head(l.entries[i].key)
	for *at != i {
		at = &l.entries[*at].chain
	}
	*at = l.entries[i].chain
	l.unlink(i)
	l.entries[i] = entry[V]{chain: l.free}
	l.free = i
	l.size--
}

// link makes an entry the most recently used one.
func (l *lru[V]) link(i uint16) {
	newest := l.entries[0].older
	l.entries[i].older, l.entries[i].newer = newest, 0
	l.entries[newest].newer, l.entries[0].older = i, i
}

func (l *lru[V]) unlink(i uint16) {
	e := l.entries[i]
	l.entries[e.older].newer, l.entries[e.newer].older = e.newer, e.older
}

// unused returns the index of an entry to use.
func (l *lru[V]) unused() uint16 {
	if i := l.free; i != 0 {
		l.free = l.entries[i].chain
		return i
	}
	if len(l.entries) == cap(l.entries) {
		l.grow()
	}
	l.entries = append(l.entries, entry[V]{})
	return uint16(len(l.entries) - 1)
}

// grow doubles the room for entries, up to room for most entries.
func (l *lru[V]) grow() {
	room := min(max(16, 2*(cap(l.entries)-1)), l.most)
	l.entries = append(make([]entry[V], 0, 1+room), l.entries...)
	l.heads = make([]uint16, 1<<bits.Len(uint(room-1)))
	for i := 1; i < len(l.entries); i++ { // all entries are used, otherwise unused would not call grow
		e := &l.entries[i]
		head := l.head(e.key)
		e.chain, *head = *head, uint16(i)
	}
}
