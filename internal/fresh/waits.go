// Package fresh makes the keys of a controller wait until caches have seen what their last reconciles wrote.
package fresh

import (
	"sync"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/follow"
	"github.com/bowline-go/bowline/internal/store"
)

// Cache is a cache that knows when it has seen a write.
type Cache interface {
	// AfterWrite calls f once when the cache has seen a write or never will. missed says that the object has gone since
	// the write, and that the cache may never have held it.
	AfterWrite(w follow.Write, f func(missed bool)) *store.Sight
}

// Place is a cache. By and Index together distinguish it from other caches of the same controller.
type Place struct {
	Cache Cache
	By    any
	Index int
}

// Waits has the unseen writes and the waiting keys of one run of a controller. Make one with [New]. It is safe for use
// by several goroutines at once. Caches call it when they have seen a write, so it needs no goroutine.
//
// A key that must wait is held in the queue. mu prevents this race:
//
//  1. A worker finds that a write has not been seen.
//  2. The cache sees the write, and finds that the key does not wait.
//  3. The worker makes the key wait, for nothing.
//
// So a worker looks for an unseen write and marks the key as waiting in one step under mu. A cache marks the write as
// seen and looks for a waiting key in one step under mu. AfterWrite is called without mu, because it may call back at
// once. The queue is called without mu, because it calls hooks, which may ask for the status of the controller. So the
// key may be released before it is held: Admit looks again after it has held the key. If a key is released once too
// often, Admit holds it again. Sight.Absent is called with mu.
type Waits[K comparable] struct {
	queue Queue[K]
	limit time.Duration // of a wait

	mu      sync.Mutex // guards the fields below
	ended   bool
	keys    map[K]*keyState // keys with unseen writes, and keys that have waited and not been admitted since
	leaving []leaving[K]    // the oldest first
	waiting int
}

// Queue is the queue of the keys.
type Queue[K comparable] interface {
	Add(k K)
	Hold(k K, d time.Duration)
	Release(k K)
}

// New returns Waits in which a key waits at most limit at a time. They hold waiting keys in q.
func New[K comparable](q Queue[K], limit time.Duration) *Waits[K] {
	return &Waits[K]{queue: q, limit: limit, keys: make(map[K]*keyState)}
}

// keyState has the unseen writes of a key.
type keyState struct {
	writes map[place]*sighting
	since  time.Time     // when it began to wait; zero if it does not
	waited time.Duration // the duration of the wait, set when it was released
	// released says that the key has waited, and has not been admitted since.
	released bool
}

// place is an object in a cache.
type place struct {
	by    any // as in Place
	index int
	key   meta.Key
}

// sighting is the last write of an object that a cache has not seen.
type sighting struct {
	cache Cache
	write follow.Write // without Sent, Answer and Read, which may be large
	sight *store.Sight // nil while AfterWrite has not returned
}

// leaving is a write of an object that the cache does not hold, and need not hold after the write; see
// [store.Sight.Absent]. The cache may never see such a write.
type leaving[K comparable] struct {
	key   K
	at    place
	s     *sighting
	until time.Time // when it is forgotten
}

// blocks reports whether a reconcile must not start.
func (s *sighting) blocks() bool { return s.sight == nil || !s.sight.Absent() }

func (of *keyState) blocks() bool {
	for _, s := range of.writes {
		if s.blocks() {
			return true
		}
	}
	return false
}

// Wrote notes a write of a reconcile of k. Only the last write of an object counts: a cache that has seen it has seen
// those before.
func (u *Waits[K]) Wrote(k K, caches []Place, w follow.Write) {
	for _, c := range caches {
		at := place{c.By, c.Index, w.Key}
		s := &sighting{cache: c.Cache, write: w}
		s.write.Sent, s.write.Answer, s.write.Read = nil, nil, nil
		before, ok := u.expect(k, at, s)
		if !ok {
			continue
		}
		// Expect the new write before ending the wait for the old one, so that the cache always knows that there is
		// one.
		u.lookOut(k, at, s, w)
		u.stop(before)
	}
}

// lookOut makes the cache watch for a write.
func (u *Waits[K]) lookOut(k K, at place, s *sighting, w follow.Write) {
	u.begun(k, at, s, s.cache.AfterWrite(w, func(missed bool) { u.saw(k, at, s, missed) }))
}

// expect adds a write, and returns the one that it replaces, if any. It returns false, and adds nothing, if the run
// has ended, or if the existing write has a later version: two goroutines have written at the same time.
func (u *Waits[K]) expect(k K, at place, s *sighting) (before *sighting, ok bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ended { // the write of a goroutine that has outlived its reconcile
		return nil, false
	}
	of := u.keys[k]
	if of == nil {
		of = &keyState{writes: make(map[place]*sighting)}
		u.keys[k] = of
	}
	before = of.writes[at]
	if before != nil {
		if order, known := meta.CompareVersions(s.write.ResourceVersion, before.write.ResourceVersion); known && order < 0 {
			return nil, false
		}
	}
	of.writes[at] = s
	return before, true
}

// begun notes that a cache watches for a write. If a later write has replaced it by then, or the run has ended, begun
// ends that watch.
func (u *Waits[K]) begun(k K, at place, s *sighting, sight *store.Sight) {
	u.mu.Lock()
	s.sight = sight
	of := u.keys[k]
	wanted, free := of != nil && of.writes[at] == s, false
	if wanted && !s.blocks() {
		u.leaving = append(u.leaving, leaving[K]{k, at, s, time.Now().Add(u.limit)})
		free = u.settle(of)
	}
	u.mu.Unlock()
	if free {
		u.queue.Release(k)
	}
	if !wanted {
		sight.Stop()
	}
}

