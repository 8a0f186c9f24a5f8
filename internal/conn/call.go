package conn

import (
	"context"
	"fmt"
	"net/http"
)

// Call is what a client tells its transport of a request, by the request's context: a context survives redirects, and
// what Config.Wrap does to a request.
type Call struct {
	// Watch says that the request is a watch. HTTP has no verb for it.
	Watch bool
	// Proxied says that the server passes the request on to something else. A 401 may be the answer of that, and so
	// says nothing about the client's credential.
	Proxied bool
	// Fetch says that the request is made while a credential is fetched, so that others wait for it.
	Fetch bool
	// Impersonate, where it is not nil, takes the place of Options.Impersonate.
	Impersonate http.Header
}

type callKey struct{}

// With returns a context whose requests are made as c says.
func (c Call) With(ctx context.Context) context.Context { return context.WithValue(ctx, callKey{}, c) }

// CallOf returns what With has put into ctx; the zero Call if there is nothing.
func CallOf(ctx context.Context) Call {
	c, _ := ctx.Value(callKey{}).(Call)
	return c
}

// ContextError says why ctx ended; both its error and its cause can be found in it.
func ContextError(ctx context.Context) error {
	if err, cause := ctx.Err(), context.Cause(ctx); cause != err {
		return fmt.Errorf("%w: %w", err, cause)
	}
	return ctx.Err()
}
