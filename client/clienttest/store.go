package clienttest

import (
	"sync"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/meta"
)

// store holds the objects of all resources and counts their common resource version.
// mu protects the store, its registry and every collection. A write holds it from reading the present state to publishing the
// next, so writes are serial. A read holds it only to pick up a tree or an event, neither of which ever changes.
type store struct {
	mu sync.Mutex
	registry
	version uint64
	moved   chan struct{} // closed at the next change; nil while nothing waits for one

	replicas []*Replica

	inNamespace map[string]int // the number of objects of each namespace
	namespaces  *resource

	floor   uint64 // versions below are compacted, in every collection
	marks   []mark // the times at which versions were reached; oldest first
	age     time.Duration
	history int
}

// mark says that the version had been reached at the end of the span of time that starts at since.
type mark struct {
	since   time.Time
	version uint64
}

// collection is the objects of one resource, with their recent history.
//
// History is a list of events in which each event knows the next, so a watch needs no queue: it holds its last event and follows
// the list at its own pace. An event that no new request can ask for is removed from the front of events, and is collected when
// no watch holds it.
type collection struct {
	tree   *object.Tree
	last   *event
	events []*event     // the events that a list or a watch can go back to; oldest first
	base   *object.Tree // the objects before events[0]
	floor  uint64       // the version of the newest event that was dropped because there were too many

	watches map[*watch]struct{}
}

// event is one change of one object.
type event struct {
	version    uint64
	seq        uint64
	prev, next *object.Revision // before and after; nil if the object did not exist
	tree       *object.Tree     // all objects, after it

	after *event        // the next event; read it only after ready is closed
	ready chan struct{} // closed when there is a next event
}

func newStore(age time.Duration, history int) *store {
	return &store{
		registry:    registry{resources: map[meta.GVR]*resource{}},
		inNamespace: map[string]int{},
		age:         age, history: history,
	}
}

// register adds a resource without objects.
func (s *store) register(r *resource) error {
	if err := s.add(r); err != nil {
		return err
	}
	s.serve(r)
	return nil
}

// serve adds a resource that is known to be valid.
func (s *store) serve(r *resource) {
	s.resources[r.GVR()] = r
	r.since, r.gone = s.version, make(chan struct{})
	// A watch cannot start before the resource existed.
	r.objects = collection{
		last:    &event{version: s.version, ready: make(chan struct{})},
		floor:   s.version,
		watches: map[*watch]struct{}{},
	}
}

// put commits an object's next state, and returns it with its new version.
func (s *store) put(r *resource, prev *object.Revision, d *object.Draft) *object.Revision {
	s.version++
	next := d.Revision(&r.Type, s.version)
	s.commit(r, prev, next, r.objects.tree.Set(next))
	if t := r.twin; t != nil {
		is := t.viewOf(d).Revision(&t.Type, s.version)
		s.commit(t, t.objects.tree.Get(is.Path), is, t.objects.tree.Set(is))
	}
	return next
}

// remove commits the removal of an object, and returns its last state with the version of the removal.
func (s *store) remove(r *resource, prev *object.Revision) *object.Revision {
	s.version++
	s.commit(r, prev, nil, r.objects.tree.Remove(prev.Path))
	if t := r.twin; t != nil {
		s.commit(t, t.objects.tree.Get(prev.Path), nil, t.objects.tree.Remove(prev.Path))
	}
	return prev.At(s.version)
}

func (s *store) commit(r *resource, prev, next *object.Revision, objects *object.Tree) {
	if prev == nil {
		s.inNamespace[next.Key.Namespace]++
	}
	if next == nil {
		if s.inNamespace[prev.Key.Namespace]--; s.inNamespace[prev.Key.Namespace] == 0 {
			delete(s.inNamespace, prev.Key.Namespace)
		}
	}
	c := &r.objects
	e := &event{version: s.version, seq: c.last.seq + 1, prev: prev, next: next, tree: objects, ready: make(chan struct{})}
	c.tree = objects
	c.events = append(c.events, e)
	c.last.after = e
	close(c.last.ready)
	c.last = e
	s.wake()
	now := time.Now()
	s.mark(now)
	for _, p := range s.replicas {
		p.note(now, s.version)
	}
	s.prune(c)
	for w := range c.watches {
		w.checkLag(e)
	}
}

// wake wakes the requests that wait for a change.
func (s *store) wake() {
	if s.moved != nil {
		close(s.moved)
		s.moved = nil
	}
}

// next returns a channel that is closed at the next change of anything.
func (s *store) next() <-chan struct{} {
	if s.moved == nil {
		s.moved = make(chan struct{})
	}
	return s.moved
}

// mark records that the present version has been reached by now. Marks are a small part of the age apart, so that there are few
// of them.
func (s *store) mark(now time.Time) {
	const parts = 256
	if n := len(s.marks); n > 0 && now.Sub(s.marks[n-1].since) < s.age/parts {
		s.marks[n-1].version = s.version
		return
	}
	s.marks = append(s.marks, mark{now, s.version})
}

// prune drops events from a collection's history that are too old or too many.
func (s *store) prune(c *collection) {
	now, old := time.Now(), 0
	for ; old < len(s.marks) && now.Sub(s.marks[old].since) >= s.age; old++ {
		s.floor = max(s.floor, s.marks[old].version)
	}
	s.marks = s.marks[old:]
	drop := max(0, len(c.events)-s.history)
	if drop > 0 {
		c.floor = c.events[drop-1].version
	}
	for drop < len(c.events) && c.events[drop].version <= s.floor {
		drop++
	}
	if drop > 0 {
		c.base = c.events[drop-1].tree
		clear(c.events[:drop])
		c.events = c.events[drop:]
	}
}

// oldest returns the oldest version that a list or watch of the collection can go back to.
func (s *store) oldest(c *collection) uint64 {
	s.prune(c)
	return max(s.floor, c.floor)
}

// compact drops the whole history. Lists at versions before the present one, and watches from there, are then too old.
func (s *store) compact() {
	s.floor, s.marks = s.version, nil
	for _, r := range s.resources {
		s.prune(&r.objects)
	}
}

// upTo returns the last event of the collection whose version is not greater, or nil if that is before the history.
func (c *collection) upTo(version uint64) *event {
	lo, hi := 0, len(c.events)
	for lo < hi {
		mid := (lo + hi) / 2
		if c.events[mid].version <= version {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return nil
	}
	return c.events[lo-1]
}

// snapshot returns the collection at a version, which must not be older than oldest nor newer than the present.
func (c *collection) snapshot(version uint64) *object.Tree {
	if e := c.upTo(version); e != nil {
		return e.tree
	}
	return c.base
}
