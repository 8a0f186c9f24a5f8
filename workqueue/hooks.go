// Hooks: what a program may observe.

package workqueue

import "time"

// Hooks are functions that a queue calls on events, for metrics. Each may be nil, and costs nothing then.
//
// They are called by the goroutine whose call of a method caused the event, or by the queue's timer, with no lock
// held, so they may call the queue. Each must be safe for use by several goroutines at once, must return soon, and
// must not panic. Because no lock is held, two events of one key may arrive in a different order from the one in which
// they happened.
//
// Dashboards of client-go and controller-runtime query the following metrics. In controller-runtime, only depth has a
// label for the priority:
//
//	adds_total                         calls of Add
//	queue_duration_seconds             HookInfo.Duration of Start
//	work_duration_seconds              HookInfo.Duration of Done
//	retries_total                      calls of Retry
//	depth                              [Queue.ReadyByPriority]
//	unfinished_work_seconds            [Stats].Unfinished
//	longest_running_processor_seconds  [Stats].Longest
type Hooks[K comparable] struct {
	// Add is called when a key becomes ready: at once by Add, when its time has come if it was delayed, and when it is
	// settled if it was in progress. A request that changes nothing does not call it.
	Add func(HookInfo[K])
	// Start is called when a worker has taken a key, before it runs the function.
	Start func(HookInfo[K])
	// Done is called when a run has ended and its key is settled.
	Done func(HookInfo[K])
	// Retry is called when a failure was counted and its retry was scheduled, because a run failed or AddRateLimited
	// was called.
	Retry func(HookInfo[K])
}

// HookInfo describes an event of a key to a hook.
type HookInfo[K comparable] struct {
	Key K
	// Priority is that of the run: of the pending one for Add and Retry, of the present one for Start and Done.
	Priority int
	// Failures is how often the key has failed in a row; for Done, this run included.
	Failures int
	// Duration depends on the hook. For Start, it is how long the key was ready, without an earlier delay or time in
	// progress. For Done, it is how long the run took. For Retry, it is the delay before Options.RetryRate applies, or
	// 0 if the key does not wait because it was added in the meantime. For Add, it is 0.
	Duration time.Duration
	// Err is what the function returned, for Done and Retry. If it panicked or ended its goroutine, Err says so. It is
	// nil for a Retry of AddRateLimited.
	Err error
}

// notes are the events of one operation.
type notes[K comparable] struct {
	added, done, retried, started []HookInfo[K]
}

// note returns the notes of the present operation.
func (q *Queue[K]) note() *notes[K] {
	if q.notes == nil {
		if q.notes, _ = q.pool.Get().(*notes[K]); q.notes == nil {
			q.notes = &notes[K]{}
		}
	}
	return q.notes
}

func (q *Queue[K]) noteAdd(e *entry[K]) {
	n := q.note()
	n.added = append(n.added, HookInfo[K]{Key: e.key, Priority: int(e.priority), Failures: e.failures()})
}

func (q *Queue[K]) noteStart(e *entry[K]) {
	n := q.note()
	n.started = append(n.started, HookInfo[K]{e.key, int(e.priority), e.failures(), q.now - e.due, nil})
}

func (q *Queue[K]) noteDone(e *entry[K], err error) {
	n, r := q.note(), q.running[e.seat]
	failures := 0
	if err != nil {
		failures = e.failures()
	}
	n.done = append(n.done, HookInfo[K]{e.key, int(r.priority), failures, q.now - r.started, err})
}

func (q *Queue[K]) noteRetry(e *entry[K], d time.Duration, err error) {
	if e.ready && !e.held {
		d = 0
	}
	n := q.note()
	n.retried = append(n.retried, HookInfo[K]{e.key, int(e.priority), e.failures(), max(d, 0), err})
}

// tell calls the hooks. Only this goroutine uses n during the call; afterwards n returns to the pool.
func (n *notes[K]) tell(q *Queue[K]) {
	h := &q.options.Hooks
	for _, i := range n.added {
		h.Add(i)
	}
	for _, i := range n.done {
		h.Done(i)
	}
	for _, i := range n.retried {
		h.Retry(i)
	}
	for _, i := range n.started {
		h.Start(i)
	}
	clear(n.added) // the keys may be collected
	clear(n.done)
	clear(n.retried)
	clear(n.started)
	*n = notes[K]{n.added[:0], n.done[:0], n.retried[:0], n.started[:0]}
	q.pool.Put(n)
}
