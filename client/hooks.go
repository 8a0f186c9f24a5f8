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
	// Code is the HTTP status, 0 when there was no answer.
	Code int
	// Duration is the time until the headers of the answer, or the failure.
	Duration time.Duration
	// Err is why there was no answer, nil when there was one, whatever its status.
	Err error
}

func (c *Client) observe(ctx context.Context, r RequestInfo) {
	if c.hooks.Request != nil {
		c.hooks.Request(ctx, r)
	}
	if l := c.log.V(6); l.Enabled() {
		l.Info("request", "verb", r.Verb, "resource", r.Resource.String(), "object", r.Key.String(),
			"subresource", r.Subresource, "code", r.Code, "duration", r.Duration, "error", r.Err)
	}
}
