package store

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// journal holds the changes of a store that a subscription may not have read yet. A write adds its changes once,
// however many subscriptions there are; each reads on from its own position, in its own goroutine.
//
// The journal is a list of segments, and each subscription is in one of them. A segment is freed when no subscription
// is in it or before it. A subscription that does not read must not make the journal grow with each change. So the
// writer merges neighbouring segments that no subscription is in: the result has one step for each key, from the state
// before both segments to the state after both. After merging, each segment is smaller than half of its predecessor,
// unless one of the two has a subscription. So the merged segments between two subscriptions have at most twice as
// many steps as there are distinct keys. Each subscription that stands still at another position thus makes the
// journal longer.
//
// A subscription that takes every state (see EveryState) gets each step as it was written: the writer does not merge
// what such a subscription has not read. It merges that too once the subscription is behind by more changes than the
// store has objects, and by more than mostBehind. So for a handler that hangs the journal keeps about as many steps as
// the store has objects, or mostBehind if that is more.
type journal[T meta.Object] struct {
	// last is the number of the newest change. Guarded by Store.write.
	last uint64
	// objects is how many objects the store has. Guarded by Store.write.
	objects int

	// mu guards the fields below. It is taken after Store.write and after subscriber.mu.
	mu      sync.Mutex
	parts   []*segment[T] // writes go to the last one
	readers int           // subscriptions
	asleep  []*subscriber[T]
}

// segment is a part of the journal. Steps are never changed once they are in it, so reading them takes no lock.
type segment[T any] struct {
	before  uint64       // the number of the last change before the segment
	steps   []step[T]    // its length is the capacity of the segment
	n       atomic.Int64 // how many steps are set
	cleared int          // how many steps all subscriptions have read; guarded by journal.mu
	readers int          // subscriptions in this segment; guarded by journal.mu
	every   int          // those of them that take every state; guarded by journal.mu
}

// count notes that a subscription enters the segment (by is 1) or leaves it (by is -1).
func (part *segment[T]) count(every bool, by int) {
	part.readers += by
	if every {
		part.every += by
	}
}

// step is a change of one key, or several that have been merged.
type step[T any] struct {
	delta[T]
	number uint64 // of the change, or of the first of them
	since  time.Time
}

// smallest and largest are the sizes of segments, except those of large changes and of merged segments.
const smallest, largest = 8, 256

// mostUnmerged is how many changes the journal may have before the writer merges any. So a subscription that is a
// little late costs the writer nothing, and one that is further behind keeps at most about so many replaced states
// alive.
const mostUnmerged = 1 << 12

// mostBehind is how many changes a subscription that takes every state may be behind before they are merged, in a
// store with fewer objects than that.
const mostBehind = 1 << 14

// follow merges d, which comes after the step. It returns true if nothing has changed in the end.
//
// The object of the step's old state can be deleted by any of the merged changes. Then last must be its final state.
// So follow sets last at each change that takes the key from a state of this object to another object or to none. If
// the key is back in a state of this object in the end, last is not used.
func (st *step[T]) follow(d *delta[T]) (void bool) {
	if st.old != nil && d.ends() && d.old.uid == st.old.uid {
		st.last = d.last
	}
	st.now = d.now
	st.anew = st.anew || d.anew
	return !d.anew && st.void()
}

// void reports whether nothing has changed: the object came and went, or is back in the state that it had.
func (st *step[T]) void() bool {
	if st.old == nil || st.now == nil {
		return st.old == st.now
	}
	return st.old.same(st.now.uid, st.now.version)
}

// add records changes, and wakes the subscriptions that sleep. The caller holds Store.write.
func (j *journal[T]) add(deltas []delta[T], now time.Time) {
	if j.write(deltas, now) {
		j.merge()
	}
}

// write reports whether it has begun a segment.
func (j *journal[T]) write(deltas []delta[T], now time.Time) (began bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.readers == 0 {
		j.last += uint64(len(deltas))
		return false
	}
	to := j.parts[len(j.parts)-1]
	n := int(to.n.Load())
	if n+len(deltas) > len(to.steps) {
		to = j.begin(max(len(deltas), smallest, min(2*len(to.steps), largest)))
		n, began = 0, true
	}
	for i := range deltas {
		j.last++
		to.steps[n+i] = step[T]{delta: deltas[i], number: j.last, since: now}
	}
	to.n.Store(int64(n + len(deltas)))
	for i, q := range j.asleep {
		q.asleep = false
		send(q.wake)
		j.asleep[i] = nil
	}
	j.asleep = j.asleep[:0]
	return began
}

func (j *journal[T]) begin(room int) *segment[T] {
	part := &segment[T]{before: j.last, steps: make([]step[T], room)}
	j.parts = append(j.parts, part)
	return part
}

// merge merges segments that are not needed one by one. Readers go on during the merge; if one enters a segment that
// is being merged, the merge is discarded. The caller holds Store.write.
func (j *journal[T]) merge() {
	for {
		group := j.group()
		if group == nil || !j.replace(group, mergeSegments(group)) {
			return
		}
	}
}

// group returns neighbours that are worth merging, or nil. Each has at most twice as many steps as those after it, so
// a step is merged again only when the segment has become half as large again.
func (j *journal[T]) group() []*segment[T] {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.trim()
	if j.held() <= mostUnmerged {
		return nil
	}
	end, n := j.mergeable(), int64(0)
	for i := end - 1; ; i-- {
		if i >= 0 && j.parts[i].readers == 0 && (n == 0 || j.parts[i].n.Load() <= 2*n) {
			n += j.parts[i].n.Load()
			continue
		}
		if end-i > 2 {
			return slices.Clone(j.parts[i+1 : end])
		}
		if i < 0 {
			return nil
		}
		end, n = i, 0
		if j.parts[i].readers == 0 {
			end, n = i+1, j.parts[i].n.Load()
		}
	}
}

