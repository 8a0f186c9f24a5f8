// Groups: which of them comes next, so that no group keeps the others from the workers.

package workqueue

import (
	"cmp"
	groupheap "container/heap"
	"maps"
	"sort"
	"sync"
	"time"
)

// The weights of groups.
const minWeight, maxWeight = 1, 100

// turn is how far one run moves a group of weight 1 in virtual time.
const turn = 1 << 16

// group has the keys of one group. It exists while the queue has such keys.
type group[K comparable] struct {
	name    string
	weight  int64
	keys    int      // in the queue, in whatever state
	running int64    // keys in progress
	ready   ready[K] // the ready keys
	// tag and since are the group's place while it waits, that is, while it has ready keys. The lowest tag comes
	// first; if tags are equal, the lowest since.
	tag, since uint64
	index      int  // in fair.below, or in fair.above if that is set
	above      bool // it is in fair.above
}

// active reports whether g has keys that are ready or in progress.
func (g *group[K]) active() bool { return g.running > 0 || g.ready.len > 0 }

// fair shares the workers among groups. DESIGN.md has the rule and the proof of its bounds.
//
// A waiting group is in below or in above. A group in above had its share when fair.first last looked at it, and comes
// after the groups in below. It goes back to below if it has less than its share when fair.first looks again.
// fair.first looks only at the groups that can be next.
type fair[K comparable] struct {
	groups map[string]*group[K]
	peak   int           // the most groups since the memory of an earlier peak was released
	spares sync.Pool     // of *group[K] without keys
	below  groupHeap[K]  // the lowest tag first
	above  groupHeap[K]  // the fewest keys in progress first, in proportion to the weight
	weight int64         // the sum over all active groups
	now    uint64        // the virtual time: the highest tag of a run that has started
	turns  uint64        // how often a group was given a place
	len    int           // ready keys
	store  *store[K]     // of the queue
	ageing time.Duration // of the queue
}

func newFair[K comparable](s *store[K], ageing time.Duration) *fair[K] {
	return &fair[K]{
		groups: map[string]*group[K]{},
		below:  groupHeap[K]{before: earlier[K]},
		above: groupHeap[K]{before: func(a, b *group[K]) bool {
			return cmp.Or(cmp.Compare(a.running*b.weight, b.running*a.weight), cmp.Compare(a.tag, b.tag), cmp.Compare(a.since, b.since)) < 0
		}},
		store:  s,
		ageing: ageing,
	}
}

func earlier[K comparable](a, b *group[K]) bool {
	return a.tag < b.tag || a.tag == b.tag && a.since < b.since
}

// first returns the key that comes next, nil if none is ready. workers counts the workers that have a key, and the one
// that takes the next key.
func (f *fair[K]) first(workers int) *entry[K] {
	for len(f.above.all) > 0 && f.lacks(f.above.all[0], workers) {
		f.move(f.above.all[0], false)
	}
	for len(f.below.all) > 0 {
		g := f.below.all[0]
		if f.lacks(g, workers) {
			return g.ready.first()
		}
		f.move(g, true)
	}
	if len(f.above.all) == 0 {
		return nil
	}
	return f.above.all[0].ready.first()
}

// lacks reports whether g has fewer keys in progress than its share of the workers.
func (f *fair[K]) lacks(g *group[K], workers int) bool {
	return g.running*f.weight < int64(workers)*g.weight
}

func (f *fair[K]) move(g *group[K], above bool) {
	groupheap.Remove(f.heap(g), g.index)
	g.above = above
	groupheap.Push(f.heap(g), g)
}

// heap returns the heap that g is in while it waits.
func (f *fair[K]) heap(g *group[K]) *groupHeap[K] {
	if g.above {
		return &f.above
	}
	return &f.below
}

// place gives g its place among the waiting groups, one turn of g after the present virtual time.
func (f *fair[K]) place(g *group[K]) {
	f.turns++
	g.since = f.turns
	g.tag = f.now + (turn+uint64(g.weight)-1)/uint64(g.weight) // rounded up, for the bound
}

// push adds e, which is ready, to the group g.
func (f *fair[K]) push(g *group[K], e *entry[K]) {
	if !g.active() {
		f.weight += g.weight
	}
	f.len++
	if g.ready.push(e); g.ready.len == 1 {
		f.place(g)
		g.above = false
		groupheap.Push(&f.below, g)
	}
}

