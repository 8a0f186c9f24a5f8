package remote

import (
	"context"
	"slices"
	"sync"
	"time"
)

// merger merges the lines of several logs in order of time. Each log has a queue of bounded size. A line waits in its
// queue for at most the window, because an earlier line of another log may still arrive.
type merger struct {
	window time.Duration
	buffer int           // maximum size of a queue, in bytes
	wake   chan struct{} // has one token after a change that next depends on

	mu     sync.Mutex // guards the fields below, and the fields of all queues
	queues []*queue
}

// queue has the lines of one log that have not been yielded yet.
type queue struct {
	items   []queued
	bytes   int
	live    bool          // more lines may arrive
	last    time.Time     // the latest time of any line pushed so far
	empty   time.Time     // when the live queue became empty
	waiting bool          // push waits for room
	room    chan struct{} // has one token when there may be room; nil after end
}

// queued is a line, or an error that is yielded like a line.
type queued struct {
	line    Line
	err     error
	when    time.Time // the time that determines the order
	arrived time.Time
}

// lineCost is the memory of a line besides its text, in bytes.
const lineCost = 160

func newMerger(window time.Duration, buffer int) *merger {
	return &merger{window: window, buffer: buffer, wake: make(chan struct{}, 1)}
}

// add adds a queue.
func (m *merger) add() *queue {
	q := &queue{room: make(chan struct{}, 1)}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.queues = append(m.queues, q)
	return q
}

// setLive records whether more lines may arrive in the queue.
func (m *merger) setLive(q *queue, live bool) {
	m.mu.Lock()
	if live && !q.live && len(q.items) == 0 {
		q.empty = time.Now()
	}
	q.live = live
	m.mu.Unlock()
	m.signal(m.wake)
}

// end ends a queue: no more lines arrive, and it is removed once it is empty.
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
	m.queues = slices.DeleteFunc(m.queues, func(one *queue) bool { return one == q })
}

func (m *merger) signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// push adds a line to a queue. It waits for room until ctx ends. Only one goroutine pushes to a queue.
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

// next returns the line to yield now. If there is none, next returns how long to wait for a change; 0 means for ever.
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

// due returns when to yield the earliest line: at once if no log can have an earlier one; otherwise after it has waited
// for the window or, if its queue is full, once the empty queues have been empty for the window.
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

// drained reports whether all queues have ended and all lines have been yielded.
func (m *merger) drained() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.queues) == 0
}
