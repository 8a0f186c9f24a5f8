// The queue: what its lock protects, and the requests for runs.

package workqueue

import (
	"hash/maphash"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Queue hands out keys, each to one worker at a time; the package documentation states the guarantees. Make one with
// [New]. All methods are safe for use by several goroutines, and inside the function that a worker runs.
type Queue[K comparable] struct {
	options Options[K]
	pool    sync.Pool // of *notes[K]
	epoch   time.Time // moments are durations since epoch, by the monotonic clock
	seed    maphash.Seed

	// mu protects all that follows. Whenever it is free, this holds:
	//   - store has exactly the keys that are pending or in progress; running has those that are in progress;
	//   - a ready entry that is not held is in ready, or in ready of its group, and nowhere else. While its key is in
	//     progress, it is in no list and no heap, and joins ready when the key is settled;
	//   - a held entry is ready, in delays and in no list; it joins ready when it is released and not in progress;
	//   - each entry has a group if Options.Group is set, and fair has exactly the groups of entries;
	//   - an entry with a time to come is in delays; one whose retry is due and waits for the bucket is in throttled;
	//     it is in both if it also has a plain delay;
	//   - while a key is ready and a worker is parked, parked.waking is set: a worker was woken and is about to lock
	//     mu. It takes a key, and wakes the next one if it leaves others;
	//   - while a parked worker waits for delays, timer is due no later than the next moment at which a key becomes
	//     ready. While no parked worker does, the timer is stopped.
	mu        sync.Mutex
	now       time.Duration // the latest moment that an operation recorded; it orders the keys as they become ready
	store     store[K]
	ready     ready[K] // not used with groups
	fair      *fair[K] // nil without groups
	delays    heap[K]
	throttled list[K]
	sequence  uint64
	running   []run[K]
	held      int // how many keys are held
	parked    parked
	notes     *notes[K] // the events to report to the hooks when mu is unlocked; nil if there are none
	timer     *time.Timer
	armed     time.Duration // when timer is due; never while it is stopped
	bucket    *rate.Limiter // nil without a limit
	refill    time.Duration // when bucket has its next token, while throttled is not empty
}

// New returns an empty queue. It starts nothing, and the queue needs no closing.
func New[K comparable](o Options[K]) *Queue[K] {
	o = o.withDefaults()
	q := &Queue[K]{
		options: o,
		epoch:   time.Now(),
		seed:    maphash.MakeSeed(),
		armed:   never,
		bucket:  o.bucket(),
	}
	q.ready = ready[K]{store: &q.store, ageing: o.Ageing}
	if o.Group != nil {
		q.store.grouped = true
		q.fair = newFair(&q.store, o.Ageing)
	}
	return q
}

// Add makes k ready. If k is ready already, nothing changes; if it is delayed, the delay ends; if it is in progress,
// it becomes ready when it is settled. Its priority is 0, or that of the pending run if that is higher.
func (q *Queue[K]) Add(k K) { q.add(k, 0, 0) }

// AddAfter makes k ready after d, and at once if d is 0 or less. If k is pending already, it becomes ready at the
// earlier of the two times. If it is in progress when its time comes, it becomes ready when it is settled. So a
// function that wants to requeue its own key calls AddAfter and returns nil.
func (q *Queue[K]) AddAfter(k K, d time.Duration) { q.add(k, d, 0) }

// AddWith is Add with options.
func (q *Queue[K]) AddWith(k K, o AddOptions) { q.add(k, o.After, clamp(o.Priority)) }

// AddOptions say when a key runs, and before which others.
type AddOptions struct {
	// After is the time until the key becomes ready, as for [Queue.AddAfter]. 0 or less = at once.
	After time.Duration
	// Priority is the priority of the run, from -100 to 100; a value outside counts as the nearer bound. If a run is
	// pending already, it keeps the higher of both priorities. A ready key whose priority is raised moves to the place
	// that it would have if it had become ready with that priority.
	Priority int
}

// AddOverdue is for a function that requeues its own key for a time that has already passed. It makes k ready at once,
// as AddWith does. If the next run calls it too, k waits for the backoff of a first failure, after that for the
// backoff of a second one, and so on, so a time that stays in the past does not keep a worker busy. No failure is
// counted, and Options.RetryRate does not apply. The series of such runs ends when a run succeeds without calling
// AddOverdue, or when the key is cancelled and leaves the queue; a run that fails does not end it. A request in the
// meantime has its usual meaning: the earlier of the two times counts.
//
// AddOverdue returns the length of the series, this run included; it counts up to 64. A second call in the same run
// counts nothing. If k is not in progress, AddOverdue does the same as AddWith and returns 0.
func (q *Queue[K]) AddOverdue(k K, priority int) (row int) {
	hash := q.hash(k)
	q.mu.Lock()
	if e := q.store.find(hash, k); e != nil && e.running() {
		if !e.late {
			e.late, e.overdue = true, min(e.overdue+1, maxOverdue)
		}
		row = int(e.overdue)
	}
	q.mu.Unlock()
	var d time.Duration
	if row > 1 {
		d = q.options.Backoff(k, row-1) // not under the lock: it may be the caller's code
	}
	q.add(k, d, clamp(priority))
	return row
}

func (q *Queue[K]) add(k K, d time.Duration, priority int8) {
	var m membership
	if q.fair != nil {
		m = q.membership(k)
	}
	hash, now := q.hash(k), q.clock()
	q.mu.Lock()
	q.promote(now)
	e := q.store.get(hash, k)
	if q.fair != nil {
		q.join(e, m)
	}
	q.request(e, priority)
	if d <= 0 {
		q.makeReady(e, q.now)
	} else if at := after(q.now, d); !e.ready && at < e.due {
		q.delay(e, at, e.retry())
	}
	q.unlock()
}

// AddRateLimited counts a failure of k and makes k ready after its backoff, as if a run had failed. If k is ready or
// waits for a retry already, nothing is counted, and k becomes ready no earlier or later: repeated calls do not
// increase the delay. The priority is that of the run in progress, as it is for a run that fails, or 0 if k is not in
// progress.
func (q *Queue[K]) AddRateLimited(k K) {
	d := q.options.Backoff(k, q.Failures(k)+1) // not under the lock: it may be the caller's code
	var m membership
	if q.fair != nil {
		m = q.membership(k)
	}
	hash, now := q.hash(k), q.clock()
	q.mu.Lock()
	q.promote(now)
	e := q.store.get(hash, k)
	if q.fair != nil {
		q.join(e, m)
	}
	priority := int8(0)
	if e.running() {
		priority = q.running[e.seat].priority
	}
	q.request(e, priority)
	if !e.ready && !e.retrying() {
		e.fail(nil)
		q.retryAfter(e, d)
		if q.options.Hooks.Retry != nil {
			q.noteRetry(e, d, nil)
		}
	}
	q.unlock()
}

// request records the priority of a request for a run of e.
func (q *Queue[K]) request(e *entry[K], priority int8) {
	switch {
	case !e.pending():
		e.priority = priority
	case priority <= e.priority:
	case e.listed():
		q.readyOf(e).raise(e, priority)
	default:
		e.priority = priority
	}
}

func (q *Queue[K]) hash(k K) uint32 { return uint32(maphash.Comparable(q.seed, k)) }

// clock returns the present moment. Operations read it before they lock mu, because reading the clock takes as long as
// the rest of the operation. So a moment may be recorded after a later one; promote then uses the later one.
func (q *Queue[K]) clock() time.Duration { return time.Since(q.epoch) }

// unlock ends an operation that may have made a key ready, or ended a run.
func (q *Queue[K]) unlock() {
	if q.parked.first == nil && q.armed == never && q.notes == nil {
		q.mu.Unlock()
		return
	}
	q.notify()
	notes := q.notes
	q.notes = nil
	q.mu.Unlock()
	if notes != nil {
		notes.tell(q)
	}
}
