// Holding keys: a run puts its own key aside.

package workqueue

import "time"

// Hold puts k aside, from inside the function of a worker that has taken it: the run counts as not begun. When the
// function has ended, k waits until d has passed or until Release, and then becomes ready with at least the priority
// of the run. Add, AddAfter and AddRateLimited do not shorten the hold, and they are not lost: the run after the hold
// serves them too. The failures of k stay as they are. If the function fails, the failure is counted, and k is still
// held.
//
// If k is not in progress, Hold does nothing.
func (q *Queue[K]) Hold(k K, d time.Duration) {
	hash, now := q.hash(k), q.clock()
	q.mu.Lock()
	q.promote(now)
	if e := q.store.find(hash, k); e != nil && e.running() {
		q.request(e, q.running[e.seat].priority)
		if !e.held {
			q.held++
		}
		q.undelay(e)
		e.ready, e.held, e.aside = true, true, true
		q.delay(e, after(q.now, d), never)
	}
	q.unlock()
}

// Release makes k ready if it is held, and otherwise does nothing.
func (q *Queue[K]) Release(k K) {
	hash, now := q.hash(k), q.clock()
	q.mu.Lock()
	q.promote(now)
	if e := q.store.find(hash, k); e != nil && e.held {
		q.release(e, q.now)
	}
	q.unlock()
}

// release ends the hold of e, which becomes ready as of the moment at.
func (q *Queue[K]) release(e *entry[K], at time.Duration) {
	q.undelay(e)
	q.held--
	e.held, e.due = false, at
	if !e.running() {
		q.push(e)
	}
}
