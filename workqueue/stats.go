// The statistics of a queue.

package workqueue

import "time"

// Stats is a snapshot of a queue.
type Stats struct {
	// Ready is the number of keys that wait for a worker; Oldest is how long the first of them has waited.
	Ready  int
	Oldest time.Duration
	// InProgress is the number of keys that workers have taken and not settled.
	InProgress int
	// Delayed is the number of keys that wait for a delay, after AddAfter or a failure. A key in progress can be delayed as
	// well.
	Delayed int
	// Held is the number of keys that [Queue.Hold] has put aside.
	Held int
	// Throttled is the number of keys whose retry is due and held back by Options.RetryRate. If it stays above 0, keys fail
	// faster than the rate.
	Throttled int
}

// Stats returns a snapshot of the queue. Its cost does not depend on the number of keys.
func (q *Queue[K]) Stats() Stats {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.promote()
	q.notify(now)
	s := Stats{
		Ready:      q.ready.len,
		InProgress: q.inProgress,
		Delayed:    len(q.delays) - q.held,
		Held:       q.held,
		Throttled:  q.throttled.len,
	}
	if e := q.ready.first; e != nil {
		s.Oldest = now - e.due
	}
	return s
}

// Len returns the number of ready keys: those that Do would take without waiting. Keys that are delayed or in progress do
// not count.
func (q *Queue[K]) Len() int { return q.Stats().Ready }

// Failures returns how often k has failed in a row, 0 if its last run succeeded or k is unknown.
func (q *Queue[K]) Failures(k K) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if e := q.entries[k]; e != nil {
		return e.failures
	}
	return 0
}
