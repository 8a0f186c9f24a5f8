package leader

import "time"

// Remembered returns how many records of earlier Runs e remembers.
func Remembered(e *Elector) int { return len(e.ours) }

// SetClock replaces the clocks of e, before Run.
func SetClock(e *Elector, mono func() time.Duration, wall func() time.Time) {
	e.clock = clock{mono: mono, wall: wall}
}
