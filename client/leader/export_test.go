package leader

import "time"

// SetClock replaces the clocks of e, before Run.
func SetClock(e *Elector, mono func() time.Duration, wall func() time.Time) {
	e.clock = clock{mono: mono, wall: wall}
}
