package explore

import (
	"context"
	"net/http"
	"time"
)

// silence is what does not get through for a while: the watches of a resource or, if that is empty, everything of a
// replica.
type silence struct {
	life     *life
	resource string
}

// hold begins a silence, which ends after pause.
func (w *world) hold(s silence) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held[s] = true
	time.AfterFunc(pause, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.held, s)
		close(w.released)
		w.released = make(chan struct{})
		select {
		case w.arrivals <- struct{}{}:
		default:
		}
	})
}

// untilReleased waits until none of the silences holds, or ctx ends.
func (w *world) untilReleased(ctx context.Context, silences ...silence) {
	for {
		w.mu.Lock()
		held := false
		for _, s := range silences {
			held = held || w.held[s]
		}
		released := w.released
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

// follow serves a watch until it is cut.
func (w *world) follow(p *point, rw http.ResponseWriter, r *http.Request) {
	ctx, cut := context.WithCancel(r.Context())
	defer cut()
	w.mu.Lock()
	w.watches[p] = cut
	w.mu.Unlock()
	w.server.ServeHTTP(&eventWriter{rw, w, p, ctx}, r.WithContext(ctx))
	w.mu.Lock()
	delete(w.watches, p)
	w.mu.Unlock()
}

// eventWriter writes the events of a watch, later if there is a silence.
type eventWriter struct {
	http.ResponseWriter
	world *world
	point *point
	ctx   context.Context
}

// Write implements http.ResponseWriter.
func (e *eventWriter) Write(b []byte) (int, error) {
	e.world.untilReleased(e.ctx, silence{e.point.life, ""}, silence{e.point.life, e.point.request.Resource.Resource})
	return e.ResponseWriter.Write(b)
}

// Flush implements http.Flusher.
func (e *eventWriter) Flush() { _ = http.NewResponseController(e.ResponseWriter).Flush() }

// Unwrap lets a http.ResponseController reach the original.
func (e *eventWriter) Unwrap() http.ResponseWriter { return e.ResponseWriter }
