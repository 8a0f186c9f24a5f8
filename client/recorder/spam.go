package recorder

import "time"

// source is an object and a type of records, Normal or Warning.
type source struct {
	place
	warning bool
}

func sourceOf(r Record) source {
	s := source{placeOf(r.Regarding), r.Warning}
	s.path = ""
	return s
}

// bucket limits the new records of a source.
type bucket struct {
	spent float64       // how much of the burst is used
	at    time.Duration // when spent was computed, by the clock of the book
}

// take uses one record of the burst, and returns false if none is left.
func (b *bucket) take(now time.Duration, burst int, refill time.Duration) bool {
	spent := max(0, b.spent-float64(now-b.at)/float64(refill))
	if spent+1 > float64(burst) {
		return false
	}
	b.spent, b.at = spent+1, now
	return true
}
