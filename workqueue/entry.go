// One key's state.

package workqueue

import "time"

// entry is the state of one key. It exists while the key is pending or in progress.
type entry[K comparable] struct {
	key    K
	streak *streak // nil unless the key has failed
	// due is when the key becomes ready after AddAfter or Hold. If the key is ready and not held, due is when it
	// became ready. Otherwise due is never.
	due time.Duration
	// order and sequence are the entry's place in a heap. sequence also orders the keys that became ready at the same
	// moment.
	order      time.Duration
	sequence   uint64
	hash       uint32
	index      int32 // the place in a heap, -1 outside of heaps
	seat       int32 // in Queue.running, -1 while the key is not in progress
	ref        ref   // names this entry
	prev, next ref   // in a list, or among the entries that are free
	priority   int8  // of the pending run, if there is one
	level      int8  // the priority whose list the entry is in, while it is in one
	ready      bool
	throttled  bool // in the list of that name
	held       bool // see Hold
	aside      bool // the present run has called Hold
	late       bool // the present run has called AddOverdue
	overdue    int8 // how many runs in a row have called AddOverdue; at most maxOverdue
}

// maxOverdue bounds the count of overdue runs: a delay that doubles so often from 1 ns exceeds any bound.
const maxOverdue = 64

// streak records a key's failures in a row.
type streak struct {
	failures int
	err      error         // the latest error; nil if all failures were calls of AddRateLimited
	retry    time.Duration // when the key becomes ready because it failed; never if it does not wait for that
}

// running reports whether the key is in progress.
func (e *entry[K]) running() bool { return e.seat >= 0 }

// listed reports whether e is in Queue.ready, or in ready of its group, where workers take it.
func (e *entry[K]) listed() bool { return e.ready && !e.held && !e.running() }

// pending reports whether the key has a run that has not started.
func (e *entry[K]) pending() bool { return e.ready || e.throttled || e.index >= 0 }

// retry is when e becomes ready because it failed.
func (e *entry[K]) retry() time.Duration {
	if e.streak == nil {
		return never
	}
	return e.streak.retry
}

// retrying reports whether e waits because it failed.
func (e *entry[K]) retrying() bool { return e.throttled || e.retry() != never }

func (e *entry[K]) failures() int {
	if e.streak == nil {
		return 0
	}
	return e.streak.failures
}

// fail counts a failure; err is nil if there was no run.
func (e *entry[K]) fail(err error) {
	if e.streak == nil {
		e.streak = &streak{retry: never}
	}
	e.streak.failures++
	if err != nil {
		e.streak.err = err
	}
}

// succeed forgets the failures. It also ends the series of overdue runs, unless the present run continues it.
func (e *entry[K]) succeed() {
	if !e.late {
		e.overdue = 0
	}
	if e.streak == nil {
		return
	}
	if e.streak.failures, e.streak.err = 0, nil; !e.retrying() {
		e.streak = nil
	}
}
