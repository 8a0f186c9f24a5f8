package remote

import (
	"context"
	"sync"
	"time"
)

// merger brings the lines of several logs into the order of their times. Each log has a queue of bounded size. A line
// waits in its queue for at most the window, because another log may have an earlier one on its way.
type merger struct {
	window time.Duration
	buffer int           // bytes of a queue
	wake   chan struct{} // holds one token when something has changed for the reader

	mu     sync.Mutex // guards the rest, and the fields of all queues
	queues []*queue
}

// queue has the lines of one log that are not handed on yet.
type queue struct {
	items   []queued
	bytes   int
	live    bool          // further lines may come
	last    time.Time     // the time of the newest line that was in it
	empty   time.Time     // since when it is live and has no lines
	waiting bool          // a line waits for room
	room    chan struct{} // holds one token when there may be room
}

// queued is a line, or the error in its place.
type queued struct {
	line    Line
	err     error
	when    time.Time // by which it is ordered
	arrived time.Time
}

// lineCost is what a line costs beside its text.
const lineCost = 160

func newMerger(window time.Duration, buffer int) *merger {
	return &merger{window: window, buffer: buffer, wake: make(chan struct{}, 1)}
}

// add makes a queue.
func (m *merger) add() *queue {
	q := &queue{room: make(chan struct{}, 1)}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.queues = append(m.queues, q)
	return q
}

// setLive says whether lines may come to the queue.
func (m *merger) setLive(q *queue, live bool) {
	m.mu.Lock()
	if live && !q.live && len(q.items) == 0 {
		q.empty = time.Now()
	}
	q.live = live
	m.mu.Unlock()
	m.signal(m.wake)
}

// end removes a queue once it is empty.
func (m *merger) end(q *queue) {
	m.mu.Lock()
	q.live, q.room = false, nil
	m.sweep(q)
	m.mu.Unlock()
	m.signal(m.wake)
}

// sweep removes a queue that has ended and is empty.
func (m *merger) sweep(q *queue) {
	if q.room != nil || len(q.items) > 0 {
		return
	}
	for i := range m.queues {
		if m.queues[i] == q {
			m.queues = append(m.queues[:i], m.queues[i+1:]...)
			return
		}
	}
}

func (m *merger) signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// push adds a line to a queue, and waits for room. One goroutine pushes to a queue.
func (m *merger) push(ctx context.Context, q *queue, it queued) error {
	for {
		m.mu.Lock()
		if cost := len(it.line.Text) + lineCost; len(q.items) == 0 || q.bytes+cost <= m.buffer {
			it.arrived = time.Now()
			if it.err != nil && it.when.Before(q.last) {
				it.when = q.last
			}
			q.items, q.bytes, q.waiting = append(q.items, it), q.bytes+cost, false
			if it.when.After(q.last) {
				q.last = it.when
			}
			m.mu.Unlock()
			m.signal(m.wake)
			return nil
		}
		q.waiting = true
		m.mu.Unlock()
		m.signal(m.wake)
		select {
		case <-q.room:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// next returns the line that is to be handed on now. Without one, it returns how long to wait if nothing changes; 0 is
// for ever.
func (m *merger) next(now time.Time) (it queued, ok bool, wait time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var first *queue
	for _, q := range m.queues {
		if len(q.items) > 0 && (first == nil || q.items[0].when.Before(first.items[0].when)) {
			first = q
		}
	}
	if first == nil {
		return it, false, 0
	}
	it = first.items[0]
	if due := m.due(first, it); due.After(now) {
		return it, false, due.Sub(now)
	}
	first.items[0] = queued{}
	first.items, first.bytes = first.items[1:], first.bytes-len(it.line.Text)-lineCost
	if len(first.items) == 0 {
		first.items, first.empty = nil, now
	}
	if first.room != nil {
		m.signal(first.room)
	}
	m.sweep(first)
	return it, true, 0
}

// due returns when the first line of all is handed on: at once, if no log can have an earlier one; once it has waited
// for the window; or, if its queue is full, once those that have no lines have had none for the window.
func (m *merger) due(first *queue, it queued) time.Time {
	var quiet time.Time
	held := false
	for _, q := range m.queues {
		if q == first || !q.live || len(q.items) > 0 || !it.when.After(q.last) {
			continue
		}
		held = true
		if q.empty.After(quiet) {
			quiet = q.empty
		}
	}
	if !held {
		return time.Time{}
	}
	due := it.arrived.Add(m.window)
	if full := quiet.Add(m.window); first.waiting && full.Before(due) {
		due = full
	}
	return due
}

// drained reports whether all queues have ended, and all lines are handed on.
func (m *merger) drained() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.queues) == 0
}
