package store

import (
	"cmp"
	"hash/maphash"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/packed"
)

// Store holds the objects of one resource. A nil *Store reads as an empty store; call [New] for one that can be
// written.
type Store[T meta.Object] struct {
	// Two locks. A change takes both, write first.
	//
	// write serializes changes, from the first look at the old state until every subscription knows of the change. Its
	// holder may read all fields. Index functions run under it; handlers and loop bodies do not.
	//
	// mu makes a change visible at once. Outside of mu.Lock these agree: items, all and spaces hold the same entries;
	// each index holds each entry under exactly the values of its object; each writer's version is the one that its
	// objects are current to. Only precomputed steps run under mu.Lock, and none of them calls code of the user. A
	// large change takes only a few steps there, however many objects it has: see replace.
	//
	// Each subscription has its own lock, which is taken last.
	write sync.Mutex
	mu    sync.RWMutex

	// moment lets Get avoid a lock for which all readers would contend. It is odd during a change that Get could see
	// half-done. Get reads moment before and after it searches items; if the two differ, or are odd, it takes mu and
	// searches again.
	moment atomic.Uint64

	// Guarded by mu; a holder of write may read them without it.
	items    keys[T]
	all      rows[T]
	spaces   buckets[string]
	labelled []*Index[string, T] // the indexes that Select may use

	onRead     atomic.Pointer[func(op string, key meta.Key)] // see OnRead
	delivering atomic.Bool                                   // Deliver is running

	// viewed is set under mu.RLock when a view of the rows is taken. It makes the next write start a new generation:
	// see rows.
	viewed atomic.Bool

	// Guarded by write; the list of writers by mu too.
	gen       uint64
	large     int // replace makes changes of this many objects or more
	writers   []*Writer[T]
	staging   []*Relist[T] // the relists being staged
	indexes   []index[T]
	subs      []*subscriber[T]
	journal   journal[T]
	waits     waits
	answers   []func() // unlock calls them
	mutations *mutations[T]
	packs     *packs[T] // nil if entries hold their objects decoded; only NewPacked sets it
	single    [1]delta[T]
	deliver   func(*subscriber[T]) // starts the goroutine of a subscription; nil if no Deliver runs

	seed maphash.Seed
}

// entry is one state of one object. A new state is a new entry, so the entries that readers use never change.
type entry[T any] struct {
	key          meta.Key
	uid, version string
	obj          T // zero in a store of packed objects; see packedEntry
	// tag is the key's tag in keys, and row the row in rows; an entry that replaces another has the same tag and row.
	// Readers do not look at row.
	tag, row uint32
}

// same reports whether e is the state of the object that uid and version name. An empty version names none.
func (e *entry[T]) same(uid, version string) bool {
	return version != "" && e.version == version && e.uid == uid
}

// identity returns the identity that the server sent.
func (e *entry[T]) identity() meta.Identity {
	return meta.Identity{Namespace: e.key.Namespace, Name: e.key.Name, UID: e.uid, ResourceVersion: e.version}
}

// delta is the change of one key. At least one of old and now is not nil.
type delta[T any] struct {
	old, now *entry[T]
	last     *entry[T] // the final state of old, if this change ends its object
	anew     bool      // now differs from old, even if the versions are equal; see Relist.Replace
}

// ends reports whether the old object is gone.
func (d *delta[T]) ends() bool { return d.old != nil && (d.now == nil || d.now.uid != d.old.uid) }

// entry returns a state of the delta's key.
func (d *delta[T]) entry() *entry[T] {
	if d.now != nil {
		return d.now
	}
	return d.old
}

func (d *delta[T]) key() meta.Key { return d.entry().key }

// index is an Index without its key type.
type index[T any] interface {
	// prepare computes the effects of deltas. It is called under Store.write, and calls the user's function.
	prepare(deltas []delta[T])
	// commit applies the prepared changes. It is called under Store.mu, once the entries have their rows.
	commit(gen uint64)
	// fork is commit without Store.mu: readers see nothing of it before swap, which is called under Store.mu. If all
	// is true, a renumbering follows.
	fork(gen uint64, all bool)
	swap()
	// renumber replaces rows as rows.renumber has done. It is called after commit, or between fork and swap.
	renumber(to []uint32, gen uint64)
}

// largeChange is the number of objects at which the writer begins to prepare new tables beside those of the readers.
// Putting one object in place takes up to 3 µs in a large cache, for each index.
const largeChange = 1000

// New returns an empty store. Nothing runs until [Store.Deliver] is called.
func New[T meta.Object]() *Store[T] {
	return &Store[T]{gen: 1, large: largeChange, seed: maphash.MakeSeed()}
}

// content is an object, with its packed text if that is known.
type content[T any] struct {
	obj  T
	text packed.Text
}

// entry returns a state of an object.
func (s *Store[T]) entry(key meta.Key, id meta.Identity, c content[T], tag uint32) *entry[T] {
	if s.packs != nil {
		return s.packs.entry(key, id, c, tag)
	}
	return &entry[T]{key: key, uid: id.UID, version: id.ResourceVersion, obj: c.obj, tag: tag}
}

// unlock ends a change. After releasing the lock it calls the functions of ended waits, and reports the findings of
// the mutation check.
func (s *Store[T]) unlock() {
	answers := s.answers
	s.answers = nil
	if s.mutations == nil {
		s.write.Unlock()
	} else {
		report, found := s.mutations.take()
		s.write.Unlock()
		for _, err := range found {
			report(err)
		}
	}
	for _, f := range answers {
		f()
	}
	s.packs.tell()
}

// look returns the tag of a key, and the entry or nil. The caller holds write.
func (s *Store[T]) look(key meta.Key) (tag uint32, e *entry[T]) {
	tag = tagOf(s.seed, key)
	return tag, s.items.find(tag, key)
}

