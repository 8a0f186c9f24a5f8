package explore

import (
	"slices"
	"sync"
	"time"
)

// The bounds on making a schedule smaller, and on replaying it.
const (
	shrinkPlays = 80
	shrinkTime  = 20 * time.Second
	replays     = 10
	replayTime  = 20 * time.Second
)

// shrink returns the run of a simpler schedule that breaks the program, the simplest that it finds within the bounds; o
// itself if it finds none.
func (s *search) shrink(o *outcome) *outcome {
	end := time.Now().Add(shrinkTime)
	for left := shrinkPlays; left > 0 && time.Now().Before(end); {
		smaller := (*outcome)(nil)
		for _, which := range simpler(o.schedule) {
			if left--; left < 0 || time.Now().After(end) {
				break
			}
			if try := s.play(which, s.referenceOf); len(try.wrong) > 0 {
				smaller = try
				break
			}
		}
		if smaller == nil {
			break
		}
		o = smaller
	}
	return o
}

// simpler returns the schedules that are one step simpler than the given one, the simplest first: without one of its
// disturbances, or with one of them at an earlier place or of a kind that the search tries earlier.
func simpler(which schedule) (all []schedule) {
	for i := range which {
		all = append(all, slices.Delete(slices.Clone(which), i, i+1))
	}
	if len(which) < 2 {
		all = nil // without a disturbance nothing breaks
	}
	for i, d := range which {
		for number := 1; number < d.place.number; number++ {
			if earlier := (place{d.place.class, number}); len(which.at(earlier)) == 0 {
				other := slices.Clone(which)
				other[i].place = earlier
				all = append(all, other)
			}
		}
		for _, e := range effects() {
			if e.kind == d.kind {
				break
			}
			if !e.argued && e.happensAt(d.place) {
				other := slices.Clone(which)
				other[i].kind, other[i].argument = e.kind, ""
				all = append(all, other)
			}
		}
	}
	return all
}

// replay plays a schedule up to ten times, and returns how often it broke the program.
func (s *search) replay(which schedule) (failures, played int) {
	end := time.Now().Add(replayTime)
	reference := s.referenceOf
	if len(which) == 0 {
		reference = nil
	}
	var mu sync.Mutex
	work(func(yield func(func()) bool) {
		for range replays {
			if !yield(func() {
				o := s.play(which, reference)
				mu.Lock()
				defer mu.Unlock()
				played++
				if len(o.wrong) > 0 || len(which) == 0 && len(s.want.unlikeRests(o.result)) > 0 {
					failures++
				}
			}) {
				return
			}
		}
	}, func() bool { return time.Now().After(end) })
	return failures, played
}
