// A heap of entries.

package workqueue

// heap has the entry with the lowest order at its start; of those with the same order, the one with the lowest
// sequence. An entry knows its place, and is in one heap at most.
type heap[K comparable] []*entry[K]

func before[K comparable](a, b *entry[K]) bool {
	return a.order < b.order || a.order == b.order && a.sequence < b.sequence
}

func (h *heap[K]) push(e *entry[K]) {
	e.index = int32(len(*h))
	*h = append(*h, e)
	h.up(e)
}

// fix moves e to where its order belongs.
func (h *heap[K]) fix(e *entry[K]) {
	i := e.index
	if h.up(e); e.index == i {
		h.down(e)
	}
}

// replace puts e into the place of old.
func (h *heap[K]) replace(old, e *entry[K]) {
	e.index, old.index = old.index, -1
	(*h)[e.index] = e
	h.fix(e)
}

func (h *heap[K]) remove(e *entry[K]) {
	end := len(*h) - 1
	last := (*h)[end]
	(*h)[end] = nil
	*h = (*h)[:end]
	if last == e {
		e.index = -1
	} else {
		h.replace(e, last)
	}
	if cap(*h) >= minRoom && end < cap(*h)/8 { // frees memory after a peak
		*h = append(make(heap[K], 0, 2*end), *h...)
	}
}

func (h *heap[K]) up(e *entry[K]) {
	all, i := *h, int(e.index)
	for i > 0 {
		parent := (i - 1) / 2
		if !before(e, all[parent]) {
			break
		}
		all[i] = all[parent]
		all[i].index = int32(i)
		i = parent
	}
	all[i] = e
	e.index = int32(i)
}

func (h *heap[K]) down(e *entry[K]) {
	all, i := *h, int(e.index)
	for {
		child := 2*i + 1
		if child >= len(all) {
			break
		}
		if right := child + 1; right < len(all) && before(all[right], all[child]) {
			child = right
		}
		if !before(all[child], e) {
			break
		}
		all[i] = all[child]
		all[i].index = int32(i)
		i = child
	}
	all[i] = e
	e.index = int32(i)
}
