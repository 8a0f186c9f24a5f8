package store

import (
	"slices"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/packed"
)

// Relist stages a full list of the objects of a [Writer], and then makes the store hold exactly these. Nothing is
// visible to readers or subscriptions until [Relist.Commit]; a Relist that is never committed has no effect.
//
// An object that the store already holds in the listed state is marked, not staged, so that staging a list costs
// memory only for changed objects; see [Relist.Commit]. If there are two calls for a key, the later one counts.
//
// Another Relist of the same writer, or the end of the writer, ends this one: its methods then do nothing.
type Relist[T meta.Object] struct {
	s *Store[T]
	p *Writer[T]
	// Guarded by s.write.
	ended  bool
	of     func(meta.Identity) bool // see Writer.RelistOf; nil means every object
	anew   bool                     // staged objects count as changed, whatever their version
	seen   rowBits                  // the rows of listed objects, even if another state is staged
	marked int                      // how many of them there are
	// staged are the objects that Commit puts into the store, nil where a later call removed one. Until Commit, the row
	// of a staged entry is its position in staged.
	staged []*entry[T]
	// at is a table that finds staged objects by key. Until complete is set, it lacks the staged objects that replace
	// an object of the store; changed has the rows of these. The first search for one of them completes the table.
	// That is rare, because a list rarely has an object twice.
	at       keys[T]
	complete bool
	changed  rowBits
}

// rowBits is a set of rows that costs one bit for each.
type rowBits []uint64

func (b rowBits) has(row uint32) bool { return int(row/64) < len(b) && b[row/64]&(1<<(row%64)) != 0 }

func (b *rowBits) add(row uint32, of uint32) {
	if int(row/64) >= len(*b) {
		*b = append(*b, make([]uint64, int(max(row, of)/64)+1-len(*b))...)
	}
	(*b)[row/64] |= 1 << (row % 64)
}

func (b rowBits) drop(row uint32) { b[row/64] &^= 1 << (row % 64) }

// Changes counts what a relist changed.
type Changes struct {
	// Added, Updated and Deleted count the differences. An object that was deleted and created again under its name
	// counts as added and as deleted.
	Added, Updated, Deleted int
	// Unchanged counts the listed objects that stayed the same, those of [Relist.Retain] included.
	Unchanged int
}

// endRelist ends the relist that p stages, if any.
func (s *Store[T]) endRelist(p *Writer[T]) {
	for _, r := range s.staging {
		if r.p == p {
			r.end()
			return
		}
	}
}

// end removes r from the store's relists, and frees what it staged.
func (r *Relist[T]) end() {
	r.s.staging = slices.DeleteFunc(r.s.staging, func(other *Relist[T]) bool { return other == r })
	*r = Relist[T]{s: r.s, p: r.p, ended: true}
}

// over reports whether r ignores the object that id names.
func (r *Relist[T]) over(id meta.Identity) bool { return r.ended || !r.p.has(id.Namespace) }

// Keep reports whether the store holds exactly the state that id names: the uid and the resource version are equal. If
// so, the object counts as listed, and Keep returns it; the caller need not decode it again. A store of packed objects
// returns the zero T. If not, Keep has no effect, and the caller follows with [Relist.Set] or [Relist.Retain].
func (r *Relist[T]) Keep(id meta.Identity) (obj T, kept bool) {
	r.s.write.Lock()
	defer r.s.unlock()
	if r.over(id) {
		return obj, false
	}
	_, old := r.s.look(id.Key())
	if r.keep(id, old) {
		return old.obj, true
	}
	return obj, false
}

// Set stages an object. If the store already holds exactly this state, the object stays the same reference, as with
// Keep.
func (r *Relist[T]) Set(id meta.Identity, obj T) { r.SetPacked(id, obj, packed.Text{}) }

// SetPacked is Set for an object whose packed text is known; see [NewPacked].
func (r *Relist[T]) SetPacked(id meta.Identity, obj T, text packed.Text) {
	r.s.write.Lock()
	defer r.s.unlock()
	if r.over(id) {
		return
	}
	key := id.Key()
	tag, old := r.s.look(key)
	if !r.keep(id, old) {
		r.stage(r.s.entry(key, id, content[T]{obj, text}, tag), old)
	}
}

