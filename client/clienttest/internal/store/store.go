// Package store holds the objects of a server: their present state, their history, the watches that follow it, and the
// watch caches of replicas, which may be behind. It does not know about requests.
//
// A write is a transaction, from [Store.Begin] to [Tx.End]. A read returns a [Snapshot], which does not change.
package store

import (
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/meta"
)

// Store holds the objects of all collections, and counts their common resource version.
//
// mu protects the store, its collections and its caches. A transaction holds it from reading the present state to
// publishing the next, so writes are serial. A read holds it only to pick up a tree or an event, neither of which ever
// changes.
type Store struct {
	mu      sync.Mutex
	version uint64
	moved   chan struct{} // closed at the next change; nil while nothing waits for one

	collections []*Collection
	caches      []*Cache
	inNamespace map[string]int // the number of objects of each namespace

	floor  uint64 // versions below are compacted, in every collection
	marks  []mark // the times at which versions were reached; oldest first
	age    time.Duration
	length int
}

// New returns an empty store. It keeps at most length changes of each collection, for at most age.
func New(age time.Duration, length int) *Store {
	return &Store{inNamespace: map[string]int{}, age: age, length: length}
}

// Collection is the objects of one resource, with their recent history.
//
// History is a list of events in which each event knows the next, so a watch needs no queue: it holds its last event
// and follows the list at its own pace. An event that is too old for new requests is removed from the front of events,
// and is garbage collected when no watch holds it.
type Collection struct {
	store *Store
	name  meta.GVR
	kind  *object.Type

	tree   *object.Tree
	last   *Event
	events []*Event     // the events that a list or a watch can go back to; oldest first
	base   *object.Tree // the objects before events[0]
	floor  uint64       // the version of the newest event that was dropped because there were too many

	watches map[*Watch]struct{}
	since   uint64        // the version at which it was added
	gone    chan struct{} // closed when it is removed

	family *family // the views of its objects; nil if there is no other
	view   View    // makes its objects from those of the others
}

// family is collections that are views of the same objects.
type family struct {
	members []*Collection
	stored  View // nil if the store keeps what was written
}

// View returns an object as an object of a collection. The object may be one of that collection already.
type View func(*object.Draft) *object.Draft

// Event is one change of one object.
type Event struct {
	Version uint64
	// Prev and Next are the object before and after the change; nil if it did not exist.
	Prev, Next *object.Revision

	seq   uint64
	tree  *object.Tree  // all objects, after it
	after *Event        // the next event; read it only after ready is closed
	ready chan struct{} // closed when there is a next event
}

// Add adds a collection without objects.
func (tx Tx) Add(name meta.GVR, kind *object.Type) *Collection {
	s := tx.s
	// A watch cannot start before the collection existed.
	c := &Collection{
		store: s, name: name, kind: kind, since: s.version, floor: s.version,
		last:    &Event{Version: s.version, ready: make(chan struct{})},
		watches: map[*Watch]struct{}{}, gone: make(chan struct{}),
	}
	s.collections = append(s.collections, c)
	return c
}

// Join makes a new collection a view of the objects of others: a write to one of the collections is a write to all of
// them, in the same transaction. view makes the objects of the new collection. others may be nil. stored, if it is not
// nil, returns what the store keeps of an object that is written; the views are made from that.
func (tx Tx) Join(c *Collection, view View, others *Collection, stored View) {
	c.view = view
	if others == nil {
		c.family = &family{stored: stored}
	} else {
		c.family = others.family
	}
	c.family.members = append(c.family.members, c)
}

// Adopt gives a new collection, which has been joined, the objects of an old one, at their versions and without events.
// read turns an object of the old collection into the one that the view of the new collection starts from. The history
// of the collection starts now.
func (tx Tx) Adopt(c, old *Collection, read View) {
	for v := range old.tree.Between("", "") {
		c.tree = c.tree.Set(c.view(read(v.Draft())).Revision(c.kind, v.Version))
		tx.s.inNamespace[v.Key.Namespace]++
	}
	c.base, c.since = c.tree, old.since // a rollback to a version before now finds no history
}

// Version returns the present version: that of the last change of any object.
func (s *Store) Version() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

// Snapshot is the objects of a collection at a version. It does not change.
type Snapshot struct {
	*object.Tree
	Version uint64
}

