package store

import (
	"context"
	"fmt"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// WaitFor is cache.Reader.WaitFor.
func (s *Store[T]) WaitFor(ctx context.Context, key meta.Key, resourceVersion string) (waited time.Duration, err error) {
	began := time.Now()
	if _, ok := meta.CompareVersions(resourceVersion, resourceVersion); !ok {
		return 0, nil
	}
	seen := make(chan struct{})
	if s != nil {
		w := &waiter{key: key, version: resourceVersion, answer: func() { close(seen) }}
		if s.await(w) {
			return 0, nil
		}
		defer s.forget(w)
	}
	select {
	case <-seen:
		return time.Since(began), nil
	case <-ctx.Done():
	}
	if ready(seen) { // if both are ready, select picks any
		return time.Since(began), nil
	}
	return time.Since(began), fmt.Errorf("%s: %w", s.whereabouts(key), context.Cause(ctx))
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

// whereabouts describes the version of the store that applies to key.
func (s *Store[T]) whereabouts(key meta.Key) string {
	if s == nil {
		return "the zero Reader has no cache"
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	at := fmt.Sprintf("the cache does not cover namespace %q", key.Namespace)
	for _, p := range s.writers {
		switch {
		case !p.covers(key.Namespace):
		case p.version == "", !p.isAbout(key.Namespace):
			at = "the cache is not filled yet"
		default:
			return "the cache is at version " + p.version
		}
	}
	return at
}
