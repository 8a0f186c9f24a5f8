// Time: the heap of delays, the bucket that limits retries, and the one timer that runs while a Do waits.

package workqueue

import (
	"container/heap"
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

// promote makes every key ready whose time has come since the last call, in the order of time, and returns the current
// moment. Every operation begins with it, so that keys that were due come before those that the operation adds.
func (q *Queue[K]) promote() (now time.Duration) {
	now = time.Since(q.epoch)
	for len(q.delays) > 0 && q.delays[0].at() <= now {
		e := q.delays[0]
		if e.held {
			q.release(e, e.due)
			continue
		}
		if e.due <= now || q.bucket == nil {
			q.makeReady(e, e.at())
			continue
		}
		q.delay(e, e.due, never)
		e.throttled = true
		q.throttled.push(e)
	}
	for q.throttled.first != nil && q.granted(now) {
		q.makeReady(q.throttled.first, now)
	}
	return now
}

// granted takes a token from the bucket, or notes when the next one will come. Tokens are taken, never reserved: a retry
// that is no longer needed has cost the others nothing.
func (q *Queue[K]) granted(now time.Duration) bool {
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

// makeReady makes e ready since the moment at, and cancels its delays.
func (q *Queue[K]) makeReady(e *entry[K], at time.Duration) {
	if e.ready {
		return
	}
	q.delay(e, never, never)
	if e.throttled {
		e.throttled = false
		q.throttled.remove(e)
	}
	e.ready, e.due = true, at
	if !e.running {
		q.ready.push(e)
	}
}

// retryAfter makes e ready after d, unless it becomes ready earlier.
func (q *Queue[K]) retryAfter(e *entry[K], now, d time.Duration) {
	if at := after(now, d); !e.ready && !e.throttled && at < e.retry {
		q.delay(e, e.due, at)
	}
}

// delay sets the times of e, and updates its place in the heap.
func (q *Queue[K]) delay(e *entry[K], due, retry time.Duration) {
	e.due, e.retry = due, retry
	switch waits := e.at() != never; {
	case waits && e.index < 0:
		q.sequence++
		e.sequence = q.sequence
		heap.Push(&q.delays, e)
	case waits:
		heap.Fix(&q.delays, e.index)
	case e.index >= 0:
		heap.Remove(&q.delays, e.index)
	}
}

// arm runs the timer while a Do waits for a delay, and stops it when none waits. The timer may fire early, for a delay
// that was cancelled: that costs less than resetting it each time.
func (q *Queue[K]) arm(now time.Duration) {
	next := never
	if q.waiting > 0 {
		if len(q.delays) > 0 {
			next = q.delays[0].at()
		}
		if q.throttled.first != nil {
			next = min(next, q.refill)
		}
	} else if q.armed != never {
		q.timer.Stop()
		q.armed = never
	}
	if next >= q.armed {
		return
	}
	q.armed = next
	if q.timer == nil {
		q.timer = time.AfterFunc(next-now, q.fire)
	} else {
		q.timer.Reset(next - now)
	}
}

// fire is the timer's function.
func (q *Queue[K]) fire() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.armed = never
	q.notify(q.promote())
}

// delays is a heap of entries, the earliest first, and in order of arrival if their times are equal.
type delays[K comparable] []*entry[K]

func (d delays[K]) Len() int { return len(d) }

func (d delays[K]) Less(i, j int) bool {
	a, b := d[i], d[j]
	return a.at() < b.at() || a.at() == b.at() && a.sequence < b.sequence
}

func (d delays[K]) Swap(i, j int) {
	d[i], d[j] = d[j], d[i]
	d[i].index, d[j].index = i, j
}

func (d *delays[K]) Push(x any) {
	e := x.(*entry[K])
	e.index = len(*d)
	*d = append(*d, e)
}

func (d *delays[K]) Pop() any {
	last := len(*d) - 1
	e := (*d)[last]
	(*d)[last] = nil
	*d = (*d)[:last]
	e.index = -1
	if cap(*d) >= minRoom && last < cap(*d)/8 { // frees memory after a peak
		*d = append(make(delays[K], 0, 2*last), *d...)
	}
	return e
}