// remove removes e, which was ready, from the group g.
func (f *fair[K]) remove(g *group[K], e *entry[K]) {
	f.len--
	if g.ready.remove(e); g.ready.len == 0 {
		groupheap.Remove(f.heap(g), g.index)
	}
	if !g.active() {
		f.weight -= g.weight
	}
}

// begin begins a run of e, which comes next.
func (f *fair[K]) begin(g *group[K], e *entry[K]) {
	f.now = max(f.now, g.tag)
	g.running++
	if f.remove(g, e); g.ready.len > 0 {
		f.place(g)
		groupheap.Fix(f.heap(g), g.index)
	}
}

// end ends a run of a key of g.
func (f *fair[K]) end(g *group[K]) {
	g.running--
	switch {
	case !g.active():
		f.weight -= g.weight
	case g.ready.len > 0 && g.above:
		groupheap.Fix(&f.above, g.index)
	}
}

// join returns the group that a key joins, and gives it this weight.
func (f *fair[K]) join(name string, weight int64) *group[K] {
	g := f.groups[name]
	if g == nil {
		if g, _ = f.spares.Get().(*group[K]); g == nil {
			g = &group[K]{ready: ready[K]{store: f.store, ageing: f.ageing}}
		}
		g.name, g.weight = name, weight
		f.groups[name] = g
		f.peak = max(f.peak, len(f.groups))
	}
	g.keys++
	if g.weight != weight {
		if g.active() {
			f.weight += weight - g.weight
		}
		if g.weight = weight; g.ready.len > 0 && g.above {
			groupheap.Fix(&f.above, g.index)
		}
	}
	return g
}

// leave notes that a key of g, which is neither pending nor in progress, has left the queue.
func (f *fair[K]) leave(g *group[K]) {
	if g.keys--; g.keys > 0 {
		return
	}
	delete(f.groups, g.name)
	g.name = ""
	f.spares.Put(g)
	if f.peak >= minRoom && len(f.groups) <= f.peak/8 { // a map keeps its memory
		groups := make(map[string]*group[K], 2*len(f.groups))
		maps.Copy(groups, f.groups)
		f.groups, f.peak = groups, len(groups)
	}
}

// groupHeap is a heap for container/heap.
type groupHeap[K comparable] struct {
	all    []*group[K]
	before func(a, b *group[K]) bool
}

func (h *groupHeap[K]) Len() int           { return len(h.all) }
func (h *groupHeap[K]) Less(i, j int) bool { return h.before(h.all[i], h.all[j]) }

func (h *groupHeap[K]) Swap(i, j int) {
	h.all[i], h.all[j] = h.all[j], h.all[i]
	h.all[i].index, h.all[j].index = i, j
}

// Push appends a group.
func (h *groupHeap[K]) Push(g any) {
	h.all = append(h.all, g.(*group[K]))
	h.all[len(h.all)-1].index = len(h.all) - 1
}

// Pop removes the last group.
func (h *groupHeap[K]) Pop() any {
	last := len(h.all) - 1
	g := h.all[last]
	h.all[last] = nil
	h.all = h.all[:last]
	if cap(h.all) >= minRoom && last < cap(h.all)/8 { // frees memory after a peak
		h.all = append(make([]*group[K], 0, 2*last), h.all...)
	}
	return g
}

// GroupStats is a snapshot of a group of keys; see [Options].Group.
type GroupStats struct {
	// Name is what Options.Group returned for its keys.
	Name string
	// Weight is the group's weight.
	Weight int
	// Ready is the number of its keys that wait for a worker; Oldest is how long the oldest of them has waited.
	Ready  int
	Oldest time.Duration
	// InProgress is the number of its keys that workers have taken and not settled.
	InProgress int
}

// Groups returns a snapshot of the groups that have keys ready or in progress, by name. It is empty without
// Options.Group.
func (q *Queue[K]) Groups() []GroupStats {
	if q.fair == nil {
		return nil
	}
	now := q.clock()
	q.mu.Lock()
	q.promote(now)
	all := make([]GroupStats, 0, len(q.fair.groups))
	for _, g := range q.fair.groups {
		if g.active() {
			all = append(all, GroupStats{g.name, int(g.weight), g.ready.len, g.ready.oldest(q.now), int(g.running)})
		}
	}
	q.unlock()
	sort.Slice(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	return all
}
