// The queue: pending keys, keys in progress, and the workers that wait for them.

package workqueue

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Queue hands out keys, each to one worker at a time; the package documentation states the guarantees. Make one with
// [New]. All methods are safe for use by several goroutines, and inside the function that [Queue.Do] runs.
type Queue[K comparable] struct {
	options Options[K]
	epoch   time.Time     // moments are durations since epoch, by the monotonic clock
	wake    chan struct{} // holds a token while keys are ready and a Do may wait for them

	// mu protects all that follows. Whenever it is free, this holds:
	//   - entries has exactly the keys that are pending or in progress;
	//   - a ready entry that is not held is in the list ready and nowhere else, except while its key is in progress: then it is
	//     in no list, and joins ready when the key is settled;
	//   - a held entry is ready, in delays and in no list; it joins ready when it is released and not in progress;
	//   - an entry with a time to come is in delays; one whose retry is due and waits for the bucket is in throttled; it is
	//     in both if it also has a plain delay;
	//   - while ready is not empty and a Do waits, wake holds its token, or a waiting Do has received it and is about to lock
	//     mu. A Do that takes a key and leaves others puts the token back: one token serves any number of workers;
	//   - while a Do waits, timer is due no later than the next moment that makes a key ready. Otherwise it is stopped.
	mu         sync.Mutex
	entries    map[K]*entry[K]
	peak       int // of len(entries), since the map was made
	ready      list[K]
	throttled  list[K]
	delays     delays[K]
	sequence   uint64
	inProgress int
	held       int
	waiting    int // calls of Do
	timer      *time.Timer
	armed      time.Duration // when timer is due; never while it is stopped
	bucket     *rate.Limiter // nil without a limit
	refill     time.Duration // when bucket has its next token, while throttled is not empty
}

// New returns an empty queue. It starts nothing, and the queue needs no closing.
func New[K comparable](o Options[K]) *Queue[K] {
	o = o.withDefaults()
	return &Queue[K]{
		options: o,
		epoch:   time.Now(),
		wake:    make(chan struct{}, 1),
		entries: map[K]*entry[K]{},
		armed:   never,
		bucket:  o.bucket(),
	}
}

// Add makes k ready. If k is ready already, nothing changes; if it is delayed, the delay ends; if it is in progress, it
// becomes ready when it is settled.
func (q *Queue[K]) Add(k K) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.promote()
	q.makeReady(q.entry(k), now)
	q.notify(now)
}

// AddAfter makes k ready after d, and at once if d is 0 or less. If k is pending already, it becomes ready at the earlier
// of the two times. If it is in progress when its time comes, it becomes ready when it is settled. So a function that
// wants to requeue its own key calls AddAfter and returns nil.
func (q *Queue[K]) AddAfter(k K, d time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.promote()
	if e := q.entry(k); d <= 0 {
		q.makeReady(e, now)
	} else if at := after(now, d); !e.ready && at < e.due {
		q.delay(e, at, e.retry)
	}
	q.notify(now)
}

// AddRateLimited counts a failure of k and makes k ready after its backoff, as if a run had failed. If k is ready or waits
// for a retry already, nothing changes and nothing is counted: repeated calls do not increase the delay.
func (q *Queue[K]) AddRateLimited(k K) {
	d := q.options.Backoff(k, q.Failures(k)+1) // not under the lock: it may be the caller's code
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.promote()
	if e := q.entry(k); !e.ready && !e.retrying() {
		e.failures++
		q.retryAfter(e, now, d)
	}
	q.notify(now)
}

// Do waits for a ready key, takes it, runs fn on it, and settles it when fn ends, in any of these ways:
//
//   - fn returned nil: the failures of the key are forgotten.
//   - fn returned an error: the key is retried after a delay. The error goes to Options.OnError; Do does not return it.
//   - fn panicked or called runtime.Goexit: the key is retried after a delay. Do does not recover, so the panic goes on
//     with its own stack trace.
//
// Do returns nil if it ran fn. It returns ctx's error if ctx ended first; it has then taken no key, even if one was ready.
// Do does not watch ctx while fn runs: it passes ctx to fn and waits for fn.
func (q *Queue[K]) Do(ctx context.Context, fn func(ctx context.Context, k K) error) error {
	e, err := q.take(ctx)
	if err != nil {
		return err
	}
	failed := true // until fn has returned nil
	defer func() { q.settle(e, failed) }()
	if err := fn(ctx, e.key); err == nil {
		failed = false
	} else if q.options.OnError != nil {
		q.options.OnError(e.key, err)
	}
	return nil
}

// take waits for the first ready key and marks it as in progress.
func (q *Queue[K]) take(ctx context.Context) (*entry[K], error) {
	for waited := 0; ; waited = 1 {
		ended := ctx.Err() // not under the lock: it may be the caller's code
		q.mu.Lock()
		q.waiting -= waited
		now := q.promote()
		e := q.ready.first
		switch {
		case ended != nil: // it may have received the token below: notify returns it for another Do
		case e != nil:
			q.ready.remove(e)
			e.ready, e.due = false, never
			e.running = true
			q.inProgress++
		default:
			q.waiting++
		}
		q.notify(now)
		q.mu.Unlock()
		if ended != nil {
			return nil, ended
		}
		if e != nil {
			return e, nil
		}
		select {
		case <-q.wake:
		case <-ctx.Done():
		}
	}
}

// settle ends the run of e.
func (q *Queue[K]) settle(e *entry[K], failed bool) {
	var d time.Duration
	defer func() { // even if Backoff panics
		q.mu.Lock()
		defer q.mu.Unlock()
		now := q.promote()
		e.running = false
		q.inProgress--
		if failed {
			e.failures++
			q.retryAfter(e, now, d)
		} else if !e.aside {
			e.failures = 0
		}
		e.aside = false
		if e.ready && !e.held {
			e.due = now
			q.ready.push(e)
		}
		q.drop(e)
		q.notify(now)
	}()
	if failed {
		d = q.options.Backoff(e.key, q.Failures(e.key)+1)
	}
}

// notify wakes a waiting Do if there is a key for it, and otherwise arms the timer.
func (q *Queue[K]) notify(now time.Duration) {
	if q.waiting > 0 && q.ready.first != nil {
		select {
		case q.wake <- struct{}{}:
		default: // there is a token already
		}
	}
	q.arm(now)
}
