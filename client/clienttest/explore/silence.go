package explore

import (
	"context"
	"time"
)

// traffic is the kind of traffic that a silence holds back.
type traffic string

const (
	requests traffic = "requests"
	answered traffic = "answers"
	events   traffic = "events"
	present  traffic = "the present" // all requests go to the API server that is behind
)

// silence is traffic that the network holds for a while: traffic of one life, or of all lives if life is nil. If
// resource is set, it is the events of that resource only.
type silence struct {
	life     *life
	traffic  traffic
	resource string
}

// hold begins silences.
func (w *world) hold(silences ...silence) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range silences {
		w.held[s]++
	}
}

// holdFor begins silences, and ends them after pause. Then it calls after.
func (w *world) holdFor(after func(), silences ...silence) {
	w.hold(silences...)
	time.AfterFunc(pause, func() {
		w.release(silences...)
		after()
	})
}

// release ends silences.
func (w *world) release(silences ...silence) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range silences {
		if w.held[s]--; w.held[s] == 0 {
			delete(w.held, s)
		}
	}
	close(w.released)
	w.released = make(chan struct{})
	w.wake()
}

// wake makes the scheduler look at the waiting requests. The caller holds w.mu.
func (w *world) wake() {
	select {
	case w.arrivals <- struct{}{}:
	default:
	}
}

// isHeld reports whether one of the silences is in force. The caller holds w.mu.
func (w *world) isHeld(silences ...silence) bool {
	for _, s := range silences {
		if w.held[s] > 0 {
			return true
		}
	}
	return false
}

// untilReleased waits until none of the silences is in force, or ctx ends.
func (w *world) untilReleased(ctx context.Context, silences ...silence) {
	for {
		w.mu.Lock()
		held, released := w.isHeld(silences...), w.released
		w.mu.Unlock()
		if !held {
			return
		}
		select {
		case <-released:
		case <-ctx.Done():
			return
		}
	}
}