// Present returns the present objects.
func (c *Collection) Present() Snapshot {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	return Snapshot{c.tree, c.store.version}
}

// Gone returns a channel that is closed when the collection is removed.
func (c *Collection) Gone() <-chan struct{} { return c.gone }

// Tx is a transaction. Until its End there is no other transaction, and no reader sees a part of its changes.
type Tx struct{ s *Store }

// Begin begins a transaction. The caller must call End.
func (s *Store) Begin() Tx {
	s.mu.Lock()
	return Tx{s}
}

// End ends the transaction.
func (tx Tx) End() { tx.s.mu.Unlock() }

// Outside calls f without the lock of the transaction, so f may take long and may use the store. The caller must then
// read again what it has read before.
func (tx Tx) Outside(f func()) {
	tx.s.mu.Unlock()
	defer tx.s.mu.Lock()
	f()
}

// Get returns an object, or nil.
func (tx Tx) Get(c *Collection, key meta.Key) *object.Revision { return c.tree.Get(object.PathOf(key)) }

// Objects returns the objects of a namespace, or all if it is empty, as they are now.
func (tx Tx) Objects(c *Collection, namespace string) iter.Seq[*object.Revision] {
	return c.tree.Between(object.Span(namespace))
}

// Count returns the number of objects.
func (tx Tx) Count(c *Collection) int { return c.tree.Len() }

// InNamespace returns the number of objects of all collections in a namespace.
func (tx Tx) InNamespace(name string) int { return tx.s.inNamespace[name] }

// Put commits an object's next state, and returns it with its new version. prev is its present state; nil means that
// it is new.
func (tx Tx) Put(c *Collection, prev *object.Revision, d *object.Draft) *object.Revision {
	tx.s.version++
	f := c.family
	if f == nil {
		return c.set(prev, d)
	}
	if f.stored != nil {
		d = f.stored(d)
	}
	var next *object.Revision
	for _, m := range f.members {
		is := m.view(d)
		if r := m.set(m.tree.Get(object.PathOf(is.Key())), is); m == c {
			next = r
		}
	}
	return next
}

// PutAt commits a new object at a version, which may be the present one.
func (tx Tx) PutAt(version uint64, c *Collection, d *object.Draft) {
	tx.s.version = version
	c.set(nil, d)
}

func (c *Collection) set(prev *object.Revision, d *object.Draft) *object.Revision {
	next := d.Revision(c.kind, c.store.version)
	c.commit(prev, next, c.tree.Set(next))
	return next
}

// Remove commits the removal of an object, and returns its last state with the version of the removal.
func (tx Tx) Remove(c *Collection, prev *object.Revision) *object.Revision {
	tx.s.version++
	members := []*Collection{c}
	if c.family != nil {
		members = c.family.members
	}
	for _, m := range members {
		m.commit(m.tree.Get(prev.Path), nil, m.tree.Remove(prev.Path))
	}
	return prev.At(tx.s.version)
}

// Drop removes a collection without events. Requests that have begun still see its objects.
func (tx Tx) Drop(c *Collection) {
	for v := range c.tree.Between("", "") {
		tx.s.leave(v.Key.Namespace)
	}
	tx.s.collections = slices.DeleteFunc(tx.s.collections, func(is *Collection) bool { return is == c })
	for _, cache := range tx.s.caches {
		delete(cache.own, c)
	}
	close(c.gone)
}

func (c *Collection) commit(prev, next *object.Revision, objects *object.Tree) {
	s := c.store
	if prev == nil {
		s.inNamespace[next.Key.Namespace]++
	}
	if next == nil {
		s.leave(prev.Key.Namespace)
	}
	e := &Event{Version: s.version, seq: c.last.seq + 1, Prev: prev, Next: next, tree: objects, ready: make(chan struct{})}
	c.tree = objects
	c.events = append(c.events, e)
	c.last.after = e
	close(c.last.ready)
	c.last = e
	s.wake()
	now := time.Now()
	s.mark(now)
	for _, cache := range s.caches {
		cache.note(now, s.version)
	}
	c.prune()
	for w := range c.watches {
		w.checkLag(e)
	}
}

// leave counts one object less in a namespace.
func (s *Store) leave(namespace string) {
	if s.inNamespace[namespace]--; s.inNamespace[namespace] == 0 {
		delete(s.inNamespace, namespace)
	}
}
