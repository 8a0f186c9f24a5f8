// Changing a pending run: removing it, and moving it to another time.

package workqueue

import "time"

// Cancel removes the pending run of k: whether k is ready, delayed, held, or waiting for a retry, it does not run
// until the next request. Cancel reports whether a run was pending. The queue forgets the failures of a key that is
// not in progress.
//
// If k is in progress, that run goes on. If it fails, k is retried, because a failure is a new request; a function that
// does not want its key back returns nil.
//
// A cancelled request is the one exception to the rule that no request is lost. A request that arrives at the same
// time, from another goroutine, is either before Cancel, and removed, or after it, and kept. So do not cancel a key if
// the removed request may be the only sign of a change.
func (q *Queue[K]) Cancel(k K) bool {
	hash, now := q.hash(k), q.clock()
	q.mu.Lock()
	q.promote(now)
	e := q.store.find(hash, k)
	cancelled := e != nil && e.pending()
	if cancelled {
		if e.listed() {
			q.unlist(e)
		} else {
			q.undelay(e)
		}
		if e.held {
			q.held--
		}
		e.ready, e.held, e.due = false, false, never
		if !e.running() {
			q.drop(e)
		}
	}
	q.unlock()
	return cancelled
}

// Move gives the delayed run of k a new time, d from now, earlier or later than it was; d of 0 or less makes k ready
// at once. It also moves a retry: the key then keeps its failures, and Options.RetryRate does not apply. Move reports
// whether k was delayed.
//
// A key that is ready, or that becomes ready when it is settled, is not moved: a caller has asked for a run now. A
// held key is not moved either. So Move loses no request and never defers an Add. A request after Move has its usual
// meaning: the earlier of the two times counts.
func (q *Queue[K]) Move(k K, d time.Duration) bool {
	hash, now := q.hash(k), q.clock()
	q.mu.Lock()
	q.promote(now)
	e := q.store.find(hash, k)
	moved := e != nil && e.pending() && !e.ready
	switch {
	case !moved:
	case d <= 0:
		q.makeReady(e, q.now)
	default:
		q.undelay(e)
		q.delay(e, after(q.now, d), never)
	}
	q.unlock()
	return moved
}
