// Package election has what a leader election learns from packages that run one for their own purposes, by its context.
package election

import "context"

// Rider makes the lease of a leader election carry more than the election: a process that shares work with others holds
// a lease of its own, whose annotations say what it has taken.
type Rider struct {
	// Annotations returns the annotations that a write sets. It is called before each write of the lease, also the one
	// that releases it.
	Annotations func() map[string]string
	// Stored is called with the resource version and the annotations of the lease whenever an answer of the server
	// shows that it is as this process has written it. No earlier write can change it any more.
	Stored func(version string, annotations map[string]string)
	// Due asks for a renewal at once, because the annotations have changed.
	Due <-chan struct{}
	// Clock is what the election believes: those who ride on it have to believe the same.
	Clock Clock
}

type riderKey struct{}

// WithRider returns a context for the Run of a leader election. A renewal whose answer comes after the deadline then
// ends the term: nobody else writes to the lease, so the server does not refuse a late write.
func WithRider(ctx context.Context, r Rider) context.Context {
	return context.WithValue(ctx, riderKey{}, r)
}

// RiderOf returns the Rider of ctx; the zero Rider if there is none.
func RiderOf(ctx context.Context) (r Rider, ok bool) {
	r, ok = ctx.Value(riderKey{}).(Rider)
	return r, ok
}