func (s *Store[T]) set(p *Writer[T], id meta.Identity, obj T, text packed.Text) {
	key := id.Key()
	tag, old := s.look(key)
	if old != nil && old.same(id.UID, id.ResourceVersion) {
		return
	}
	if old != nil {
		// Share the memory of the namespace. The name may share its memory with uid and version.
		key.Namespace = old.key.Namespace
	}
	now := s.entry(key, id, content[T]{obj, text}, tag)
	s.one(p, delta[T]{old: old, now: now, last: old}, id.ResourceVersion)
}

func (s *Store[T]) delete(p *Writer[T], id meta.Identity, last T, text packed.Text) {
	_, old := s.look(id.Key())
	if old == nil {
		s.move(p, id.ResourceVersion)
		return
	}
	final := old
	if old.uid == id.UID && !reflect.ValueOf(&last).Elem().IsZero() {
		final = s.entry(old.key, id, content[T]{last, text}, 0)
	}
	s.one(p, delta[T]{old: old, last: final}, id.ResourceVersion)
}

// move sets the version of a writer, unless version is empty.
func (s *Store[T]) move(p *Writer[T], version string) {
	if version == "" {
		return
	}
	s.mu.Lock()
	p.version = version
	s.mu.Unlock()
	s.wake(p, nil)
}

// one applies a single change without allocating a slice for it.
func (s *Store[T]) one(p *Writer[T], d delta[T], version string) {
	version = cmp.Or(version, p.version)
	s.single[0] = d
	defer clear(s.single[:])
	s.apply(p, s.single[:], version)
}

// apply makes the changes, at most one per key, and tells the subscriptions. The caller holds write.
//
// If an index function panics, it does so before anything has changed.
func (s *Store[T]) apply(p *Writer[T], deltas []delta[T], version string) {
	for _, ix := range s.indexes {
		ix.prepare(deltas)
	}
	for _, r := range s.staging {
		r.written(deltas)
	}
	if s.mutations != nil {
		s.mutations.follow(deltas)
	}
	s.commit(p, deltas, version)
	s.wake(p, deltas)
	if len(deltas) == 0 || len(s.subs) == 0 {
		return
	}
	s.journal.objects = s.all.n
	s.journal.add(deltas, time.Now())
}

func (s *Store[T]) commit(p *Writer[T], deltas []delta[T], version string) {
	if len(deltas) >= s.large {
		s.replace(p, deltas, version)
		return
	}
	s.items.reserve(added(deltas))
	s.mu.Lock()
	defer s.mu.Unlock()
	// Replacing one state by another is a single step already.
	if len(deltas) != 1 || deltas[0].old == nil || deltas[0].now == nil {
		s.moment.Add(1)
		defer s.moment.Add(1)
	}
	if s.viewed.Load() {
		s.viewed.Store(false)
		s.gen++
	}
	in := tables[T]{&s.items, &s.all, &s.spaces}
	for i := range deltas {
		in.put(&deltas[i], s.gen)
	}
	for _, ix := range s.indexes {
		ix.commit(s.gen)
	}
	p.version = version
	if s.all.sparse() {
		s.renumber(in)
	}
}

// replace makes a large change in forks of the tables, which share unchanged parts with the tables, and then replaces
// the tables by the forks. So readers wait only for a few assignments, and Get does not wait at all: items takes its
// place in one step, and moment need not change.
//
// The new generation makes rows and sets of rows copy what they change, as if there were a view of everything.
func (s *Store[T]) replace(p *Writer[T], deltas []delta[T], version string) {
	s.gen++
	var items keys[T]
	items.copy(&s.items, added(deltas))
	all, spaces := s.all, s.spaces
	if slices.ContainsFunc(deltas, func(d delta[T]) bool { return d.old == nil || d.now == nil }) {
		spaces = s.spaces.fork()
	}
	in := tables[T]{&items, &all, &spaces}
	for i := range deltas {
		in.put(&deltas[i], s.gen)
	}
	sparse := all.sparse()
	for _, ix := range s.indexes {
		ix.fork(s.gen, sparse)
	}
	if sparse {
		s.renumber(in)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.viewed.Store(false) // all views taken so far are of older generations
	s.items.become(&items)
	s.all, s.spaces = all, spaces.joined()
	for _, ix := range s.indexes {
		ix.swap()
	}
	p.version = version
}

func added[T any](deltas []delta[T]) (n int) {
	for i := range deltas {
		if deltas[i].old == nil {
			n++
		}
	}
	return n
}

// tables are the tables that hold the entries: those of the store, or their forks.
type tables[T any] struct {
	items  *keys[T]
	all    *rows[T]
	spaces *buckets[string]
}

func (t tables[T]) put(d *delta[T], gen uint64) {
	switch {
	case d.old == nil:
		d.now.row = t.all.next()
		// Entries share one copy of their namespace.
		d.now.key.Namespace = t.spaces.add(d.now.key.Namespace, d.now.row, gen).value
		t.all.put(d.now, gen)
		t.items.add(d.now)
	case d.now == nil:
		t.items.drop(d.old)
		t.all.drop(d.old, gen)
		t.spaces.drop(t.spaces.m[d.old.key.Namespace], d.old.row, gen)
	default:
		d.now.row = d.old.row
		t.items.replace(d.old, d.now)
		t.all.put(d.now, gen)
	}
}

// renumber gives the remaining objects new rows, when most have gone.
func (s *Store[T]) renumber(in tables[T]) {
	to := in.all.renumber(s.gen)
	in.spaces.renumber(to, s.gen)
	for _, ix := range s.indexes {
		ix.renumber(to, s.gen)
	}
	for _, r := range s.staging {
		r.renumber(to)
	}
}
