package store

import (
	"iter"

	"github.com/bowline-go/bowline/client/meta"
)

// Entries loops over all objects, in no particular order, with the identities that the server sent; the objects
// themselves need not contain them. Each loop runs over the objects that exist when it starts, and holds no lock. It
// does not count as a read of objects; see [Store.OnRead].
func (s *Store[T]) Entries() iter.Seq2[meta.Identity, T] {
	return func(yield func(meta.Identity, T) bool) {
		s.mu.RLock()
		s.touch()
		v := s.viewAll()
		s.mu.RUnlock()
		for c := range v.tree.each {
			for _, e := range c.items {
				if e == nil {
					continue
				}
				if obj, ok := s.own(e); ok && !yield(e.identity(), obj) {
					return
				}
			}
		}
	}
}

// Snapshot returns the version that the writer is current to, and a loop over the objects of its namespace as they are
// at that version. The object is the zero T if it does not unpack. Every other rule of [Store.Entries] applies.
func (p *Writer[T]) Snapshot() (version string, objects iter.Seq2[meta.Identity, T]) {
	s := p.s
	s.mu.RLock()
	defer s.mu.RUnlock()
	s.touch()
	v := s.all.view()
	return p.version, func(yield func(meta.Identity, T) bool) {
		for c := range v.tree.each {
			for _, e := range c.items {
				if e == nil || !p.covers(e.key.Namespace) {
					continue
				}
				if obj, _ := s.own(e); !yield(e.identity(), obj) {
					return
				}
			}
		}
	}
}

// Identity returns the identity of the object that the store holds for a key. Like Entries it does not count as a read.
func (s *Store[T]) Identity(key meta.Key) (id meta.Identity, found bool) {
	s.write.Lock()
	defer s.unlock()
	if _, e := s.look(key); e != nil {
		return e.identity(), true
	}
	return id, false
}
