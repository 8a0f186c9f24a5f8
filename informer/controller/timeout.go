// Options.Timeout, which bounds the time of a reconcile.

package controller

import (
	"context"
	"errors"
	"fmt"
)

// timeoutGate ends the context of a reconcile that takes too long.
type timeoutGate[K comparable] struct{ c *Controller[K] }

func (g timeoutGate[K]) enter(outer context.Context, v *visit[K]) (context.Context, func(), bool) {
	ctx, cancel := context.WithTimeoutCause(outer, g.c.options.Timeout, g.c.timeout)
	return ctx, func() {
		// The cause distinguishes this deadline from the end of the controller, and from a deadline of the caller of
		// Run.
		v.end.TimedOut = context.Cause(ctx) == g.c.timeout
		if v.end.TimedOut && errors.Is(v.end.Err, context.DeadlineExceeded) {
			v.end.Err = fmt.Errorf("%w: %w", g.c.timeout, v.end.Err)
		}
		cancel()
	}, true
}
