package client

import (
	"context"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// RequestInfo describes one HTTP exchange.
type RequestInfo struct {
	// Verb is the API's word for it, such as "list".
	Verb string
	// Resource and Key say what it was about; Key has no name for collections.
	Resource meta.GVR
	Key      meta.Key
	// Subresource is empty or a word such as "status".
	Subresource string
	// Method is the HTTP method.
	Method string
	// Attempt says which attempt of a call it is, from 1; see [Retry].
	Attempt int
	// Code is the HTTP status, 0 when there was no answer.
	Code int
	// Duration is the time until the headers of the answer, or the failure.
	Duration time.Duration
	// Err is why there was no answer, nil when there was one, whatever its status.
	Err error
}

// RetryInfo describes an attempt that failed and is followed by another.
type RetryInfo struct {
	// Request is the attempt. It was answered with a success, and that answer could not be read to its end, where its Code is
	// below 300 and not 0.
	Request RequestInfo
	// Err is why it failed.
	Err error
	// Wait is how long the next attempt will be waited for.
	Wait time.Duration
}

func (c *Client) observe(ctx context.Context, r RequestInfo) {
	if c.hooks.Request != nil {
		c.hooks.Request(ctx, r)
	}
	if l := c.log.V(6); l.Enabled() {
		l.Info("request", "verb", r.Verb, "resource", r.Resource.String(), "object", r.Key.String(),
			"subresource", r.Subresource, "attempt", r.Attempt, "code", r.Code, "duration", r.Duration, "error", r.Err)
	}
}
