package explore

import (
	"context"
	"net/http"
)

// follow serves a watch until the watch ends or a disturbance cuts it.
func (w *world) follow(p *point, rw http.ResponseWriter, r *http.Request) {
	ctx, cut := context.WithCancel(r.Context())
	defer cut()
	w.mu.Lock()
	w.watches[p] = cut
	w.mu.Unlock()
	p.server().ServeHTTP(&eventWriter{rw, w, p, ctx}, r.WithContext(ctx))
	w.mu.Lock()
	delete(w.watches, p)
	w.mu.Unlock()
}

// eventWriter writes the events of a watch. During a silence that holds them it waits.
type eventWriter struct {
	http.ResponseWriter
	world *world
	point *point
	ctx   context.Context
}

// Write implements http.ResponseWriter.
func (e *eventWriter) Write(b []byte) (int, error) {
	l, of := e.point.life, e.point.request.Resource.Resource
	e.world.untilReleased(e.ctx, silence{l, events, ""}, silence{l, events, of}, silence{nil, events, of})
	return e.ResponseWriter.Write(b)
}

// Flush implements http.Flusher.
func (e *eventWriter) Flush() { _ = http.NewResponseController(e.ResponseWriter).Flush() }

// Unwrap lets a http.ResponseController reach the original.
func (e *eventWriter) Unwrap() http.ResponseWriter { return e.ResponseWriter }
