// Workers: taking keys, running the function, settling the keys.

package workqueue

import (
	"context"
	"errors"
	"time"
)

// Do waits for a ready key, takes it, runs fn on it, and settles it when fn ends, in any of these ways:
//
//   - fn returned nil: the failures of the key are forgotten.
//   - fn returned an error: the key is retried after a delay. The error goes to Options.OnError; Do does not return
//     it.
//   - fn panicked or called runtime.Goexit: the key is retried after a delay. Do does not recover, so the panic goes
//     on with its own stack trace.
//
// Do returns nil if it ran fn. It returns ctx's error if ctx ended first; it has then taken no key, even if one was
// ready. Do does not watch ctx while fn runs: it passes ctx to fn and waits for fn. An fn that is nil is an error.
func (q *Queue[K]) Do(ctx context.Context, fn func(ctx context.Context, k K) error) error {
	if fn == nil {
		return errNoFunction
	}
	w := worker[K]{queue: q}
	defer w.settle()
	if _, err := w.take(ctx); err != nil {
		return err
	}
	w.run(ctx, fn)
	return nil
}

// Work is a worker: it calls [Queue.Do] until ctx ends, and returns ctx's error. It costs a little less than a loop
// around Do, because it settles a key and takes the next one in one step. An fn that is nil is an error.
func (q *Queue[K]) Work(ctx context.Context, fn func(ctx context.Context, k K) error) error {
	return q.work(ctx, fn, false)
}

// Drain empties the queue of ready keys: like [Queue.Work] it runs fn on one ready key after the other, until no key
// is ready and none is in progress. Then it returns nil. If ctx ends first, it returns ctx's error, and the keys that
// are ready stay in the queue. Several goroutines may drain a queue together.
//
// Drain does not wait for delays and retries. But it also runs fn on keys that become ready while it drains: a key
// that is added again while in progress, and a delayed key whose time comes. So if fn adds keys again and again, only
// ctx ends Drain. Drain waits for keys in progress, so a function that runs on a key must not call it.
func (q *Queue[K]) Drain(ctx context.Context, fn func(ctx context.Context, k K) error) error {
	return q.work(ctx, fn, true)
}

func (q *Queue[K]) work(ctx context.Context, fn func(ctx context.Context, k K) error, drain bool) error {
	if fn == nil {
		return errNoFunction
	}
	w := worker[K]{queue: q, drain: drain}
	defer w.settle() // if fn panics or ends the goroutine
	for {
		if found, err := w.take(ctx); !found || err != nil {
			return err
		}
		w.run(ctx, fn)
	}
}

var (
	errNoFunction = errors.New("workqueue: the function of Do, Work or Drain must not be nil")
	errEnded      = errors.New("the function panicked or ended its goroutine")
)

// worker takes keys, one at a time. It is used by one goroutine.
type worker[K comparable] struct {
	queue  *Queue[K]
	drain  bool      // it does not wait for delays
	entry  *entry[K] // in progress, nil if none is
	err    error     // of its run
	waiter *waiter   // while it waits for a key
}

// run is a key in progress.
type run[K comparable] struct {
	entry    *entry[K]
	started  time.Duration
	priority int8
}

// run calls fn on the key that w has taken. If fn fails, run also settles the key.
func (w *worker[K]) run(ctx context.Context, fn func(ctx context.Context, k K) error) {
	w.err = errEnded // until fn has returned
	if w.err = fn(ctx, w.entry.key); w.err == nil {
		return
	}
	if report := w.queue.options.OnError; report != nil {
		report(w.entry.key, w.err)
	}
	w.settle()
}

// take settles the key that w has, if there is one, waits for the first ready key and marks it as in progress. found
// is false if w only drains and nothing is left to wait for, or if take returns ctx's error.
func (w *worker[K]) take(ctx context.Context) (found bool, err error) {
	q := w.queue
	for {
		ended := ctx.Err() // not under the lock: it may be the caller's code
		now := q.clock()
		q.mu.Lock()
		q.promote(now)
		if w.entry != nil {
			q.end(w.entry)
			w.entry = nil
		}
		if w.waiter != nil {
			q.parked.leave(w.waiter)
		}
		e := q.next()
		switch {
		case ended != nil:
		case e != nil:
			q.begin(e)
			w.entry = e
		case w.drain && len(q.running) == 0:
		default:
			w.waiter = q.parked.enter(w.waiter, w.drain)
			q.unlock()
			select {
			case <-w.waiter.wake:
			case <-ctx.Done():
			}
			continue
		}
		if w.waiter != nil {
			q.parked.spare(w.waiter)
			w.waiter = nil
		}
		q.unlock()
		return w.entry != nil, ended
	}
}

// settle ends the run of w's key, if it has one.
func (w *worker[K]) settle() {
	q, e := w.queue, w.entry
	if e == nil {
		return
	}
	w.entry = nil
	if w.err != nil {
		q.fail(e, w.err)
		return
	}
	var now time.Duration // not needed for a key that leaves the queue
	if q.options.Hooks.Done != nil {
		now = q.clock()
	}
	q.mu.Lock()
	if e.pending() {
		now = q.clock()
	}
	q.promote(now)
	q.end(e)
	q.unlock()
}

// begin marks e, which is ready, as in progress.
func (q *Queue[K]) begin(e *entry[K]) {
	if q.options.Hooks.Start != nil {
		q.noteStart(e)
	}
	if q.fair == nil {
		q.ready.remove(e)
	} else {
		q.fair.begin(q.group(e), e)
	}
	e.ready, e.due = false, never
	e.seat = int32(len(q.running))
	q.running = append(q.running, run[K]{e, q.now, e.priority})
}

// end ends a run of e that succeeded.
func (q *Queue[K]) end(e *entry[K]) {
	if q.options.Hooks.Done != nil {
		q.noteDone(e, nil)
	}
	if !e.aside {
		e.succeed()
	}
	q.leave(e)
}

// fail ends a run of e that failed.
func (q *Queue[K]) fail(e *entry[K], err error) {
	var d time.Duration
	defer func() { // even if Backoff panics
		now := q.clock()
		q.mu.Lock()
		q.promote(now)
		e.fail(err)
		if q.options.Hooks.Done != nil {
			q.noteDone(e, err)
		}
		q.request(e, q.running[e.seat].priority)
		q.retryAfter(e, d)
		if q.options.Hooks.Retry != nil {
			q.noteRetry(e, d, err)
		}
		q.leave(e)
		q.unlock()
	}()
	d = q.options.Backoff(e.key, q.Failures(e.key)+1)
}

// leave takes e out of the keys in progress.
func (q *Queue[K]) leave(e *entry[K]) {
	last := len(q.running) - 1
	moved := q.running[last]
	q.running[e.seat] = moved
	moved.entry.seat = e.seat
	q.running[last] = run[K]{}
	q.running = q.running[:last]
	e.seat, e.aside, e.late = -1, false, false
	if q.fair != nil {
		q.fair.end(q.group(e))
	}
	switch {
	case e.listed(): // ready as of now, for other workers
		e.due = q.now
		q.push(e)
	case !e.pending():
		q.drop(e)
	}
}
