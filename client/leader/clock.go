package leader

import (
	"time"

	"github.com/bowline-go/bowline/internal/election"
)

// clock is the clock of an election.
type clock struct{ election.Clock }

// instant is a moment by both clocks.
type instant struct {
	mono time.Duration
	wall time.Time
}

// now reads the monotonic clock first. If the process is stopped between the two reads, the instant is too early by the
// monotonic clock. That is safe for the beginning of a term; for its end, the next look notices it.
func (c clock) now() instant { return instant{mono: c.Mono(), wall: c.Wall()} }

// until returns the time from i to later by the clock that shows more. The holder of a lease uses it.
func (i instant) until(later instant) time.Duration {
	return max(later.mono-i.mono, later.wall.Sub(i.wall))
}

// meter adds up the time since an instant. For the time between two looks it uses the clock that has advanced further.
// So setting the wall clock back hides a sleep of the machine only if both happen between the same two looks.
type meter struct {
	from  instant
	last  instant
	total time.Duration
}

// newMeter returns a meter of the time since from.
func newMeter(from, now instant) meter {
	return meter{from: from, last: now, total: max(from.until(now), 0)}
}

// look returns the elapsed time. now may be older than the last look, because several goroutines call look.
func (m *meter) look(now instant) time.Duration {
	if now.mono >= m.last.mono {
		m.total += max(m.last.until(now), 0)
		m.last = now
	}
	return m.total
}