// held returns how many changes the journal has.
func (j *journal[T]) held() (n int64) {
	for _, part := range j.parts {
		n += part.n.Load()
	}
	return n
}

// mergeable returns how many of the oldest segments may be merged: never the last one, which is being written, nor
// those that a subscription for every state has not read, unless it is too far behind.
func (j *journal[T]) mergeable() int {
	end, behind := len(j.parts)-1, 0
	for i, part := range slices.Backward(j.parts) {
		if part.every > 0 && behind <= max(mostBehind, j.objects) {
			end = i
		}
		behind += int(part.n.Load())
	}
	return end
}

// replace puts one segment in the place of a group, unless a subscription has entered the group or the group has left
// the journal.
func (j *journal[T]) replace(group []*segment[T], by *segment[T]) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	i := slices.Index(j.parts, group[0])
	if i < 0 || slices.ContainsFunc(group, func(part *segment[T]) bool { return part.readers > 0 }) {
		return false
	}
	j.parts = slices.Replace(j.parts, i, i+len(group), by)
	return true
}

func mergeSegments[T any](group []*segment[T]) *segment[T] {
	n := 0
	for _, part := range group {
		n += int(part.n.Load())
	}
	steps := make([]step[T], 0, n)
	at := make(map[meta.Key]int, n)
	for _, part := range group {
		for _, st := range part.steps[:part.n.Load()] {
			key := st.key()
			i, found := at[key]
			switch {
			case !found:
				at[key] = len(steps)
				steps = append(steps, st)
			case steps[i].follow(&st.delta):
				steps[i] = step[T]{}
				delete(at, key)
			}
		}
	}
	steps = slices.DeleteFunc(steps, func(st step[T]) bool { return st.old == nil && st.now == nil })
	if len(steps) < n/2 {
		steps = slices.Clone(steps)
	}
	merged := &segment[T]{before: group[0].before, steps: steps}
	merged.n.Store(int64(len(steps)))
	return merged
}

// trim frees the segments that all subscriptions have read.
func (j *journal[T]) trim() {
	n := 0
	for n < len(j.parts)-1 && j.parts[n].readers == 0 {
		n++
	}
	j.parts = slices.Delete(j.parts, 0, n)
}

// join puts q at the end of the journal. The caller holds Store.write.
func (j *journal[T]) join(q *subscriber[T]) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.readers++
	if len(j.parts) == 0 {
		j.begin(smallest)
	}
	q.part = j.parts[len(j.parts)-1]
	q.part.count(q.every, 1)
	q.at, q.read = int(q.part.n.Load()), j.last
}

// leave takes q out of the journal. The caller holds q.mu.
func (j *journal[T]) leave(q *subscriber[T]) {
	j.mu.Lock()
	defer j.mu.Unlock()
	q.part.count(q.every, -1)
	q.part = nil
	if q.asleep {
		j.asleep = slices.DeleteFunc(j.asleep, func(other *subscriber[T]) bool { return other == q })
	}
	if j.readers--; j.readers == 0 {
		j.parts, j.asleep = nil, nil
		return
	}
	j.trim()
	j.clear()
}

// advance takes q from the end of its segment to the next one. It returns false if there is nothing to read. The
// caller holds q.mu.
func (j *journal[T]) advance(q *subscriber[T]) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if q.at < int(q.part.n.Load()) {
		return true
	}
	i := slices.Index(j.parts, q.part) + 1
	if i == len(j.parts) {
		return false
	}
	q.part.count(q.every, -1)
	q.part = j.parts[i]
	q.part.count(q.every, 1)
	q.at, q.read = 0, q.part.before
	j.trim()
	return true
}

// end returns the number of the newest change, if there are subscriptions.
func (j *journal[T]) end() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.parts) == 0 {
		return 0
	}
	part := j.parts[len(j.parts)-1]
	return part.before + uint64(part.n.Load())
}

// from calls f with the steps that q has not read. The caller holds q.mu.
func (j *journal[T]) from(q *subscriber[T], f func(*step[T])) {
	j.mu.Lock()
	defer j.mu.Unlock()
	at := q.at
	for _, part := range j.parts[slices.Index(j.parts, q.part):] {
		steps := part.steps[at:part.n.Load()]
		for i := range steps {
			f(&steps[i])
		}
		at = 0
	}
}

// sleep makes the next change wake q. If there is something to read already, it does not, and returns false. The
// caller holds q.mu.
func (j *journal[T]) sleep(q *subscriber[T]) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if q.part != j.parts[len(j.parts)-1] || q.at < int(q.part.n.Load()) {
		return false
	}
	if !q.asleep {
		q.asleep = true
		j.asleep = append(j.asleep, q)
		j.clear()
	}
	return true
}

// clear frees the states in the last segment when all subscriptions have read it.
func (j *journal[T]) clear() {
	part := j.parts[len(j.parts)-1]
	n := int(part.n.Load())
	switch {
	case len(j.asleep) < j.readers || part.cleared == n:
		return
	case len(part.steps) > largest:
		part.steps = nil // the next change begins another segment
	default:
		clear(part.steps[part.cleared:n])
	}
	part.cleared = n
}