// Replace is Set for an object whose resource version does not identify its state: the server was rolled back to an
// older state and reuses resource versions, or the object has no version. An object with the cached version stays the
// same reference only if its content is the same too.
func (r *Relist[T]) Replace(id meta.Identity, obj T) { r.ReplacePacked(id, obj, packed.Text{}) }

// ReplacePacked is Replace for an object whose packed text is known; see [NewPacked].
func (r *Relist[T]) ReplacePacked(id meta.Identity, obj T, text packed.Text) {
	r.s.write.Lock()
	defer r.s.unlock()
	if r.over(id) {
		return
	}
	r.anew = true
	key := id.Key()
	tag, old := r.s.look(key)
	if old != nil && old.uid == id.UID && old.version == id.ResourceVersion && r.s.holds(old, obj) {
		r.keeps(old)
		return
	}
	r.stage(r.s.entry(key, id, content[T]{obj, text}, tag), old)
}

// Delete undoes Keep, Set and Retain for id's key: the object was deleted after it was listed.
func (r *Relist[T]) Delete(id meta.Identity) {
	r.s.write.Lock()
	defer r.s.unlock()
	if r.over(id) {
		return
	}
	key := id.Key()
	tag, old := r.s.look(key)
	r.unstage(tag, key, old)
	if old != nil && r.seen.has(old.row) {
		r.seen.drop(old.row)
		r.marked--
	}
}

// Retain keeps the store's state of the object that id names. It is for a listed object that could not be decoded: its
// last good state is better than none. The rules are:
//
//   - If the store holds an object with another uid at id's key, that object was deleted, and Commit removes it.
//   - An id without a uid, which could not be read, retains the object that is there.
//   - An object that was staged for the key before stays staged.
//   - If there is no object in the store and none is staged, Retain has no effect.
func (r *Relist[T]) Retain(id meta.Identity) {
	r.s.write.Lock()
	defer r.s.unlock()
	if r.over(id) {
		return
	}
	if e := r.retained(id); e != nil {
		r.see(e)
	}
}

// RetainAnew is Retain for a server that was rolled back to an older state, as Replace is Set. The server may give the
// version of the retained state to another state of the object, so from then on no state counts as the retained one.
func (r *Relist[T]) RetainAnew(id meta.Identity) {
	r.s.write.Lock()
	defer r.s.unlock()
	if r.over(id) {
		return
	}
	r.anew = true
	if e := r.retained(id); e != nil && r.find(e.tag, e.key, e) == nil {
		now := r.s.copied(e)
		now.version = ""
		r.stage(now, e)
	}
}

// retained returns the store's entry that Retain keeps, or nil.
func (r *Relist[T]) retained(id meta.Identity) *entry[T] {
	if _, e := r.s.look(id.Key()); e != nil && (id.UID == "" || id.UID == e.uid) {
		return e
	}
	return nil
}

// Commit makes the store hold exactly the staged, kept and retained objects, current as of resourceVersion. Readers
// see one step; subscriptions receive the differences. Commit also replaces writes to the store that happened after
// the relist had started. Subscriptions that wait to become synced wait for the first Commit of each writer.
//
// Commit prepares all that changes before it locks readers out, in tables beside those that readers use; then the new
// tables take the place of the old ones. So Reader.Get does not wait at all, and other reads wait for microseconds,
// however many objects have changed. Commit itself takes 100 to 200 ms for 100,000 changed objects, each with a new
// value of an index, and about ten times that for a million.
//
// Staged objects lie in memory beside the objects that they replace, until Commit, and then until the slowest
// subscription has handled the change: readers see either all old states or all new ones, so neither can be freed
// first. A list that changes every object needs room for all of them twice. Commit itself needs 25 to 40 bytes more for
// each object of the store, about 100 for each object with a new value of an index, and, until all subscriptions have
// read them, 64 for each change.
//
// A second Commit does nothing.
func (r *Relist[T]) Commit(resourceVersion string) Changes {
	s, p := r.s, r.p
	s.write.Lock()
	defer s.unlock()
	if r.ended {
		return Changes{}
	}
	deltas, changes := r.differences()
	r.end()
	s.apply(p, deltas, resourceVersion)
	if !p.committed && (r.of == nil || !p.expired) { // a partial list says nothing about the other objects
		p.committed, p.expired = true, false
		s.arm()
	}
	return changes
}

