package cache

import (
	"iter"

	"github.com/bowline-go/bowline/client/meta"
)

// Entries loops over all objects with the identities that the server sent for them, which the objects need not have, in no
// particular order. Each loop runs over the objects that exist when it starts, and holds no lock. It does not count as a read
// of objects; see [Store.OnRead].
func (s *Store[T]) Entries() iter.Seq2[meta.Identity, T] {
	return func(yield func(meta.Identity, T) bool) {
		s.mu.RLock()
		s.touch()
		v := s.all.view()
		s.mu.RUnlock()
		for c := range v.tree.each {
			for _, e := range c.items {
				if e == nil {
					continue
				}
				id := meta.Identity{Namespace: e.key.Namespace, Name: e.key.Name, UID: e.uid, ResourceVersion: e.version}
				if !yield(id, e.obj) {
					return
				}
			}
		}
	}
}
