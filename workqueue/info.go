// Information about single keys, so that an operator can see why one does not move.

package workqueue

import (
	"cmp"
	"fmt"
	"iter"
	"sort"
	"time"
)

// KeyInfo is a snapshot of one key.
type KeyInfo[K comparable] struct {
	Key K
	// Group is the group of the key; empty without Options.Group.
	Group string
	// Pending says whether the key has a pending run, and what that run waits for.
	Pending Pending
	// Due is the time at which the key became ready, or will become ready if it is delayed or held. For a key that was
	// added while it was in progress, it is the time of the request. It is zero if no run is pending, or if the run
	// waits for Options.RetryRate alone.
	Due time.Time
	// Priority is the priority of the pending run.
	Priority int
	// Started is the time at which the run in progress began, zero if there is none. RunPriority is the priority of
	// that run.
	Started     time.Time
	RunPriority int
	// Failures is how often the key has failed in a row.
	Failures int
	// LastError is the error of the latest of these failures; nil if all were calls of AddRateLimited.
	LastError error
}

// Pending is the state of a key's pending run.
type Pending int

const (
	// NotPending is the zero value: the key has no pending run. It is in progress, or unknown.
	NotPending Pending = iota
	// Ready means that the run waits for a worker. If the key is in progress, it waits for the end of that run first.
	Ready
	// Delayed means that the run waits for its time, after AddAfter or a failure.
	Delayed
	// Held means that Hold has put the key aside.
	Held
	// Throttled means that the run is a retry whose time has come, and that Options.RetryRate holds it back.
	Throttled
)

// String returns the state in lower case.
func (p Pending) String() string {
	names := []string{"not pending", "ready", "delayed", "held", "throttled"}
	if p < 0 || int(p) >= len(names) {
		return fmt.Sprintf("Pending(%d)", int(p))
	}
	return names[p]
}

// Inspect returns a snapshot of k. It returns false if k is neither pending nor in progress.
func (q *Queue[K]) Inspect(k K) (KeyInfo[K], bool) {
	hash, now := q.hash(k), q.clock()
	q.mu.Lock()
	q.promote(now)
	e := q.store.find(hash, k)
	known := e != nil
	info := KeyInfo[K]{Key: k}
	if known {
		info = q.info(e)
	}
	q.unlock()
	return info, known
}

func (q *Queue[K]) info(e *entry[K]) KeyInfo[K] {
	i := KeyInfo[K]{Key: e.key}
	if q.fair != nil {
		i.Group = q.group(e).name
	}
	switch {
	case e.held:
		i.Pending = Held
		i.Due = q.epoch.Add(e.due)
	case e.ready:
		i.Pending = Ready
		i.Due = q.epoch.Add(e.due)
	case e.throttled:
		i.Pending = Throttled
		if e.due != never {
			i.Due = q.epoch.Add(e.due)
		}
	case e.pending():
		i.Pending = Delayed
		i.Due = q.epoch.Add(e.order)
	}
	if i.Pending != NotPending {
		i.Priority = int(e.priority)
	}
	if e.running() {
		r := q.running[e.seat]
		i.Started, i.RunPriority = q.epoch.Add(r.started), int(r.priority)
	}
	if e.streak != nil {
		i.Failures, i.LastError = e.streak.failures, e.streak.err
	}
	return i
}

// Keys returns all keys that are pending or in progress, each once: first those in progress, the longest first; then
// the ready ones, as they would be taken now if there were no groups; then the throttled ones; then those that are
// delayed or held, the earliest first.
//
// A loop over them sees the keys as they are when it begins. It copies all of them, which takes memory, and about 0.1
// s for a million keys; the queue is locked during the copy. The loop itself holds no lock.
func (q *Queue[K]) Keys() iter.Seq[KeyInfo[K]] {
	return func(yield func(KeyInfo[K]) bool) {
		for _, s := range q.snapshot() {
			if !yield(s.info) {
				return
			}
		}
	}
}

// snapshot is a key and its place among the others.
type snapshot[K comparable] struct {
	info     KeyInfo[K]
	group    int
	order    time.Duration
	sequence uint64
}

func (q *Queue[K]) snapshot() []snapshot[K] {
	now := q.clock()
	q.mu.Lock()
	q.promote(now)
	all := make([]snapshot[K], 0, q.store.table.n)
	for e := range q.store.all() {
		s := snapshot[K]{q.info(e), 3, e.order, e.sequence}
		switch {
		case e.running():
			s.group, s.order = 0, q.running[e.seat].started
		case e.listed():
			s.group = 1
		case e.throttled:
			s.group, s.order = 2, 0
		}
		all = append(all, s)
	}
	q.unlock()
	sort.Slice(all, func(i, j int) bool { // not slices.SortFunc, which would be compiled for each K
		a, b := &all[i], &all[j]
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.order, b.order), cmp.Compare(a.sequence, b.sequence)) < 0
	})
	return all
}
