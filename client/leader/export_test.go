package leader

import (
	"time"

	"github.com/bowline-go/bowline/internal/election"
)

// Remembered returns how many records of earlier Runs e remembers.
func Remembered(e *Elector) int { return len(e.ours) }

// SetClock replaces the clocks of e, before Run.
func SetClock(e *Elector, mono func() time.Duration, wall func() time.Time) {
	e.clock = clock{election.Clock{Mono: mono, Wall: wall}}
}
