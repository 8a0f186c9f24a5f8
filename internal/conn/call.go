package conn

import (
	"context"
	"fmt"
	"net/http"
)

// Call has the facts about a request that a client passes to its transport. It travels in the request's context, which
// survives redirects and the changes that Config.Wrap makes to a request.
type Call struct {
	// Watch says that the request is a watch. HTTP has no verb for it.
	Watch bool
	// Proxied says that the server passes the request on to another program. A 401 may be that program's answer, and
	// so says nothing about the client's credential.
	Proxied bool
	// Fetch says that the request is part of the fetch of a credential, so other requests wait for it.
	Fetch bool
	// Impersonate replaces Options.Impersonate, unless it is nil.
	Impersonate http.Header
}

type callKey struct{}

// With returns a context that carries c to the requests made with it.
func (c Call) With(ctx context.Context) context.Context { return context.WithValue(ctx, callKey{}, c) }

// CallOf returns the Call that With has put into ctx, or the zero Call.
func CallOf(ctx context.Context) Call {
	c, _ := ctx.Value(callKey{}).(Call)
	return c
}

// ContextError says why ctx ended. It wraps the context's error, and its cause if there is one.
func ContextError(ctx context.Context) error {
	if err, cause := ctx.Err(), context.Cause(ctx); cause != err {
		return fmt.Errorf("%w: %w", err, cause)
	}
	return ctx.Err()
}