// differences compares the staged objects with the store.
func (r *Relist[T]) differences() ([]delta[T], Changes) {
	var c Changes
	replaced := 0
	deltas := make([]delta[T], 0, len(r.staged))
	for _, now := range r.staged {
		if now == nil {
			continue
		}
		d := delta[T]{old: r.s.items.find(now.tag, now.key), now: now, anew: r.anew}
		if d.old == nil {
			c.Added++
			deltas = append(deltas, d)
			continue
		}
		r.see(d.old)
		if !r.anew && d.old.same(now.uid, now.version) && !r.s.packs.isBroken(d.old) {
			continue
		}
		now.key.Namespace = d.old.key.Namespace // as Store.set does
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
	if r.marked == r.s.count(r.p.namespace) {
		return deltas, c
	}
	r.s.each(r.p.namespace, func(e *entry[T]) {
		if !r.seen.has(e.row) && (r.of == nil || r.of(e.identity())) {
			c.Deleted++
			deltas = append(deltas, delta[T]{old: e, last: e})
		}
	})
	return deltas, c
}

// keeps marks the entry old as listed, and takes back what was staged for its key.
func (r *Relist[T]) keeps(old *entry[T]) {
	r.see(old)
	r.unstage(old.tag, old.key, old)
}

// unstage takes back what was staged for a key. old is the store's entry.
func (r *Relist[T]) unstage(tag uint32, key meta.Key, old *entry[T]) {
	if was := r.find(tag, key, old); was != nil {
		r.staged[was.row] = nil
		r.at.drop(was)
	}
}

// keep marks the entry old as listed if it has the state that id names, and reports whether it has.
func (r *Relist[T]) keep(id meta.Identity, old *entry[T]) bool {
	kept := old != nil && old.same(id.UID, id.ResourceVersion) && !r.s.packs.isBroken(old)
	if kept {
		r.keeps(old)
	}
	return kept
}

func (r *Relist[T]) see(e *entry[T]) {
	if !r.seen.has(e.row) {
		r.seen.add(e.row, r.s.all.used)
		r.marked++
	}
}

// stage replaces the entry that is staged for now's key, or appends now. old is the store's entry.
func (r *Relist[T]) stage(now, old *entry[T]) {
	if was := r.find(now.tag, now.key, old); was != nil {
		now.row = was.row
		r.staged[now.row] = now
		r.at.replace(was, now)
		return
	}
	now.row = uint32(len(r.staged))
	r.staged = append(r.staged, now)
	if old != nil && !r.complete {
		r.changed.add(old.row, r.s.all.used)
		return
	}
	r.at.add(now)
}

// find returns the entry that is staged for a key, or nil. old is the store's entry.
func (r *Relist[T]) find(tag uint32, key meta.Key, old *entry[T]) *entry[T] {
	if old != nil && !r.complete && r.changed.has(old.row) {
		r.index()
	}
	return r.at.find(tag, key)
}

// index makes at complete.
func (r *Relist[T]) index() {
	r.complete, r.changed = true, nil
	for _, e := range r.staged {
		if e != nil && r.at.find(e.tag, e.key) == nil {
			r.at.add(e)
		}
	}
}

// written adjusts r after a write to the store. If the write replaces an object that is marked, written takes the mark
// from the row, and stages the replaced state unless another is staged, so that Commit restores what the list had.
// After the first write a row may pass to another object, which makes r.changed wrong; the table r.at must be complete
// by then.
func (r *Relist[T]) written(deltas []delta[T]) {
	if !r.complete {
		r.index()
	}
	for i := range deltas {
		old := deltas[i].old
		if old == nil || !r.seen.has(old.row) {
			continue
		}
		r.seen.drop(old.row)
		r.marked--
		if r.at.find(old.tag, old.key) == nil {
			r.stage(r.s.copied(old), nil)
		}
	}
}

// renumber replaces rows as rows.renumber has done.
func (r *Relist[T]) renumber(to []uint32) {
	var seen rowBits
	for row := range uint32(len(to)) {
		if r.seen.has(row) {
			seen.add(to[row], r.s.all.used)
		}
	}
	r.seen = seen
}
