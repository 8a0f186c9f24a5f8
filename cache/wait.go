package cache

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// waiter is an unanswered WaitFor. After each change, writers check the list of waiters, which is mostly empty. That check
// and the first one are made under Store.write, so no change falls between the two.
type waiter struct {
	key     meta.Key
	version string
	seen    chan struct{} // closed when the store has seen version
}

// WaitFor waits until the cache has seen a write of the object at key. resourceVersion is the version that the create,
// update, patch or delete returned. So a program that writes through the server and reads from the cache reads its write,
// or something later; a later deletion, bookmark or relist counts as well. WaitFor returns how long it waited, 0 if the
// cache was that far already.
//
// [meta.CompareVersions] compares the resource versions. If they have no order, nobody can tell when the write has
// arrived: WaitFor then returns nil at once rather than wait forever. If ctx ends first, the error names the key, the
// version and the cache's version, and wraps ctx's cause.
//
// WaitFor looks at the writers of the store that cover the key's namespace, also those that are added later, but not at
// one that [Writer.Restrict] limits to other namespaces. It costs writers nothing while nobody waits. Index functions must
// not call it; a handler may, but its subscription then waits too.
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
	if w != nil && ready(w.seen) { // if both are ready, select picks any
		return time.Since(began), nil
	}
	return time.Since(began), fmt.Errorf("wait for version %s of %q: the cache is %s: %w",
		resourceVersion, key, r.s.whereabouts(key), context.Cause(ctx))
}

// await returns a new waiter, or nil if the store has already seen version of key.
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

// wake answers the waiters whose write has been seen. The caller holds write, and has made a change.
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

// hasSeen reports whether the store is at w's version, at a later one, or at one that cannot be compared with it. It looks
// at the object, and at each writer whose version covers w's key. The object may be later than its writer, if a server
// sends versions out of order.
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

// whereabouts describes the store's version as far as key is concerned.
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
