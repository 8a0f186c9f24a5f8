package cache

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// waiter is a WaitFor that has not been answered. Writers look at the list of them, which is empty most of the time, after
// each change; that and the first look are made under Store.write, so no change falls between the two.
type waiter struct {
	key     meta.Key
	version string
	seen    chan struct{} // closed when the store has seen version
}

// WaitFor waits until the cache has seen a write: that of the object at key which gave it resourceVersion, as an answer to
// a create, update, patch or delete carries it. So who writes through the server and reads from the cache reads what they
// have written, or something later; a deletion, a bookmark and a relist that are later count as well. It returns how long
// it waited, 0 if the cache was that far already.
//
// Resource versions are compared as [meta.CompareVersions] says. Where they cannot be ordered nobody can tell when the
// write has arrived: WaitFor then returns nil at once rather than wait for what may never be seen. The error, when ctx
// ends first, names the key, the version and the one that the cache is at, and wraps ctx's cause.
//
// WaitFor looks at the writers of the store that cover the key's namespace, also those that are added later, but not at one that
// [Writer.Restrict] limits to other namespaces. It costs writers nothing while nobody waits. Functions of indexes must not call it; a handler may, but keeps its subscription
// waiting too.
func (r Reader[T]) WaitFor(ctx context.Context, key meta.Key, resourceVersion string) (waited time.Duration, err error) {
	began := time.Now()
	if _, ok := meta.CompareVersions(resourceVersion, resourceVersion); !ok {
		return 0, nil
	}
	var w *waiter
	var seen chan struct{}
	if r.s != nil {
		if w = r.s.await(key, resourceVersion); w == nil {
			return 0, nil
		}
		seen = w.seen
		defer r.s.forget(w)
	}
	select {
	case <-seen:
		return time.Since(began), nil
	case <-ctx.Done():
	}
	if w != nil && ready(w.seen) { // of two that are ready, select takes any
		return time.Since(began), nil
	}
	return time.Since(began), fmt.Errorf("wait for version %s of %q: the cache is %s: %w",
		resourceVersion, key, r.s.whereabouts(key), context.Cause(ctx))
}

// await returns nil if the store has seen version of key already.
func (s *Store[T]) await(key meta.Key, version string) *waiter {
	s.write.Lock()
	defer s.unlock()
	w := &waiter{key: key, version: version, seen: make(chan struct{})}
	if s.hasSeen(w) {
		return nil
	}
	s.waiters = append(s.waiters, w)
	return w
}

func (s *Store[T]) forget(w *waiter) {
	s.write.Lock()
	defer s.unlock()
	s.waiters = slices.DeleteFunc(s.waiters, func(other *waiter) bool { return other == w })
}

// wake answers those whose write has been seen. The caller holds write, and has made a change.
func (s *Store[T]) wake() {
	if len(s.waiters) == 0 {
		return
	}
	s.waiters = slices.DeleteFunc(s.waiters, func(w *waiter) bool {
		if !s.hasSeen(w) {
			return false
		}
		close(w.seen)
		return true
	})
}

// hasSeen reports whether a writer whose version is about w's key, or the object there, is at w's version or a later one, or
// at one that cannot be compared with it. The object may be later than its writer, where a server sends versions out of order.
func (s *Store[T]) hasSeen(w *waiter) bool {
	reached := func(version string) bool {
		order, ok := meta.CompareVersions(version, w.version)
		return version != "" && (!ok || order >= 0)
	}
	if e := s.items.find(tagOf(s.seed, w.key), w.key); e != nil && reached(e.version) {
		return true
	}
	return slices.ContainsFunc(s.writers, func(p *Writer[T]) bool { return p.isAbout(w.key.Namespace) && reached(p.version) })
}

// whereabouts says which version the store is at as far as key is concerned.
func (s *Store[T]) whereabouts(key meta.Key) string {
	if s == nil {
		return "of no store"
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	at := "not of its namespace"
	for _, p := range s.writers {
		switch {
		case !p.covers(key.Namespace):
		case p.version == "", !p.isAbout(key.Namespace):
			at = "not filled yet"
		default:
			return "at " + p.version
		}
	}
	return at
}
