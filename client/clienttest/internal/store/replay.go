package store

import (
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
)

// A recorded object is put into the store as it is: at its own version if that is possible, and without a conversion to
// the stored version of its kind.

// Load adds or replaces an object at its own version, without an event. The caller must call Rebase afterwards.
func (tx Tx) Load(c *Collection, version uint64, d *object.Draft) {
	for m, is := range c.views(d) {
		next := is.Revision(m.kind, version)
		if m.tree.Get(next.Path) == nil {
			tx.s.inNamespace[next.Key.Namespace]++
		}
		m.tree = m.tree.Set(next)
	}
}

// Unload removes an object without an event. The caller must call Rebase afterwards.
func (tx Tx) Unload(c *Collection, prev *object.Revision) {
	for _, m := range c.members() {
		if m.tree.Get(prev.Path) != nil {
			m.tree = m.tree.Remove(prev.Path)
			tx.s.leave(prev.Key.Namespace)
		}
	}
}

// Rebase makes a version the present one, unless it is older, and drops the history before it. There must be no watch
// yet.
func (tx Tx) Rebase(version uint64) {
	s := tx.s
	s.version = max(s.version, version)
	s.floor, s.marks = s.version, nil
	for _, c := range s.collections {
		c.base, c.events, c.floor = c.tree, nil, s.version
		c.last = &Event{Version: s.version, seq: c.last.seq, ready: make(chan struct{})}
	}
	for _, cache := range s.caches {
		cache.reset(s.version)
	}
}

// PutFrom commits an object's next state at a version, or at the store's next one if it has reached that version.
func (tx Tx) PutFrom(version uint64, c *Collection, d *object.Draft) *object.Revision {
	tx.s.version = max(version, tx.s.version+1)
	var next *object.Revision
	for m, is := range c.views(d) {
		if r := m.set(m.tree.Get(object.PathOf(is.Key())), is); m == c {
			next = r
		}
	}
	return next
}

// RemoveFrom commits the removal of an object at a version, or at the store's next one if it has reached that version.
func (tx Tx) RemoveFrom(version uint64, c *Collection, prev *object.Revision) {
	tx.s.version = max(version, tx.s.version+1) - 1
	tx.Remove(c, prev)
}

// members returns the collections that have the objects of c, in their order.
func (c *Collection) members() []*Collection {
	if c.family == nil {
		return []*Collection{c}
	}
	return c.family.members
}

// views returns an object as each of the members has it.
func (c *Collection) views(d *object.Draft) func(yield func(*Collection, *object.Draft) bool) {
	return func(yield func(*Collection, *object.Draft) bool) {
		for _, m := range c.members() {
			is := d
			if m.view != nil {
				is = m.view(d)
			}
			if !yield(m, is) {
				return
			}
		}
	}
}
