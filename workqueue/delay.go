// Time: the heap of delays, the bucket that retries pass through, and the one timer that runs while a Do waits.

package workqueue

import (
	"container/heap"
	"math"
	"time"
)

// never is the moment that does not come.
const never = time.Duration(math.MaxInt64)

// after returns the moment d after now; it is not never, however long d is.
func after(now, d time.Duration) time.Duration {
	if d >= never-now {
		return never - 1
	}
	return now + max(0, d)
}

// promote makes ready what time has made ready since the last call, in the order of time, and returns the present moment.
// Every operation begins with it, so that what an operation adds comes after what was due before.
func (q *Queue[K]) promote() (now time.Duration) {
	now = time.Since(q.epoch)
	for len(q.delays) > 0 && q.delays[0].at() <= now {
		e := q.delays[0]
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

// granted takes a token from the bucket, or notes when there will be one. Tokens are taken, never reserved: whoever does
// not need its retry any more has taken nothing from the others.
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

// makeReady makes e ready since the moment at, and ends all waiting.
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

// retryAfter makes e ready after d, if it is not to be so earlier.
func (q *Queue[K]) retryAfter(e *entry[K], now, d time.Duration) {
	if at := after(now, d); !e.ready && !e.throttled && at < e.retry {
		q.delay(e, e.due, at)
	}
}

// delay sets the times of e, and puts it where they belong in the heap.
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

// arm lets the timer run if a Do waits for time, and stops it if none does. It may fire early, for a delay that is no
// more: that costs less than setting it anew each time.
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

// fire is what the timer runs.
func (q *Queue[K]) fire() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.armed = never
	q.notify(q.promote())
}

// delays is a heap of entries, the earliest first, of two with the same time the one that was there first.
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
	if cap(*d) >= minRoom && last < cap(*d)/8 { // gives the room back after a peak
		*d = append(make(delays[K], 0, 2*last), *d...)
	}
	return e
}
