package shards

import "github.com/bowline-go/bowline/client/meta"

// observed says which of the accepted claims the watch has brought, without a gap before them. This replica can own no
// other ranges: another replica may have made a lease with a claim before ours, and somebody may have deleted that
// lease by hand, so that no list shows it.
type observed struct {
	ranges meta.Ranges // the claims that the watch has brought
	waits  []write     // the writes with the other claims, in the order in which the server stored them
}

// write is a write of our own lease.
type write struct {
	version string
	ranges  meta.Ranges // the claims that the server accepted with this write, and not before
}

// stored records that the server has accepted a write with these claims. head is the version up to which the watch has
// brought all changes. stored reports whether the write adds claims, and the watch has yet to bring it.
func (r *observed) stored(version string, accepted meta.Ranges, head string) bool {
	added := accepted.Minus(r.ranges)
	for _, w := range r.waits {
		added = added.Minus(w.ranges)
	}
	if added == (meta.Ranges{}) {
		return false
	}
	r.waits = append(r.waits, write{version, added})
	r.came(head)
	return len(r.waits) > 0
}

// keep forgets claims that are no longer accepted.
func (r *observed) keep(accepted meta.Ranges) {
	r.ranges = r.ranges.Intersect(accepted)
	kept := r.waits[:0]
	for _, w := range r.waits {
		if w.ranges = w.ranges.Intersect(accepted); w.ranges != (meta.Ranges{}) {
			kept = append(kept, w)
		}
	}
	r.waits = kept
}

// came records that the watch has brought all changes up to the version head. It reports whether one of our writes in
// waits is among them.
func (r *observed) came(head string) bool {
	n := 0
	for n < len(r.waits) && (r.waits[n].version == head || isOlder(r.waits[n].version, head)) {
		r.ranges = r.ranges.Union(r.waits[n].ranges)
		n++
	}
	r.waits = r.waits[n:]
	return n > 0
}
