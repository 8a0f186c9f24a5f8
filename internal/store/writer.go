package store

import (
	"slices"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/packed"
)

// Writer writes the objects of one namespace, or of all, into a [Store]. It has its own resource version and its own
// relists, so several reflectors can fill one store. A call with the key of another namespace has no effect.
//
// Writers may overlap: the writer of everything covers each namespace, so one writer can take over from others. The
// later of two writes to one object counts, and an object belongs to each writer that covers it.
//
// A writer lasts until [Writer.Drop]; after that its methods do nothing. Its methods may be called from any goroutine.
type Writer[T meta.Object] struct {
	s         *Store[T]
	namespace string // "" is all

	// Guarded by s.mu for readers, and changed under s.write too.
	version string
	about   func(namespace string) bool // see Restrict; nil means every namespace

	// Guarded by s.write.
	committed bool
	expired   bool // Expire was called after a Commit
	ended     bool
}

// Writer returns the writer of a namespace, and adds it to the store if there is none; "" is the writer of everything.
//
// A new writer has committed nothing, so a subscription that is made from then on becomes synced only after its first
// Commit. Objects that the store holds already belong to the writer from the start: its first [Relist] keeps, replaces
// or removes them.
func (s *Store[T]) Writer(namespace string) *Writer[T] {
	s.write.Lock()
	defer s.unlock()
	return s.writer(namespace)
}

// writer finds or adds a writer. The caller holds write.
func (s *Store[T]) writer(namespace string) *Writer[T] {
	for _, p := range s.writers {
		if p.namespace == namespace {
			return p
		}
	}
	p := &Writer[T]{s: s, namespace: namespace}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writers = append(s.writers, p)
	return p
}

// Set adds the object that id names, or replaces its state, and moves the writer to id's resource version. It is one
// change for the subscriptions: an object whose uid differs from the cached one counts as deleted and added. If the
// store already holds exactly this state (same uid, same resource version), Set changes nothing, not even the resource
// version.
//
// The store keeps obj, which must not be nil and must not be changed afterwards.
func (p *Writer[T]) Set(id meta.Identity, obj T) { p.SetPacked(id, obj, packed.Text{}) }

// SetPacked is Set for an object whose packed text is known; see [NewPacked].
func (p *Writer[T]) SetPacked(id meta.Identity, obj T, text packed.Text) {
	p.s.write.Lock()
	defer p.s.unlock()
	if p.has(id.Namespace) {
		p.s.set(p, id, obj, text)
	}
}

// Delete removes the object at id's key, and moves the writer to id's resource version, which is that of the event.
// last is the final state that the event carried, and the subscriptions receive it. They receive the cached state
// instead if last is zero (nil) because it could not be decoded, or if its uid is not that of the cached object. If the
// key is not in the store, no handler is called.
func (p *Writer[T]) Delete(id meta.Identity, last T) { p.DeletePacked(id, last, packed.Text{}) }

// DeletePacked is Delete for an object whose packed text is known; see [NewPacked].
func (p *Writer[T]) DeletePacked(id meta.Identity, last T, text packed.Text) {
	p.s.write.Lock()
	defer p.s.unlock()
	if p.has(id.Namespace) {
		p.s.delete(p, id, last, text)
	}
}

// Bookmark moves the writer to a resource version at which nothing else changed. Subscriptions do not see it.
func (p *Writer[T]) Bookmark(resourceVersion string) {
	p.s.write.Lock()
	defer p.s.unlock()
	if !p.ended {
		p.s.move(p, resourceVersion)
	}
}

// Restrict tells WaitFor that the writer's resource version applies only to the namespaces for which about returns
// true. The version says nothing about other namespaces, even if the writer covers them. Use it for a writer of
// everything that leaves out the objects of other namespaces: its version advances with their events, but the store
// does not hold those changes. After the Commit of a list of another namespace, call Restrict again. A nil about ends
// the restriction. about is called with locks of the store held, and must always return the same for a namespace.
func (p *Writer[T]) Restrict(about func(namespace string) bool) {
	s := p.s
	s.write.Lock()
	defer s.unlock()
	if p.ended {
		return
	}
	s.mu.Lock()
	p.about = about
	s.mu.Unlock()
	s.wake(p, nil)
}

// isAbout reports whether the writer's version applies to a namespace.
func (p *Writer[T]) isAbout(namespace string) bool {
	return p.covers(namespace) && (p.about == nil || p.about(namespace))
}

// Relist starts to stage a full list. It ends an earlier, uncommitted Relist of this writer; those of other writers go
// on.
func (p *Writer[T]) Relist() *Relist[T] { return p.RelistOf(nil) }

