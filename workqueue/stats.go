// The statistics of a queue.

package workqueue

import "time"

// Stats is a snapshot of a queue.
type Stats struct {
	// Ready is the number of keys that wait for a worker; Oldest is how long the oldest of them has waited.
	Ready  int
	Oldest time.Duration
	// InProgress is the number of keys that workers have taken and not settled. Longest is how long the oldest of
	// their runs has been in progress, and Unfinished is the sum over all of them.
	InProgress          int
	Longest, Unfinished time.Duration
	// Delayed is the number of keys that wait for a delay, after AddAfter or a failure. A key in progress can be
	// delayed as well.
	Delayed int
	// Held is the number of keys that [Queue.Hold] has put aside.
	Held int
	// Throttled is the number of keys whose retry is due and held back by Options.RetryRate. If it stays above 0, keys
	// fail faster than the rate.
	Throttled int
}

// Stats returns a snapshot of the queue. Its cost grows with the number of keys in progress and of groups, not with
// that of other keys.
func (q *Queue[K]) Stats() Stats {
	now := q.clock()
	q.mu.Lock()
	q.promote(now)
	s := Stats{
		Ready:      q.readyLen(),
		InProgress: len(q.running),
		Delayed:    len(q.delays) - q.held,
		Held:       q.held,
		Throttled:  q.throttled.len,
	}
	for r := range q.allReady() {
		s.Oldest = max(s.Oldest, r.oldest(q.now))
	}
	for _, r := range q.running {
		s.Longest = max(s.Longest, q.now-r.started)
		s.Unfinished += q.now - r.started
	}
	q.unlock()
	return s
}

// Len returns the number of ready keys: those that a worker would take without waiting. Keys that are delayed or in
// progress do not count.
func (q *Queue[K]) Len() int {
	now := q.clock()
	q.mu.Lock()
	q.promote(now)
	n := q.readyLen()
	q.unlock()
	return n
}

// ReadyByPriority returns the number of ready keys of each priority that has any. Its cost grows with the number of
// groups, not with that of keys.
func (q *Queue[K]) ReadyByPriority() map[int]int {
	n := map[int]int{}
	now := q.clock()
	q.mu.Lock()
	q.promote(now)
	for r := range q.allReady() {
		for l, priority := range r.levels() {
			if l.len > 0 {
				n[priority] += l.len
			}
		}
	}
	q.unlock()
	return n
}

// Failures returns how often k has failed in a row, 0 if its last run succeeded or k is unknown.
func (q *Queue[K]) Failures(k K) int {
	hash := q.hash(k)
	q.mu.Lock()
	defer q.mu.Unlock()
	if e := q.store.find(hash, k); e != nil {
		return e.failures()
	}
	return 0
}
