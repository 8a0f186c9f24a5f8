package shards

import "github.com/bowline-go/bowline/client/meta"

// reach is which of the accepted bids the news of the leases have come to without a gap. Work begins on no others:
// somebody may have made a lease with a bid before ours, and somebody may have deleted it by hand, so that no list
// shows it.
type reach struct {
	ranges meta.Ranges // that the news have come to
	waits  []write     // with the others, as the server has stored them one after the other
}

// write is one of our own lease.
type write struct {
	version string
	ranges  meta.Ranges // that were accepted with it, and not before
}

// stored notes that the server has accepted a write with these bids, and that the news have come to the version head.
// It reports whether they have to go on to that write.
func (r *reach) stored(version string, accepted meta.Ranges, head string) bool {
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

// keep forgets bids that are not accepted any more.
func (r *reach) keep(accepted meta.Ranges) {
	r.ranges = r.ranges.Intersect(accepted)
	kept := r.waits[:0]
	for _, w := range r.waits {
		if w.ranges = w.ranges.Intersect(accepted); w.ranges != (meta.Ranges{}) {
			kept = append(kept, w)
		}
	}
	r.waits = kept
}

// came notes that the news have come to the version head. It reports whether that is as far as another one of our
// writes.
func (r *reach) came(head string) bool {
	n := 0
	for n < len(r.waits) && (r.waits[n].version == head || isOlder(r.waits[n].version, head)) {
		r.ranges = r.ranges.Union(r.waits[n].ranges)
		n++
	}
	r.waits = r.waits[n:]
	return n > 0
}