// RelistOf is [Writer.Relist] for a list of a part of the objects: [Relist.Commit] removes an object that was not
// listed only if of(id) is true for it. The store calls of with locks held. A nil of makes it a full list.
func (p *Writer[T]) RelistOf(of func(meta.Identity) bool) *Relist[T] {
	s := p.s
	s.write.Lock()
	defer s.unlock()
	s.endRelist(p)
	r := &Relist[T]{s: s, p: p, of: of, ended: p.ended}
	if !r.ended {
		s.staging = append(s.staging, r)
	}
	return r
}

// Expire says that the objects may no longer be those of the server. A subscription that is made afterwards becomes
// synced only after [Writer.Confirm], or the next Commit of a full list. The same holds for a subscription that still
// waits for the first Commit of another writer. The objects stay, and Expire does not affect subscriptions that are
// synced or only have to handle their initial objects. It does nothing before the first Commit.
func (p *Writer[T]) Expire() {
	p.s.write.Lock()
	defer p.s.unlock()
	p.expired = p.expired || p.committed
	p.committed = false
}

// Confirm says that the objects of an expired writer are current. It does nothing for any other writer.
func (p *Writer[T]) Confirm() {
	p.s.write.Lock()
	defer p.s.unlock()
	if p.ended || !p.expired {
		return
	}
	p.committed, p.expired = true, false
	p.s.arm()
}

// ResourceVersion returns the version that the writer is current to: that of its last relist, object, deletion or
// bookmark. It is empty before the first of them.
func (p *Writer[T]) ResourceVersion() string {
	p.s.mu.RLock()
	defer p.s.mu.RUnlock()
	return p.version
}

// Drop ends the writer and removes its objects, except those that another writer covers. Subscriptions receive the
// removed objects as deleted, in their cached state. To keep the objects, add the writer that takes over before Drop.
func (p *Writer[T]) Drop() {
	s := p.s
	s.write.Lock()
	defer s.unlock()
	if p.ended {
		return
	}
	var deltas []delta[T]
	s.each(p.namespace, func(e *entry[T]) {
		if !slices.ContainsFunc(s.writers, func(q *Writer[T]) bool { return q != p && q.covers(e.key.Namespace) }) {
			deltas = append(deltas, delta[T]{old: e, last: e})
		}
	})
	s.apply(p, deltas, p.version)
	s.end(p)
}

// end removes p from the store. The caller holds write.
func (s *Store[T]) end(p *Writer[T]) {
	p.ended = true
	s.endRelist(p)
	s.mu.Lock()
	s.writers = slices.DeleteFunc(s.writers, func(q *Writer[T]) bool { return q == p })
	s.mu.Unlock()
	s.arm() // subscriptions may have waited for p only
}

func (p *Writer[T]) covers(namespace string) bool {
	return p.namespace == "" || p.namespace == namespace
}

// has reports whether p may write to namespace. The caller holds write.
func (p *Writer[T]) has(namespace string) bool { return !p.ended && p.covers(namespace) }

// committed reports whether there are writers, and each has committed a list.
func (s *Store[T]) committed() bool {
	for _, p := range s.writers {
		if !p.committed {
			return false
		}
	}
	return len(s.writers) > 0
}

// arm lets the subscriptions become synced, if all writers have committed.
func (s *Store[T]) arm() {
	if !s.committed() {
		return
	}
	for _, sub := range s.subs {
		sub.arm()
	}
}

// each calls f with the entries of a namespace, or with all if it is empty. The caller holds write, and f does not
// change the store.
func (s *Store[T]) each(namespace string, f func(*entry[T])) {
	if namespace != "" {
		in := s.spaces.rows(namespace)
		in.each(func(row uint32) { f(s.all.at(row)) })
		return
	}
	for c := range s.all.tree.each {
		for _, e := range c.items {
			if e != nil {
				f(e)
			}
		}
	}
}

// count returns how many entries each would call f with.
func (s *Store[T]) count(namespace string) int {
	if namespace == "" {
		return s.all.n
	}
	in := s.spaces.rows(namespace)
	return in.len()
}

// version returns the oldest of the writers' versions. The caller holds mu.
func (s *Store[T]) version() string {
	oldest := ""
	for i, p := range s.writers {
		if i == 0 || p.version == oldest {
			oldest = p.version
			continue
		}
		order, ok := meta.CompareVersions(p.version, oldest)
		if !ok {
			return ""
		}
		if order < 0 {
			oldest = p.version
		}
	}
	return oldest
}
