package carry

import "iter"

// keyed finds the elements of a list by a key, in their order, and can remove elements. The cost of a step does not
// depend on how many elements have one key.
type keyed struct {
	keys  []string // of each element
	first map[string]int
	after []int // for each element, the next one with its key; -1 after the last
	ahead []int // for each element, the previous one with its key; -1 before the first
	there []bool
}

// keyElements returns a keyed of those of n elements that have a key.
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

// of yields the elements of a key that have not been taken, in order. The loop may take the present element only if
// the loop then ends.
func (k *keyed) of(key string) iter.Seq[int] {
	return func(yield func(int) bool) {
		i, ok := k.first[key]
		for ok && i >= 0 && yield(i) {
			i = k.after[i]
		}
	}
}

// has reports whether the element at i has the key and has not been taken.
func (k *keyed) has(i int, key string) bool {
	return i < len(k.there) && k.there[i] && k.keys[i] == key
}

// take removes an element that has not been taken.
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
