// Waiting: workers that are parked because no key is ready, and the one timer that runs while they wait.

package workqueue

import "time"

// waiter is a parked worker, or one that was woken and has not locked the queue yet.
type waiter struct {
	wake       chan struct{} // holds a token for a worker that was woken
	prev, next *waiter
	drain      bool // the worker does not wait for delays
	parked     bool
	waking     bool // parked.waking refers to this worker
}

// parked holds the parked workers, last in, first out: the worker that parked last is woken first, because its memory
// is most likely to be in the processor's cache.
//
// One worker is woken at a time. A running worker may take the key before the woken one, so waking a worker for each
// key would wake many for nothing.
type parked struct {
	first    *waiter
	spares   *waiter // waiters for reuse
	waiting  int     // parked workers that wait for delays too
	draining int     // parked workers that only drain
	waking   bool    // a worker was woken for a key, and has not locked the queue yet
}

// enter parks a worker. w is the waiter that the worker already has, or nil.
func (p *parked) enter(w *waiter, drain bool) *waiter {
	switch {
	case w != nil:
	case p.spares != nil:
		w = p.spares
		p.spares = w.next
	default:
		w = &waiter{wake: make(chan struct{}, 1)}
	}
	w.drain, w.parked = drain, true
	w.prev, w.next = nil, p.first
	if p.first != nil {
		p.first.prev = w
	}
	p.first = w
	p.count(w, 1)
	return w
}

// leave ends the wait of a worker that was woken or whose context has ended.
func (p *parked) leave(w *waiter) {
	if w.parked {
		p.remove(w)
		return
	}
	if w.waking {
		w.waking, p.waking = false, false
	}
	select {
	case <-w.wake: // the context ended at the same time
	default:
	}
}

func (p *parked) remove(w *waiter) {
	if w.prev == nil {
		p.first = w.next
	} else {
		w.prev.next = w.next
	}
	if w.next != nil {
		w.next.prev = w.prev
	}
	w.parked = false
	p.count(w, -1)
}

func (p *parked) count(w *waiter, n int) {
	if w.drain {
		p.draining += n
	} else {
		p.waiting += n
	}
}

// spare keeps a waiter for the next worker that parks.
func (p *parked) spare(w *waiter) {
	w.prev, w.next = nil, p.spares
	p.spares = w
}

// notify wakes a parked worker if there is a key for it, and otherwise sets or stops the timer. It wakes workers that
// drain if nothing is left for them.
func (q *Queue[K]) notify() {
	p := &q.parked
	switch w := p.first; {
	case w == nil:
	case q.readyLen() > 0:
		if !p.waking {
			p.remove(w)
			w.waking, p.waking = true, true
			w.wake <- struct{}{}
		}
	case p.draining > 0 && len(q.running) == 0:
		for next := w; w != nil; w = next {
			if next = w.next; w.drain {
				p.remove(w)
				w.wake <- struct{}{}
			}
		}
	}
	q.arm()
}

// arm runs the timer while a worker waits for a delay, and stops it when none waits. The timer may fire early, for a
// delay that was cancelled: that costs less than resetting it each time.
func (q *Queue[K]) arm() {
	next := never
	if q.parked.waiting > 0 {
		if len(q.delays) > 0 {
			next = q.delays[0].order
		}
		if q.throttled.first != 0 {
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
	d := next - q.clock()
	if q.timer == nil {
		q.timer = time.AfterFunc(d, q.fire)
	} else {
		q.timer.Reset(d)
	}
}

// fire is the timer's function.
func (q *Queue[K]) fire() {
	now := q.clock()
	q.mu.Lock()
	q.armed = never
	q.promote(now)
	q.unlock()
}
