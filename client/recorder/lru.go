package recorder

import "container/list"

// lru is a map of bounded size. A new entry replaces the least recently used one when the map is full.
type lru[K comparable, V any] struct {
	most    int
	entries map[K]*list.Element // of entry
	order   list.List           // the least recently used first
}

type entry[K comparable, V any] struct {
	key   K
	value *V
}

func newLRU[K comparable, V any](most int) *lru[K, V] {
	return &lru[K, V]{most: most, entries: make(map[K]*list.Element)}
}

// get returns the value of a key, and makes one if there is none.
func (l *lru[K, V]) get(key K) *V {
	if e := l.entries[key]; e != nil {
		l.order.MoveToBack(e)
		return e.Value.(entry[K, V]).value
	}
	if len(l.entries) >= l.most {
		oldest := l.order.Front()
		delete(l.entries, l.order.Remove(oldest).(entry[K, V]).key)
	}
	v := new(V)
	l.entries[key] = l.order.PushBack(entry[K, V]{key, v})
	return v
}
