package recorder

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// keysOf returns the keys, the least recently used first, after it has checked that order, chains and size agree.
func keysOf[V any](t *testing.T, l *lru[V]) (keys []digest) {
	t.Helper()
	for i, older := l.entries[0].newer, uint16(0); i != 0; i, older = l.entries[i].newer, i {
		if e := l.entries[i]; l.find(e.key) != i || e.older != older || len(keys) > l.size {
			t.Fatalf("entry %d is wrong: %+v", i, e)
		}
		keys = append(keys, l.entries[i].key)
	}
	unused := 0
	for i := l.free; i != 0; i = l.entries[i].chain {
		unused++
	}
	if len(keys) != l.size || l.size > l.most || len(keys)+unused != len(l.entries)-1 {
		t.Fatalf("%d keys, counted as %d, %d unused entries of %d", len(keys), l.size, unused, len(l.entries)-1)
	}
	return keys
}

func TestTheEntryThatWasUsedLeastRecentlyMakesRoom(t *testing.T) {
	l := newLRU[int](3)
	a, b, c, d := digest{1}, digest{2}, digest{3}, digest{4}
	for i, k := range []digest{a, b, c} {
		*l.get(k) = i + 1
	}
	l.get(a) // so that b is the oldest
	*l.get(d) = 4
	if n := len(keysOf(t, l)); n != 3 {
		t.Errorf("there are %d entries", n)
	}
	for k, want := range map[digest]int{a: 1, c: 3, d: 4} {
		if got := *l.get(k); got != want {
			t.Errorf("%v is %d, want %d", k, got, want)
		}
	}
	if got := *l.get(b); got != 0 {
		t.Errorf("b is still %d", got)
	}
}

// The slice of entries does what a map and a list would do.
func TestAnLRUKeepsOrderAndValues(t *testing.T) {
	for seed := range uint64(20) {
		chance := rand.New(rand.NewPCG(seed, 3))
		l := newLRU[int](1 + chance.IntN(100))
		values, order := map[digest]int{}, []digest(nil)
		forget := func(k digest) {
			delete(values, k)
			order = slices.DeleteFunc(order, func(o digest) bool { return o == k })
		}
		for step := range 500 {
			// The first half of a digest is seldom enough to tell two keys apart here.
			k := digest{chance.Uint64N(8), chance.Uint64N(20)}
			was, known := values[k]
			switch chance.IntN(8) {
			case 0:
				if got, ok := l.take(k); ok != known || got != was {
					t.Fatalf("seed %d, step %d: took %d, %v, want %d, %v", seed, step, got, ok, was, known)
				}
				forget(k)
			case 1:
				if len(order) > 0 {
					l.removeOldest()
					forget(order[0])
				}
			default:
				v := l.get(k)
				if *v != was {
					t.Fatalf("seed %d, step %d: got %d, want %d", seed, step, *v, was)
				}
				*v = step
				if !known && len(order) == l.most {
					forget(order[0])
				}
				forget(k)
				values[k], order = step, append(order, k)
			}
			if keys := keysOf(t, l); !slices.Equal(keys, order) {
				t.Fatalf("seed %d, step %d: the keys are %v, want %v", seed, step, keys, order)
			}
		}
	}
}
