package store

import "maps"

// table is a map that gives memory back. A Go map never shrinks: after a list of 100,000 objects has been delivered,
// or a namespace of that size deleted, an empty map would keep the room for them forever.
//
// The zero table is empty. It does not lock.
type table[K comparable, V any] struct {
	m    map[K]V
	peak int
}

// tableFloor is the size below which a table is never rebuilt. A program may have thousands of subscriptions, each
// with tables that are empty most of the time.
const tableFloor = 32

func (t *table[K, V]) len() int { return len(t.m) }

// reserve makes room for n entries if the table is empty.
func (t *table[K, V]) reserve(n int) {
	if len(t.m) == 0 && n > 0 {
		t.m, t.peak = make(map[K]V, n), n
	}
}

func (t *table[K, V]) put(k K, v V) {
	if t.m == nil {
		t.m = make(map[K]V)
	}
	t.m[k] = v
	t.peak = max(t.peak, len(t.m))
}

// drop removes k. It rebuilds the map once seven eighths of the entries have gone. Rebuilding copies the remaining
// eighth: one entry for every seven that were removed.
func (t *table[K, V]) drop(k K) {
	delete(t.m, k)
	if t.peak < tableFloor || len(t.m) > t.peak/8 {
		return
	}
	old := t.m
	t.m, t.peak = make(map[K]V, len(old)), len(old)
	maps.Copy(t.m, old)
}
