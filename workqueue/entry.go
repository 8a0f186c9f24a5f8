// One key's state, and the containers of keys: a map that shrinks, and a list that needs no memory of its own.

package workqueue

import "time"

// entry is the state of one key. It exists while the key is pending or in progress.
type entry[K comparable] struct {
	key K
	// due is when the key becomes ready after AddAfter or, if ready is set, when it became ready. retry is when it may become
	// ready after a failure. Each is never if it does not apply.
	due, retry time.Duration
	sequence   uint64 // orders entries with the same time by arrival
	index      int    // in delays, -1 outside
	prev, next *entry[K]
	failures   int
	ready      bool
	running    bool
	throttled  bool // in the list of that name
	held       bool // see Hold; due is when that ends
	aside      bool // the present run has called Hold
}

// at is the earlier of e's two times.
func (e *entry[K]) at() time.Duration { return min(e.due, e.retry) }

// retrying reports whether e waits because it failed.
func (e *entry[K]) retrying() bool { return e.throttled || e.retry != never }

// entry returns the entry of k, a new one if k is neither pending nor in progress.
func (q *Queue[K]) entry(k K) *entry[K] {
	e := q.entries[k]
	if e == nil {
		e = &entry[K]{key: k, due: never, retry: never, index: -1}
		q.entries[k] = e
		q.peak = max(q.peak, len(q.entries))
	}
	return e
}

// drop removes e if it is neither pending nor in progress. A Go map never frees the memory of deleted keys, so after a
// peak it is rebuilt when an eighth is left: one key is copied for every seven that were deleted.
func (q *Queue[K]) drop(e *entry[K]) {
	if e.running || e.ready || e.throttled || e.index >= 0 {
		return
	}
	delete(q.entries, e.key)
	if q.peak < minRoom || len(q.entries) > q.peak/8 {
		return
	}
	entries := make(map[K]*entry[K], len(q.entries))
	for k, e := range q.entries {
		entries[k] = e
	}
	q.entries, q.peak = entries, len(entries)
}

// minRoom is the number of keys below which shrinking is not worthwhile.
const minRoom = 1024

// list is a first-in, first-out list, linked through the entries. An entry is in at most one.
type list[K comparable] struct {
	first, last *entry[K]
	len         int
}

func (l *list[K]) push(e *entry[K]) {
	e.prev = l.last
	if l.last == nil {
		l.first = e
	} else {
		l.last.next = e
	}
	l.last = e
	l.len++
}

func (l *list[K]) remove(e *entry[K]) {
	if e.prev == nil {
		l.first = e.next
	} else {
		e.prev.next = e.next
	}
	if e.next == nil {
		l.last = e.prev
	} else {
		e.next.prev = e.prev
	}
	e.prev, e.next = nil, nil
	l.len--
}
