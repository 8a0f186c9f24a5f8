// The ready keys, and which of them comes next.

package workqueue

import (
	"iter"
	"time"
)

// ready holds the keys that a Do may take. The next one is that with the lowest order, which is the moment at which it
// became ready, less its priority times Options.Ageing.
//
// The keys of a priority are listed in the order in which they became ready, so only the first key of each list needs
// to be compared with others. A key whose priority was raised stays in its list, so that the list still begins with
// the key that has waited for longest. The key is compared with the first keys of the lists too.
type ready[K comparable] struct {
	store  *store[K] // of the queue
	ageing time.Duration
	normal level[K]                                      // of priority 0
	others [nLevels/someLevels + 1]*[someLevels]level[K] // of the other priorities; a part is nil until it is used
	front  heap[K]                                       // the first of each list, and those whose priority was raised
	len    int
}

// level has the ready keys of one priority.
type level[K comparable] struct {
	list list[K] // the keys that became ready with this priority
	len  int     // the number of keys that have this priority now
}

// nLevels is the number of priorities. someLevels of them are allocated together, because there are many groups and
// each uses few priorities.
const nLevels, someLevels = maxPriority - minPriority + 1, 16

func (r *ready[K]) level(priority int8) *level[K] {
	if priority == 0 {
		return &r.normal
	}
	i := uint8(int(priority) - minPriority)
	part := &r.others[i/someLevels]
	if *part == nil {
		*part = new([someLevels]level[K])
	}
	return &(*part)[i%someLevels]
}

// levels returns all levels with their priorities.
func (r *ready[K]) levels() iter.Seq2[*level[K], int] {
	return func(yield func(*level[K], int) bool) {
		if !yield(&r.normal, 0) {
			return
		}
		for n, part := range r.others {
			if part == nil {
				continue
			}
			for i := range part {
				if p := n*someLevels + i + minPriority; p != 0 && !yield(&part[i], p) {
					return
				}
			}
		}
	}
}

// oldest returns how long the oldest key has waited.
func (r *ready[K]) oldest(now time.Duration) (d time.Duration) {
	for l := range r.levels() {
		if first := l.list.first; first != 0 {
			d = max(d, now-r.store.at(first).due)
		}
	}
	return d
}

// first returns the key that comes next, nil if none is ready.
func (r *ready[K]) first() *entry[K] {
	if len(r.front) == 0 {
		return nil
	}
	return r.front[0]
}

func (r *ready[K]) rank(e *entry[K]) time.Duration { return e.due - time.Duration(e.priority)*r.ageing }

// push adds e, which became ready no earlier than the keys in r.
func (r *ready[K]) push(e *entry[K]) {
	l := r.level(e.priority)
	e.level = e.priority
	e.order = r.rank(e)
	l.list.push(r.store, e)
	l.len++
	r.len++
	if l.list.first == e.ref {
		r.front.push(e)
	}
}

// remove removes e. If e was the first of its list, the second takes its place in front.
func (r *ready[K]) remove(e *entry[K]) {
	l := r.level(e.level)
	var next *entry[K] // the second of the list
	if l.list.first == e.ref && e.next != 0 {
		next = r.store.at(e.next)
	}
	l.list.remove(r.store, e)
	r.level(e.priority).len--
	r.len--
	switch {
	case e.index < 0:
	case next != nil && next.index < 0:
		r.front.replace(e, next)
	default:
		r.front.remove(e)
	}
}

// raise moves e forward, to the place that it would have if it had become ready with this priority.
func (r *ready[K]) raise(e *entry[K], priority int8) {
	r.level(e.priority).len--
	r.level(priority).len++
	e.priority = priority
	e.order = r.rank(e)
	if e.index < 0 {
		r.front.push(e)
	} else {
		r.front.fix(e)
	}
}
