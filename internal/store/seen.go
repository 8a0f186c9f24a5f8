package store

import (
	"slices"

	"github.com/bowline-go/bowline/client/meta"
)

// Write is a write of an object of the cache that the server has stored, for [Store.AfterSeen].
type Write struct {
	// Identity has the object's key and uid, and the resource version that the write has made. Without a resource
	// version, the write is a deletion after which the object is gone. If the server has reported the version of such
	// a deletion, set that version, and Outside.
	meta.Identity
	// Outside says that the object does not belong in the cache after the write, for example because it no longer
	// matches the selector.
	Outside bool
}

// AfterSeen calls f once when the cache has seen a write: from then on readers find what was written, or something
// later. If the cache has already seen it, AfterSeen calls f before it returns. Otherwise the goroutine whose change
// of the store shows the write calls f, after the change and without a lock of the store. f must return soon and must
// not panic; it may use the store.
//
// missed says that the cache should hold the object after the write, but is past the write and does not hold it. Then
// the object has gone. If the cache has never held it, no subscription hears of it.
//
// The cache has seen a write when one of these is true:
//
//   - It holds the object at the write's version, or one with a later version under its key.
//   - It is at the write's version or a later one, as WaitFor says, with or without the object.
//   - The write was a deletion after which the object is gone, and the cache has held the object and no longer does. A
//     deletion without a uid means the object that the cache holds; if it holds none, the cache has seen the deletion.
//   - The write's version cannot be ordered.
//
// After a write that takes its object out of the cache, the cache need not hold the object. But an event that shows
// that the cache has seen the write may come late, or never. See [Sight.Absent].
//
// With n waits in progress, a call costs O(log n), and so does each change that ends one.
func (s *Store[T]) AfterSeen(w Write, f func(missed bool)) *Sight {
	a := &waiter{key: w.Key(), version: w.ResourceVersion, ends: true}
	a.answer = func() { f(!a.ended && s.hasMissed(w)) }
	leaves, seen := s.expect(a, w)
	if seen {
		a.answer()
		return &Sight{}
	}
	sight := &Sight{stop: func() bool { return s.forget(a) }}
	if leaves {
		sight.absent = func() bool { return !s.isPresent(a.key, a.gone) }
	}
	return sight
}

