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

// now reads the monotonic clock first. A process that is stopped between the two reads takes the moment for earlier
// than it is, which is safe for the beginning of a term, and is noticed at the next look for its end.
func (c clock) now() instant { return instant{mono: c.Mono(), wall: c.Wall()} }

// until returns how long it is from i to later, by the clock by which it is longer. The holder of a lease asks so.
func (i instant) until(later instant) time.Duration {
	return max(later.mono-i.mono, later.wall.Sub(i.wall))
}

// meter adds up how much time has passed since a moment. Between two looks it believes the clock that has gone further.
// So a wall clock that is set back hides a sleep of the machine only if both happen between two looks.
type meter struct {
	from  instant
	last  instant
	total time.Duration
}

// newMeter returns a meter that runs since from.
func newMeter(from, now instant) meter {
	return meter{from: from, last: now, total: max(from.until(now), 0)}
}

// look returns how much time has passed. Several goroutines look, so now may be older than the last look.
func (m *meter) look(now instant) time.Duration {
	if now.mono >= m.last.mono {
		m.total += max(m.last.until(now), 0)
		m.last = now
	}
	return m.total
}
