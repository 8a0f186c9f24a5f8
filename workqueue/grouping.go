// The queue with or without groups: where an entry is listed while it is ready.

package workqueue

import "iter"

// membership is the group that a key joins if it is new in the queue.
type membership struct {
	name   string
	weight int64
}

// membership calls Options.Group and Options.Weight, so mu must not be held.
func (q *Queue[K]) membership(k K) membership {
	m := membership{q.options.Group(k), minWeight}
	if q.options.Weight != nil {
		m.weight = int64(min(max(q.options.Weight(m.name), minWeight), maxWeight))
	}
	return m
}

// join makes e, if it is new, a member of its group.
func (q *Queue[K]) join(e *entry[K], m membership) {
	if owner := q.store.owner(e); *owner == nil {
		*owner = q.fair.join(m.name, m.weight)
	}
}

// group returns the group of e. The queue must have groups.
func (q *Queue[K]) group(e *entry[K]) *group[K] { return *q.store.owner(e) }

// readyOf returns the keys among which e is listed while it is ready.
func (q *Queue[K]) readyOf(e *entry[K]) *ready[K] {
	if q.fair == nil {
		return &q.ready
	}
	return &q.group(e).ready
}

// list adds e, which is ready, to the keys that workers may take.
func (q *Queue[K]) list(e *entry[K]) {
	if q.fair == nil {
		q.ready.push(e)
	} else {
		q.fair.push(q.group(e), e)
	}
}

// unlist removes e from the keys that workers may take.
func (q *Queue[K]) unlist(e *entry[K]) {
	if q.fair == nil {
		q.ready.remove(e)
	} else {
		q.fair.remove(q.group(e), e)
	}
}

// next returns the key that a free worker takes now, nil if none is ready.
func (q *Queue[K]) next() *entry[K] {
	if q.fair == nil {
		return q.ready.first()
	}
	return q.fair.first(len(q.running) + 1)
}

// readyLen returns the number of ready keys.
func (q *Queue[K]) readyLen() int {
	if q.fair == nil {
		return q.ready.len
	}
	return q.fair.len
}

// allReady returns the ready keys of each group.
func (q *Queue[K]) allReady() iter.Seq[*ready[K]] {
	return func(yield func(*ready[K]) bool) {
		if q.fair == nil {
			yield(&q.ready)
			return
		}
		for _, g := range q.fair.groups {
			if !yield(&g.ready) {
				return
			}
		}
	}
}
