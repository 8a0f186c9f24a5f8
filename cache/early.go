package cache

import "github.com/bowline-go/bowline/client/meta"

// This file is about reads of a cache that may not have come yet. Such a cache says of everything that it is not there, which
// a program can easily take for the truth. The store knows of reads, and whoever fills it knows what has come.

// Read says what was read.
type Read struct {
	// Op is the method: "Get", "All", "Namespace", "Sorted" or "Len" of a [Reader], "Select", "Index.Get", "Index.Len" or
	// "Index.Keys".
	Op string
	// Key is what Get looked for, and did not find; its namespace alone is set for Namespace.
	Key meta.Key
}

// OnRead has f called for each read of objects that may be too early, until it is called with nil: for Get where it finds
// nothing, and at the start of each loop, Len, and read of an index. f is called by the goroutine that reads, with no lock of
// the store held, and may read too. Once it is nil again, a Get that finds an object does nothing for this, and another read
// looks at one pointer.
//
// Subscriptions, ResourceVersion, WaitFor and [Store.Count] are no reads of objects.
func (s *Store[T]) OnRead(f func(Read)) {
	if f == nil {
		s.onRead.Store(nil)
		return
	}
	s.onRead.Store(&f)
}

// reading notes a read. It is small enough to be inlined.
func (s *Store[T]) reading(op string, key meta.Key) {
	if f := s.onRead.Load(); f != nil {
		(*f)(Read{op, key})
	}
}

// Count returns how many objects of a namespace the store holds, or of all where it is empty.
func (s *Store[T]) Count(namespace string) int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.count(namespace)
}
