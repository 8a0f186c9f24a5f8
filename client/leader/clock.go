package leader

import "time"

// clock tells the time in two ways, because neither is enough: the monotonic clock stands still while the machine sleeps, and
// the wall clock may be set. See DESIGN.md.
type clock struct {
	mono func() time.Duration // since some moment
	wall func() time.Time
}

func newClock() clock {
	start := time.Now()
	return clock{
		mono: func() time.Duration { return time.Since(start) },
		wall: func() time.Time { return time.Now().Round(0) },
	}
}

// instant is a moment by both clocks.
type instant struct {
	mono time.Duration
	wall time.Time
}

// now reads the monotonic clock first. A process that is stopped between the two reads takes the moment for earlier than it
// is, which is safe for the beginning of a term, and is noticed at the next look for its end.
func (c clock) now() instant { return instant{mono: c.mono(), wall: c.wall()} }

// until returns how long it is from i to later, by the clock by which it is longer. The holder of a lease asks so.
func (i instant) until(later instant) time.Duration {
	return max(later.mono-i.mono, later.wall.Sub(i.wall))
}
