package cache

import (
	"github.com/bowline-go/bowline/client/meta"
)

// Relist stages a full list of the resource, and then makes the store hold exactly that. Until [Relist.Commit]
// nothing is visible to readers or subscriptions, and a Relist that is dropped instead has had no effect.
//
// An object that is in the store in the listed state already is not staged but marked, so that staging a list costs
// memory only for what has changed. Of two calls for the same key the later counts.
//
// A Relist belongs to the store's writer. Starting another one ends it: its methods then do nothing.
type Relist[T meta.Object] struct {
	s *Store[T]
	// Guarded by s.write.
	mark   uint64 // entries with this mark are in the list, in this state or, if staged, in another
	marked int    // how many entries of the store have the mark
	staged []staged[T]
	at     map[meta.Key]int // where a key is in staged
}

// staged is an object that Commit puts into the store; now is nil where a later call took it back.
type staged[T any] struct {
	key meta.Key
	now *entry[T]
}

// Changes counts what a relist changed.
type Changes struct {
	// Added, Updated and Deleted count the differences. An object that was deleted and created again under its name
	// counts as added and as deleted.
	Added, Updated, Deleted int
	// Unchanged counts the objects that stayed as they were, those of [Relist.Retain] included.
	Unchanged int
}

// Relist starts to stage a full list. It ends a Relist that was started before and not committed.
func (s *Store[T]) Relist() *Relist[T] {
	s.write.Lock()
	defer s.write.Unlock()
	s.relists++
	s.relist = &Relist[T]{s: s, mark: s.relists, at: make(map[meta.Key]int)}
	return s.relist
}

// Keep reports whether the store holds the very state that id names: the uid and the resource version are equal. If so
// the object counts as listed and stays the same reference, which is returned; there is no need to decode it again. If
// not, nothing has happened, and the caller follows with [Relist.Set] or [Relist.Retain].
func (r *Relist[T]) Keep(id meta.Identity) (obj T, kept bool) {
	r.s.write.Lock()
	defer r.s.write.Unlock()
	if e := r.keep(id); e != nil {
		return e.obj, true
	}
	return obj, false
}

// Set stages an object. One that the store holds in this very state already stays the same reference there, as with
// Keep.
func (r *Relist[T]) Set(id meta.Identity, obj T) {
	r.s.write.Lock()
	defer r.s.write.Unlock()
	if r.s.relist == r && r.keep(id) == nil {
		r.stage(id.Key(), &entry[T]{uid: id.UID, version: id.ResourceVersion, obj: obj})
	}
}

// Retain keeps what the store holds of the object that id names: it is for a listed object that could not be decoded,
// whose last good state is better than none. Where the store holds another object at id's key, by the uid, that one has
// gone, and Commit removes it; an id without a uid, which could not be read, retains whatever is there. An object that
// was staged for the key before stays staged. Where there is neither, nothing happens.
func (r *Relist[T]) Retain(id meta.Identity) {
	r.s.write.Lock()
	defer r.s.write.Unlock()
	if r.s.relist != r {
		return
	}
	if e := r.s.items.m[id.Key()]; e != nil && (id.UID == "" || id.UID == e.uid) {
		r.see(e)
	}
}

// Commit makes the store hold exactly what was staged, kept and retained, current to resourceVersion, in one step for
// its readers; subscriptions are told of the differences. That holds too where the store was written after the relist
// had started: such a write is replaced. The first Commit of a store lets its subscriptions become synced.
//
// The differences are computed before readers are locked out, for as long as it takes to put them in place. A second
// Commit does nothing.
func (r *Relist[T]) Commit(resourceVersion string) Changes {
	s := r.s
	s.write.Lock()
	defer s.write.Unlock()
	if s.relist != r {
		return Changes{}
	}
	deltas, changes := r.differences()
	s.relist = nil
	s.apply(deltas, resourceVersion)
	if !s.committed {
		s.committed = true
		for _, sub := range s.subs {
			sub.arm()
		}
	}
	r.staged, r.at = nil, nil
	return changes
}

// differences compares what was staged with the store.
func (r *Relist[T]) differences() ([]delta[T], Changes) {
	var c Changes
	replaced := 0
	deltas := make([]delta[T], 0, len(r.at))
	for _, st := range r.staged {
		if st.now == nil {
			continue
		}
		d := delta[T]{key: st.key, old: r.s.items.m[st.key], now: st.now}
		if d.old == nil {
			c.Added++
			deltas = append(deltas, d)
			continue
		}
		r.see(d.old)
		if d.old.same(d.now.uid, d.now.version) {
			continue
		}
		if d.ends() {
			d.last = d.old
			c.Deleted++
			c.Added++
		} else {
			c.Updated++
		}
		replaced++
		deltas = append(deltas, d)
	}
	c.Unchanged = r.marked - replaced
	if r.marked == r.s.items.len() {
		return deltas, c
	}
	for key, e := range r.s.items.m {
		if e.seen != r.mark {
			c.Deleted++
			deltas = append(deltas, delta[T]{key: key, old: e, last: e})
		}
	}
	return deltas, c
}

// keep marks the entry that is in the store in the state of id, and returns it; nil if there is none, or r has ended.
func (r *Relist[T]) keep(id meta.Identity) *entry[T] {
	if r.s.relist != r {
		return nil
	}
	key := id.Key()
	e := r.s.items.m[key]
	if e == nil || !e.same(id.UID, id.ResourceVersion) {
		return nil
	}
	r.see(e)
	if i, ok := r.at[key]; ok {
		r.staged[i].now = nil
		delete(r.at, key)
	}
	return e
}

func (r *Relist[T]) see(e *entry[T]) {
	if e.seen != r.mark {
		e.seen = r.mark
		r.marked++
	}
}

func (r *Relist[T]) stage(key meta.Key, now *entry[T]) {
	if i, ok := r.at[key]; ok {
		r.staged[i].now = now
		return
	}
	r.at[key] = len(r.staged)
	r.staged = append(r.staged, staged[T]{key, now})
}

// written takes note of a write to the store while r is being staged. An entry with the mark goes: if it was to be
// kept, its state is now something that Commit has to bring back.
func (r *Relist[T]) written(deltas []delta[T]) {
	for _, d := range deltas {
		if d.old == nil || d.old.seen != r.mark {
			continue
		}
		r.marked--
		if _, ok := r.at[d.key]; !ok {
			r.stage(d.key, &entry[T]{uid: d.old.uid, version: d.old.version, obj: d.old.obj})
		}
	}
}
