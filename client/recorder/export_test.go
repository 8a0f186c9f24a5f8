package recorder

import (
	"cmp"
	"time"
)

// SetLimits replaces the fixed limits of a recorder: of new records that wait, of their age, and the time for one more record of an
// object. Zero leaves one as it is.
func SetLimits(r *Recorder, queued int, maxAge, refill time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.book
	b.queued, b.maxAge, b.refill = cmp.Or(queued, b.queued), cmp.Or(maxAge, b.maxAge), cmp.Or(refill, b.refill)
}

// Known returns how many distinct records a recorder remembers.
func Known(r *Recorder) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.book.total
}
