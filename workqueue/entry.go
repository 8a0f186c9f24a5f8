// One key's state, and where the states of all keys are kept.

package workqueue

import "time"

// entry is the state of one key. It exists while the key is pending or in progress.
type entry[K comparable] struct {
	key        K
	prev, next *entry[K] // in a list, or among the entries that are free
	streak     *streak   // nil unless the key has failed
	// due is when the key becomes ready after AddAfter or Hold or, if ready is set, when it became ready; never if none applies.
	due time.Duration
	// order and sequence are the entry's place in a heap. sequence also orders the keys that became ready at the same moment.
	order     time.Duration
	sequence  uint64
	hash      uint32
	index     int32 // in a heap, -1 outside
	seat      int32 // in Queue.running, -1 while the key is not in progress
	priority  int8  // of the pending run, if there is one
	level     int8  // the priority whose list the entry is in, while it is in one
	ready     bool
	throttled bool // in the list of that name
	held      bool // see Hold
	aside     bool // the present run has called Hold
}

// streak is what the queue knows of a key's failures in a row.
type streak struct {
	failures int
	err      error         // of the latest one; nil if all were requests of AddRateLimited
	retry    time.Duration // when the key becomes ready because it failed; never if it does not wait for that
}

// running reports whether the key is in progress.
func (e *entry[K]) running() bool { return e.seat >= 0 }

// listed reports whether e is in Queue.ready, where workers take it.
func (e *entry[K]) listed() bool { return e.ready && !e.held && !e.running() }

// pending reports whether a run of the key is to start that has not started.
func (e *entry[K]) pending() bool { return e.ready || e.throttled || e.index >= 0 }

// retry is when e becomes ready because it failed.
func (e *entry[K]) retry() time.Duration {
	if e.streak == nil {
		return never
	}
	return e.streak.retry
}

// retrying reports whether e waits because it failed.
func (e *entry[K]) retrying() bool { return e.throttled || e.retry() != never }

func (e *entry[K]) failures() int {
	if e.streak == nil {
		return 0
	}
	return e.streak.failures
}

// fail counts a failure; err is nil if there was no run.
func (e *entry[K]) fail(err error) {
	if e.streak == nil {
		e.streak = &streak{retry: never}
	}
	e.streak.failures++
	if err != nil {
		e.streak.err = err
	}
}

// succeed forgets the failures.
func (e *entry[K]) succeed() {
	if e.streak == nil {
		return
	}
	if e.streak.failures, e.streak.err = 0, nil; !e.retrying() {
		e.streak = nil
	}
}

// store has the entries of all keys. An entry is used again when its key is gone, so a queue of a steady size allocates
// nothing.
type store[K comparable] struct {
	table table[K]
	peak  int        // of table.n, since the memory of an earlier peak was given back
	free  *entry[K]  // entries that were in use
	block []entry[K] // entries that were not
}

// New entries are made in blocks of as many as there are keys, within these limits.
const smallestBlock, largestBlock = 8, 64

// minRoom is the number of keys below which shrinking is not worthwhile.
const minRoom = 1024

// get returns the entry of k, a new one if there is none.
func (s *store[K]) get(hash uint32, k K) *entry[K] {
	s.table.reserve()
	i, found := s.table.search(hash, k)
	if found {
		return s.table.slots[i].entry
	}
	e := s.blank()
	e.key, e.hash = k, hash
	e.due, e.index, e.seat = never, -1, -1
	s.table.fill(i, slot[K]{hash, e})
	return e
}

// blank returns an entry that is not in use.
func (s *store[K]) blank() *entry[K] {
	if e := s.free; e != nil {
		s.free, e.next = e.next, nil
		return e
	}
	if len(s.block) == 0 {
		s.block = make([]entry[K], min(max(s.table.n, smallestBlock), largestBlock))
	}
	e := &s.block[0]
	s.block = s.block[1:]
	return e
}

// drop removes e, which is neither pending nor in progress. When an eighth of a peak is left, the queue shrinks.
func (q *Queue[K]) drop(e *entry[K]) {
	s := &q.store
	s.peak = max(s.peak, s.table.n)
	s.table.remove(e)
	*e = entry[K]{next: s.free}
	s.free = e
	if s.peak >= minRoom && s.table.n <= s.peak/8 {
		q.shrink()
	}
}

// shrink gives back the memory of a peak: one key is copied for every seven that are gone. An entry whose key is in progress
// is not moved, because its worker refers to it, and keeps its block.
func (q *Queue[K]) shrink() {
	s := &q.store
	before := s.table.slots
	n := s.table.n
	s.free, s.block, s.peak = nil, nil, n
	s.table.clear(n)
	for i := range before {
		e := before[i].entry
		if e == nil {
			continue
		}
		if !e.running() {
			e = q.move(e)
		}
		s.table.put(slot[K]{e.hash, e})
	}
}

// move copies e to a new entry, which takes its place in lists and heaps.
func (q *Queue[K]) move(e *entry[K]) *entry[K] {
	moved := q.store.blank()
	*moved = *e
	switch {
	case e.listed():
		q.ready.level(e.level).list.replace(e, moved)
	case e.throttled:
		q.throttled.replace(e, moved)
	}
	switch {
	case e.index < 0:
	case e.listed():
		q.ready.front[e.index] = moved
	default:
		q.delays[e.index] = moved
	}
	return moved
}
