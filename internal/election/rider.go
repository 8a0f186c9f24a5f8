// Package election lets other packages adapt a leader election that they run, through its context.
package election

import "context"

// Rider makes the lease of a leader election carry data for another purpose. Package shards uses it: each replica
// holds its own lease, whose annotations list the ranges that it has taken.
type Rider struct {
	// Annotations returns the annotations that a write sets. It is called before each write of the lease, including
	// the release.
	Annotations func() map[string]string
	// Stored is called with the resource version and the annotations of the lease whenever an answer of the server
	// shows the lease as this process has written it. No earlier write can take effect after that.
	Stored func(version string, annotations map[string]string)
	// Due requests an immediate renewal, because the annotations have changed.
	Due <-chan struct{}
	// Clock is the clock of the election, so that the Rider and the election use the same one.
	Clock Clock
}

type riderKey struct{}

// WithRider returns a context for the Run of a leader election. With a Rider, a renewal whose answer comes after the
// deadline ends the term: no other process writes to the lease, so the server does not refuse a late write.
func WithRider(ctx context.Context, r Rider) context.Context {
	return context.WithValue(ctx, riderKey{}, r)
}

// RiderOf returns the Rider of ctx; the zero Rider if there is none.
func RiderOf(ctx context.Context) (r Rider, ok bool) {
	r, ok = ctx.Value(riderKey{}).(Rider)
	return r, ok
}
