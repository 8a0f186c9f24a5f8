package store

import "github.com/bowline-go/bowline/client/meta"

// This file handles reads of a cache that may not be filled yet. Such a cache reports every object as absent, and a
// program may take that for the truth. The store notices the reads; its informer knows what has been listed.

// OnRead registers f for reads of objects that may be too early: a Get that finds nothing, the start of a loop, a Len,
// and a read of an index. OnRead(nil) ends that. op is the method, and key the key that Get did not find, or the
// namespace. The reading goroutine calls f without holding a lock of the store, and f may read too. While f is nil, a
// Get that finds an object costs nothing more, and every other read looks at one pointer.
//
// Subscriptions, ResourceVersion, WaitFor, [Store.Count] and [Store.Entries] do not count as reads of objects.
func (s *Store[T]) OnRead(f func(op string, key meta.Key)) {
	if f == nil {
		s.onRead.Store(nil)
		return
	}
	s.onRead.Store(&f)
}

// reading reports a read. It is small enough to be inlined.
func (s *Store[T]) reading(op string, key meta.Key) {
	if f := s.onRead.Load(); f != nil {
		(*f)(op, key)
	}
}

// Count returns how many objects of a namespace the store holds, or how many it holds in all if namespace is empty.
func (s *Store[T]) Count(namespace string) int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.count(namespace)
}
