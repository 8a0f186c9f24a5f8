// Keys that are put aside by the run that took them.

package workqueue

import "time"

// Hold puts k aside, from inside the function of [Queue.Do] that has taken it: the run counts as not begun. When the
// function has ended, k waits until d has passed or until Release, and then becomes ready. Add, AddAfter and AddRateLimited
// neither shorten that nor are lost: the run that comes serves them too. The failures of k stay as they are, unless the
// function fails: that is counted, and k is held all the same.
//
// If k is not in progress, Hold does nothing.
func (q *Queue[K]) Hold(k K, d time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.promote()
	e := q.entries[k]
	if e == nil || !e.running {
		return
	}
	if e.throttled {
		e.throttled = false
		q.throttled.remove(e)
	}
	if !e.held {
		q.held++
	}
	e.ready, e.held, e.aside = true, true, true
	q.delay(e, after(now, d), never)
	q.notify(now)
}

// Release makes k ready if it is held, and otherwise does nothing.
func (q *Queue[K]) Release(k K) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.promote()
	if e := q.entries[k]; e != nil && e.held {
		q.release(e, now)
	}
	q.notify(now)
}

// release ends the hold of e, which is ready since the moment at.
func (q *Queue[K]) release(e *entry[K], at time.Duration) {
	q.delay(e, never, never)
	q.held--
	e.held, e.due = false, at
	if !e.running {
		q.ready.push(e)
	}
}
