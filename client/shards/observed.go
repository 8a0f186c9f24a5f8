package shards

import "github.com/bowline-go/bowline/client/meta"

// observed says which of the accepted claims the watch has brought, without a gap before them. This replica will own no
// others: somebody may have made a lease with a claim before ours, and somebody may have deleted it by hand, so that no
// list shows it.
type observed struct {
	ranges meta.Ranges // that the watch has brought
	waits  []write     // with the others, as the server has stored them one after the other
}

// write is one of our own lease.
type write struct {
	version string
	ranges  meta.Ranges // that were accepted with it, and not before
}

// stored notes that the server has accepted a write with these claims, and that the watch has come to the version head.
// It reports whether the watch has yet to bring that write.
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

// keep forgets claims that are not accepted any more.
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

// came notes that the watch has come to the version head. It reports whether it has brought another one of our writes.
func (r *observed) came(head string) bool {
	n := 0
	for n < len(r.waits) && (r.waits[n].version == head || isOlder(r.waits[n].version, head)) {
		r.ranges = r.ranges.Union(r.waits[n].ranges)
		n++
	}
	r.waits = r.waits[n:]
	return n > 0
}