// stop ends the wait of a cache for a write.
func (u *Waits[K]) stop(s *sighting) {
	if s == nil {
		return
	}
	u.mu.Lock()
	sight := s.sight
	u.mu.Unlock()
	if sight != nil { // otherwise begun ends it
		sight.Stop()
	}
}

// saw notes that a cache has seen a write, and gives the key back to the queue if it waited for nothing else.
//
// If the cache has missed the object, the key is added: a child that was created and deleted while the watch was away
// never comes into the cache, so no source names the key, and no reconcile would create the child again.
//
// A deletion has no version, unless the server has reported one. When its object leaves the cache, the reason may be
// another write that took it out of the selector, and the object may come back before the deletion arrives. So the
// cache then watches for the deletion again, as for an object that it does not hold.
func (u *Waits[K]) saw(k K, at place, s *sighting, missed bool) {
	u.mu.Lock()
	free, again := false, false
	if of := u.keys[k]; of != nil && of.writes[at] == s {
		// If sight is nil, AfterWrite has called back at once: the cache cannot watch for this write.
		if w := s.write; w.ResourceVersion == "" && w.DeletedAt == "" && s.sight != nil {
			s.sight = nil
			u.mu.Unlock()
			u.lookOut(k, at, s, w) // the object has left the cache, perhaps not by the deletion
			return
		}
		delete(of.writes, at)
		free, again = u.settle(of), missed
		u.tidy(k, of)
	}
	u.mu.Unlock()
	if again {
		u.queue.Add(k)
	}
	if free {
		u.queue.Release(k)
	}
}

// settle ends the wait of a key if nothing blocks it any more. If it returns true, the caller must release the key
// without mu. The caller holds mu.
func (u *Waits[K]) settle(of *keyState) bool {
	if of.since.IsZero() || of.blocks() {
		return false
	}
	u.unblock(of)
	return true
}

// unblock ends the wait of a key. The caller holds mu.
func (u *Waits[K]) unblock(of *keyState) {
	of.waited, of.released = time.Since(of.since), true
	of.since = time.Time{}
	u.waiting--
}

// tidy forgets a key if no write and no wait of it remain. The caller holds mu.
func (u *Waits[K]) tidy(k K, of *keyState) {
	if len(of.writes) > 0 || of.released {
		return
	}
	delete(u.keys, k)
	if len(u.keys) == 0 {
		u.keys = make(map[K]*keyState) // frees the memory of a peak
	}
}

// Admission is the answer to whether a key may be reconciled now.
type Admission struct {
	// OK says that the key may be reconciled. Otherwise the queue holds it.
	OK bool
	// Waited says that the key has waited, and After for how long.
	Waited bool
	After  time.Duration
	// Late are the writes that were not seen, if the key has waited for the limit.
	Late []Late
}

// Late is a write that a cache has not seen. Sent, Answer and Read are nil.
type Late struct {
	Cache Cache
	Write follow.Write
}

// Admit reports whether k may be reconciled now.
func (u *Waits[K]) Admit(k K) Admission {
	u.forget()
	u.mu.Lock()
	of := u.keys[k]
	if of == nil {
		u.mu.Unlock()
		return Admission{OK: true}
	}
	if !of.blocks() {
		if !of.since.IsZero() {
			u.unblock(of)
		}
		a := Admission{OK: true, Waited: of.released, After: of.waited}
		of.released = false
		u.tidy(k, of)
		u.mu.Unlock()
		return a
	}
	if of.since.IsZero() {
		of.since = time.Now()
		u.waiting++
	}
	a := Admission{Waited: true, After: time.Since(of.since)}
	if a.After < u.limit { // if another caller has released the key early, it is held again
		u.mu.Unlock()
		u.queue.Hold(k, u.limit-a.After)
		if !u.waitsFor(k) {
			u.queue.Release(k)
		}
		return a
	}
	a.OK = true
	u.waiting--
	delete(u.keys, k)
	var over []*sighting
	for _, s := range of.writes {
		over = append(over, s)
		if s.blocks() {
			a.Late = append(a.Late, Late{s.cache, s.write})
		}
	}
	u.mu.Unlock()
	for _, s := range over {
		u.stop(s)
	}
	return a
}

// waitsFor reports whether a key still waits.
func (u *Waits[K]) waitsFor(k K) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	of := u.keys[k]
	return of != nil && !of.since.IsZero()
}

// forget ends the watches for leaving writes that their caches have not seen within the limit, except for keys that
// wait.
func (u *Waits[K]) forget() {
	u.mu.Lock()
	var over []*sighting
	for now := time.Now(); len(u.leaving) > 0 && !now.Before(u.leaving[0].until); u.leaving = u.leaving[1:] {
		l := u.leaving[0]
		of := u.keys[l.key]
		if of == nil || of.writes[l.at] != l.s || !of.since.IsZero() {
			continue
		}
		delete(of.writes, l.at)
		over = append(over, l.s)
		u.tidy(l.key, of)
	}
	if len(u.leaving) == 0 {
		u.leaving = nil
	}
	u.mu.Unlock()
	for _, s := range over {
		u.stop(s)
	}
}

// End forgets all writes.
func (u *Waits[K]) End() {
	u.mu.Lock()
	keys := u.keys
	u.ended, u.keys, u.leaving, u.waiting = true, nil, nil, 0
	u.mu.Unlock()
	for _, of := range keys {
		for _, s := range of.writes {
			u.stop(s)
		}
	}
}

// Waiting returns how many keys wait.
func (u *Waits[K]) Waiting() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.waiting
}