// hasMissed reports whether the store is past a write after which it should hold the object, and does not hold it.
func (s *Store[T]) hasMissed(w Write) bool {
	if w.ResourceVersion == "" || w.Outside || s.isPresent(w.Key(), w.UID) {
		return false
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.ContainsFunc(s.writers, func(p *Writer[T]) bool {
		order, ok := meta.CompareVersions(p.version, w.ResourceVersion)
		return ok && order >= 0 && p.isAbout(w.Namespace)
	})
}

// isPresent reports whether readers find an object at key. If uid is not empty, the object must have it.
func (s *Store[T]) isPresent(key meta.Key, uid string) bool {
	e := s.find(tagOf(s.seed, key), key)
	return e != nil && (uid == "" || e.uid == uid)
}

// expect adds the waiter a, unless the store has seen the write w. leaves reports that w takes the object out of the
// cache, and that no waiter waits for an earlier write of the object that has a version.
func (s *Store[T]) expect(a *waiter, w Write) (leaves, seen bool) {
	s.write.Lock()
	defer s.unlock()
	_, present := s.look(a.key)
	earlier := s.waits.of[a.key]
	leaves = w.Outside && !slices.ContainsFunc(earlier, func(other *waiter) bool { return other.version != "" })
	if w.ResourceVersion == "" {
		if a.gone = w.UID; a.gone == "" {
			if present == nil {
				return false, true
			}
			a.gone = present.uid
		}
		// The cache may not have seen the object yet, so the wait is also for the latest of the earlier writes.
		for _, other := range earlier {
			if order, ok := meta.CompareVersions(other.version, a.version); ok && order > 0 || a.version == "" {
				a.version = other.version
			}
		}
		leaves = a.version == ""
		a.unborn = leaves && (present == nil || present.uid != a.gone)
	}
	if _, ok := meta.CompareVersions(a.version, a.version); !ok && a.version != "" || s.hasSeen(a) {
		return false, true
	}
	s.waits.add(a)
	return leaves, false
}

// Sight is a wait of [Store.AfterSeen]. The zero Sight is a wait that has ended.
type Sight struct {
	stop, absent func() bool
}

// Stop prevents the call of the function, and reports whether it did: it returns false if the wait has already ended.
func (s *Sight) Stop() bool { return s.stop != nil && s.stop() }

// Absent reports whether the write took its object out of the cache, and the cache does not hold it. Then there is
// nothing to wait for now. But an older state of the object may still arrive, from another client's write that the
// cache has not seen; from then on Absent returns false, until the function is called. Absent also returns false if
// AfterSeen was called during a wait for an earlier write of the object that has a version, because the state of that
// write will arrive.
func (s *Sight) Absent() bool { return s.absent != nil && s.absent() }

// EndWaits calls the functions of [Store.AfterSeen] that wait for writes in the namespaces for which of() is true:
// the store will not follow them. Calls of WaitFor go on, because a later writer may cover the namespace.
func (s *Store[T]) EndWaits(of func(namespace string) bool) {
	s.write.Lock()
	defer s.unlock()
	var ended []*waiter
	for key, all := range s.waits.of {
		if of(key.Namespace) {
			ended = append(ended, all...)
		}
	}
	for _, w := range ended {
		if w.ends {
			w.ended = true
			s.answer(w)
		}
	}
}

// waiter is an unanswered WaitFor or AfterSeen. It has been added under Store.write, after a look at the store, and
// both under one lock, so that no change comes between them.
type waiter struct {
	key     meta.Key
	version string // the version that the store must reach; empty if none
	gone    string // the uid that the store must no longer hold; empty if none
	unborn  bool   // the store has not held that uid yet
	ends    bool   // EndWaits answers it
	ended   bool   // EndWaits has answered it
	answer  func() // called with no lock held
	// at has the waiter's places in two heaps of waits, that of all waiters and that of its namespace; -1 if it is in
	// none.
	at [2]int
}

// hasSeen reports whether the store has seen w's write: see AfterSeen. It looks at the object, and at each writer
// whose version covers w's key. The object may be later than its writer, if a server sends versions out of order.
func (s *Store[T]) hasSeen(w *waiter) bool {
	_, e := s.look(w.key)
	if w.unborn || w.gone != "" && e != nil && e.uid == w.gone {
		return false
	}
	return w.version == "" || e != nil && w.reachedBy(e.version) ||
		slices.ContainsFunc(s.writers, func(p *Writer[T]) bool { return p.isAbout(w.key.Namespace) && w.reachedBy(p.version) })
}

// reachedBy reports whether version is equal to w's, later, or not comparable with it.
func (w *waiter) reachedBy(version string) bool {
	order, ok := meta.CompareVersions(version, w.version)
	return version != "" && (!ok || order >= 0)
}

// wake answers the waiters whose writes the cache has seen by a change: by deltas, or by the new version of p. The
// caller holds write.
func (s *Store[T]) wake(p *Writer[T], deltas []delta[T]) {
	if len(s.waits.of) == 0 {
		return
	}
	for i := range deltas {
		for _, w := range slices.Clone(s.waits.of[deltas[i].key()]) {
			w.unborn = w.unborn && (deltas[i].now == nil || deltas[i].now.uid != w.gone)
			if s.hasSeen(w) {
				s.answer(w)
			}
		}
	}
	switch {
	case p.about != nil:
		for ns := range s.waits.in {
			if p.isAbout(ns) {
				s.reached(s.waits.in[ns], p.version)
			}
		}
	case p.namespace == "":
		s.reached(&s.waits.all, p.version)
	default:
		s.reached(s.waits.in[p.namespace], p.version)
	}
}

// reached tells the waiters of a heap that the store is at a version.
func (s *Store[T]) reached(h *versions, version string) {
	for h != nil && len(h.waiters) > 0 && h.waiters[0].reachedBy(version) {
		w := h.waiters[0]
		s.waits.unheap(w)
		if w.version = ""; s.hasSeen(w) { // it may still wait for its object to go
			s.answer(w)
		}
	}
}

// answer removes w, and lets unlock call its function. The caller holds write.
func (s *Store[T]) answer(w *waiter) {
	if s.waits.remove(w) {
		s.answers = append(s.answers, w.answer)
	}
}

// forget removes w, and reports whether it was there.
func (s *Store[T]) forget(w *waiter) bool {
	s.write.Lock()
	defer s.unlock()
	return s.waits.remove(w)
}
