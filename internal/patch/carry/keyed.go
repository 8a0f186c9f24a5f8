package carry

import "iter"

// keyed finds the elements of a list by a key, in their order, and lets them be taken out. Each step costs the same however
// many elements have one key.
type keyed struct {
	keys  []string // of each element
	first map[string]int
	after []int // for each element, the next one of its key; -1 behind the last
	ahead []int // for each element, the one of its key before it; -1 ahead of the first
	there []bool
}

// keyElements makes a keyed of the elements from 0 to n for which key reports that they have one.
func keyElements(n int, key func(i int) (string, bool)) *keyed {
	k := &keyed{keys: make([]string, n), first: make(map[string]int), after: make([]int, n), ahead: make([]int, n), there: make([]bool, n)}
	for i := n - 1; i >= 0; i-- {
		if k.keys[i], k.there[i] = key(i); !k.there[i] {
			continue
		}
		k.after[i], k.ahead[i] = -1, -1
		if next, ok := k.first[k.keys[i]]; ok {
			k.after[i], k.ahead[next] = next, i
		}
		k.first[k.keys[i]] = i
	}
	return k
}

// of yields the elements of a key that have not been taken, in their order. The element that is yielded may be taken, if the
// loop ends with it.
func (k *keyed) of(key string) iter.Seq[int] {
	return func(yield func(int) bool) {
		i, ok := k.first[key]
		for ok && i >= 0 && yield(i) {
			i = k.after[i]
		}
	}
}

// has reports whether the element at i has a key and has not been taken.
func (k *keyed) has(i int, key string) bool {
	return i < len(k.there) && k.there[i] && k.keys[i] == key
}

// take takes out an element that has not been taken.
func (k *keyed) take(i int) {
	k.there[i] = false
	before, next := k.ahead[i], k.after[i]
	if next >= 0 {
		k.ahead[next] = before
	}
	switch {
	case before >= 0:
		k.after[before] = next
	case next >= 0:
		k.first[k.keys[i]] = next
	default:
		delete(k.first, k.keys[i])
	}
}
