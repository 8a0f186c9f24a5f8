package election

import "time"

// Clock has two clocks, because neither suffices alone: the monotonic clock stands still while the machine sleeps, and
// the wall clock may be set. The DESIGN.md of package leader says more.
type Clock struct {
	Mono func() time.Duration // since an arbitrary moment
	Wall func() time.Time
}

// NewClock returns the clock of the machine.
func NewClock() Clock {
	start := time.Now()
	return Clock{
		Mono: func() time.Duration { return time.Since(start) },
		Wall: func() time.Time { return time.Now().Round(0) },
	}
}
