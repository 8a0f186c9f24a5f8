// Time: when delayed keys become ready, and the bucket that limits retries.

package workqueue

import (
	"math"
	"time"
)

// never is a moment that is never reached.
const never = time.Duration(math.MaxInt64)

// after returns the moment d after now. The result is less than never, however long d is.
func after(now, d time.Duration) time.Duration {
	if d >= never-now {
		return never - 1
	}
	return now + max(0, d)
}

// promote records the moment now, and makes every due key ready, in the order of their times. Every operation that
// makes keys ready calls it first, so that keys that were due come before the keys that the operation adds.
func (q *Queue[K]) promote(now time.Duration) {
	q.now = max(q.now, now)
	if len(q.delays) > 0 || q.throttled.first != 0 {
		q.promoteDue()
	}
}

func (q *Queue[K]) promoteDue() {
	for len(q.delays) > 0 && q.delays[0].order <= q.now {
		e := q.delays[0]
		if e.held {
			q.release(e, e.due)
			continue
		}
		if e.due <= q.now || q.bucket == nil {
			q.makeReady(e, e.order)
			continue
		}
		q.delay(e, e.due, never)
		e.throttled = true
		q.throttled.push(&q.store, e)
	}
	for q.throttled.first != 0 && q.granted() {
		q.makeReady(q.store.at(q.throttled.first), q.now)
	}
}

// granted takes a token from the bucket, or records when the next one will come. Tokens are taken, never reserved, so
// a retry that is no longer needed costs the other keys nothing.
func (q *Queue[K]) granted() bool {
	now := q.now
	t := q.epoch.Add(now)
	if q.bucket.AllowN(t, 1) {
		return true
	}
	missing := (1 - q.bucket.TokensAt(t)) / float64(q.bucket.Limit()) * float64(time.Second)
	q.refill = never - 1
	if missing < float64(never-now)/2 {
		q.refill = now + time.Duration(math.Ceil(missing))
	}
	return false
}

// makeReady makes e ready as of the moment at, and cancels its delays.
func (q *Queue[K]) makeReady(e *entry[K], at time.Duration) {
	if e.ready {
		return
	}
	if e.index >= 0 || e.streak != nil {
		q.undelay(e)
	}
	e.ready, e.due = true, at
	if !e.running() {
		q.push(e)
	}
}

// push puts e, which is ready, behind the keys that became ready earlier.
func (q *Queue[K]) push(e *entry[K]) {
	q.sequence++
	e.sequence = q.sequence
	q.list(e)
	if q.options.Hooks.Add != nil {
		q.noteAdd(e)
	}
}

// undelay cancels the delays of e.
func (q *Queue[K]) undelay(e *entry[K]) {
	e.due = never
	if e.index >= 0 {
		q.delays.remove(e)
	}
	if e.streak == nil {
		return
	}
	if e.throttled {
		e.throttled = false
		q.throttled.remove(&q.store, e)
	}
	if e.streak.retry = never; e.streak.failures == 0 {
		e.streak = nil
	}
}

// retryAfter makes e ready after d, unless it becomes ready earlier.
func (q *Queue[K]) retryAfter(e *entry[K], d time.Duration) {
	if at := after(q.now, d); !e.ready && !e.throttled && at < e.retry() {
		q.delay(e, e.due, at)
	}
}

// delay sets the times of e, and updates its place in the heap. An e without failures has no retry.
func (q *Queue[K]) delay(e *entry[K], due, retry time.Duration) {
	if e.due = due; e.streak != nil {
		e.streak.retry = retry
	}
	e.order = min(due, retry)
	switch waits := e.order != never; {
	case waits && e.index < 0:
		q.sequence++
		e.sequence = q.sequence
		q.delays.push(e)
	case waits:
		q.delays.fix(e)
	case e.index >= 0:
		q.delays.remove(e)
	}
}
