package cache

import (
	"context"
	"fmt"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

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
	seen := make(chan struct{})
	if r.s != nil {
		w := &waiter{key: key, version: resourceVersion, answer: func() { close(seen) }}
		if r.s.await(w) {
			return 0, nil
		}
		defer r.s.forget(w)
	}
	select {
	case <-seen:
		return time.Since(began), nil
	case <-ctx.Done():
	}
	if ready(seen) { // if both are ready, select picks any
		return time.Since(began), nil
	}
	return time.Since(began), fmt.Errorf("wait for version %s of %q: the cache is %s: %w",
		resourceVersion, key, r.s.whereabouts(key), context.Cause(ctx))
}

// await adds w to the waiters, unless the store has already seen its write: then it returns true.
func (s *Store[T]) await(w *waiter) (seen bool) {
	s.write.Lock()
	defer s.unlock()
	if s.hasSeen(w) {
		return true
	}
	s.waits.add(w)
	return false
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
