package cache

import (
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// Store holds the objects of one resource. It is the writer's side of a cache: everybody else has a [Reader].
//
// A store is meant for one writer, which calls Set, Delete, Bookmark and the methods of one [Relist] in the order of
// the server's events. Calls from several goroutines are safe, but their order is then anybody's guess. The zero
// Store is not usable; call [NewStore].
type Store[T meta.Object] struct {
	// Two locks. A change takes both, write first.
	//
	// write makes changes one after the other, from the first look at the old state until every subscription knows of
	// the change. Who holds it may read all fields. Functions of indexes run under it; handlers and loop bodies do not.
	//
	// mu makes a change visible at once. Outside of mu.Lock these agree: items, all and spaces hold the same entries;
	// each index holds each entry under exactly the values of its object; version is the resource version that they are
	// current to. Only precomputed steps run under mu.Lock, none of which calls code of the user.
	//
	// Each subscription has a lock of its own, which is taken last.
	write sync.Mutex
	mu    sync.RWMutex

	// Guarded by mu; who holds write may read them without it.
	items   table[meta.Key, *entry[T]]
	all     rows[T]
	spaces  buckets[string, T]
	version string

	// viewed is set under mu.RLock by who takes a view of a sequence, and makes the next write start a new generation:
	// see rows.
	viewed atomic.Bool
	gen    uint64

	// Guarded by write.
	indexes    []index[T]
	subs       []*subscriber[T]
	seq        uint64
	relist     *Relist[T] // the relist being staged, if any
	relists    uint64
	committed  bool // a relist has been committed
	delivering bool // Deliver is running
	single     [1]delta[T]

	// joined tells a running Deliver that subs has grown. It holds one token.
	joined chan struct{}
}

// entry is one state of one object. A new state is a new entry: what readers use does not change.
type entry[T any] struct {
	uid, version string
	obj          T
	seq          uint64 // the place in rows; that of the entry before, where it replaces one
	seen         uint64 // the last relist that contained it; read and written under Store.write only
}

// same reports whether id is this state of this object.
func (e *entry[T]) same(uid, version string) bool {
	return version != "" && e.version == version && e.uid == uid
}

// delta is the change of one key. At least one of old and now is not nil.
type delta[T any] struct {
	key      meta.Key
	old, now *entry[T]
	last     *entry[T] // the final state of old, where its object ends with this change
}

// ends reports whether the old object is not there any more.
func (d *delta[T]) ends() bool { return d.old != nil && (d.now == nil || d.now.uid != d.old.uid) }

// index is an Index without its key type.
type index[T any] interface {
	// prepare computes what deltas change. It is called under Store.write, and calls the user's function.
	prepare(deltas []delta[T])
	// commit makes the prepared changes. It is called under Store.mu.
	commit(gen uint64)
}

// NewStore returns an empty store. Nothing runs until [Store.Deliver] is called.
func NewStore[T meta.Object]() *Store[T] {
	return &Store[T]{gen: 1, joined: make(chan struct{}, 1)}
}

// Reader returns the view of the store that everybody but its writer has.
func (s *Store[T]) Reader() Reader[T] { return Reader[T]{s} }

// Set adds the object that id names, or replaces its state, and moves the store to id's resource version. It makes one
// change for the subscriptions: an object whose uid differs from the cached one counts as deleted and added. An object
// that the store holds in this very state already (same uid, same resource version) changes nothing, not even the
// store's resource version.
//
// The store keeps obj, which must not be nil and must not be changed afterwards.
func (s *Store[T]) Set(id meta.Identity, obj T) {
	s.write.Lock()
	defer s.write.Unlock()
	key := id.Key()
	old := s.items.m[key]
	if old != nil && old.same(id.UID, id.ResourceVersion) {
		return
	}
	now := &entry[T]{uid: id.UID, version: id.ResourceVersion, obj: obj}
	s.one(delta[T]{key: key, old: old, now: now, last: old}, id.ResourceVersion)
}

// Delete removes the object at id's key, and moves the store to id's resource version: that of the event, which says
// when the object went. last is the final state that the event carried; the subscriptions are given it, unless it is
// zero (nil) because it could not be decoded, or its uid is not that of the cached object: then they are given the
// cached state. Nobody is told of a key that is not there.
func (s *Store[T]) Delete(id meta.Identity, last T) {
	s.write.Lock()
	defer s.write.Unlock()
	key := id.Key()
	old := s.items.m[key]
	if old == nil {
		s.move(id.ResourceVersion)
		return
	}
	final := old
	if old.uid == id.UID && !reflect.ValueOf(&last).Elem().IsZero() {
		final = &entry[T]{uid: id.UID, version: id.ResourceVersion, obj: last}
	}
	s.one(delta[T]{key: key, old: old, last: final}, id.ResourceVersion)
}

// Bookmark moves the store to a resource version at which nothing else changed. Subscriptions do not see it.
func (s *Store[T]) Bookmark(resourceVersion string) {
	s.write.Lock()
	defer s.write.Unlock()
	s.move(resourceVersion)
}

// move sets the version; an event without one moves nothing.
func (s *Store[T]) move(version string) {
	if version == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version = version
}

// one applies a single change without allocating a slice for it.
func (s *Store[T]) one(d delta[T], version string) {
	if version == "" {
		version = s.version
	}
	s.single[0] = d
	defer clear(s.single[:])
	s.apply(s.single[:], version)
}

// apply makes the changes, at most one per key, and tells the subscriptions. The caller holds write.
//
// A function of an index that panics does so before anything has changed.
func (s *Store[T]) apply(deltas []delta[T], version string) {
	for i := range deltas {
		s.place(&deltas[i])
	}
	for _, ix := range s.indexes {
		ix.prepare(deltas)
	}
	if s.relist != nil {
		s.relist.written(deltas)
	}
	s.commit(deltas, version)
	if len(deltas) == 0 || len(s.subs) == 0 {
		return
	}
	now := time.Now()
	for _, sub := range s.subs {
		sub.note(deltas, now)
	}
}

// place gives a new entry its place in the sequences: that of the state before, or the last.
func (s *Store[T]) place(d *delta[T]) {
	if d.now == nil {
		return
	}
	if d.old != nil {
		d.now.seq = d.old.seq
		return
	}
	s.seq++
	d.now.seq = s.seq
}

func (s *Store[T]) commit(deltas []delta[T], version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.viewed.Load() {
		s.viewed.Store(false)
		s.gen++
	}
	s.items.reserve(len(deltas))
	for i := range deltas {
		d := &deltas[i]
		if d.now != nil {
			s.items.put(d.key, d.now)
			s.all.put(d.now, s.gen)
			s.spaces.put(d.key.Namespace, d.now, s.gen)
			continue
		}
		s.items.drop(d.key)
		s.all.drop(d.old, s.gen)
		s.spaces.drop(d.key.Namespace, d.old, s.gen)
	}
	for _, ix := range s.indexes {
		ix.commit(s.gen)
	}
	s.version = version
}
