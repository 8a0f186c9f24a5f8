package client

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/conn"
)

// RequestInfo describes one HTTP exchange.
type RequestInfo struct {
	// Verb is the API's word for it, such as "list".
	Verb string
	// Resource and Key are the object of the exchange; Key has no name for collections.
	Resource meta.GVR
	Key      meta.Key
	// Subresource is empty or a word such as "status".
	Subresource string
	// Method is the HTTP method.
	Method string
	// Attempt is the number of the attempt within a call, from 1; see [Retry].
	Attempt int
	// Code is the HTTP status, 0 when there was no answer.
	Code int
	// Duration is the time until the headers of the answer, or the failure.
	Duration time.Duration
	// Err says why there was no answer. It is nil if there was one, whatever its status.
	Err error
}

// RetryInfo describes an attempt that failed and is followed by another.
type RetryInfo struct {
	// Request is the attempt. If its Code is below 300 and not 0, the answer was a success that could not be read to its end.
	Request RequestInfo
	// Err is the error of the attempt.
	Err error
	// Wait is the time until the next attempt.
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

// Warning is a message of the server to the users of a client, such as "this API version is deprecated".
type Warning struct {
	// Agent is the sender of the warning, "-" for the API server.
	Agent string
	// Text is the message, without control characters, and cut to 4 KiB.
	Text string
	// Malformed says that the header is not well-formed: Agent is empty, and Text is the rest of the header.
	Malformed bool
	// LeftOut is not 0 in the last warning of an answer that has too many. It is the number of warnings that are not reported,
	// without repetitions and those that have been reported before. Text then says the same.
	LeftOut int
}

// maxAnswerWarnings bounds how many warnings of one answer are reported. An API server adds a few, of 4 KiB in all.
const maxAnswerWarnings = 100

// maxWarnings bounds how many distinct texts are remembered. After that, texts are reported again.
const maxWarnings = 1000

// warnings remembers which texts have been reported. Its mutex guards seen.
type warnings struct {
	mu   sync.Mutex
	seen map[string]bool
}

func (w *warnings) first(text string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen[text] {
		return false
	}
	if w.seen == nil || len(w.seen) >= maxWarnings {
		w.seen = make(map[string]bool)
	}
	w.seen[text] = true
	return true
}

// has reports whether a text has been reported.
func (w *warnings) has(text string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen[text]
}

func (c *Client) warn(ctx context.Context, h http.Header) {
	if c.hooks.Warning == nil {
		return
	}
	told, left := 0, map[string]bool{}
	for _, line := range h.Values("Warning") {
		for said := range conn.ParseWarnings(line) {
			w := Warning{Agent: said.Agent, Text: said.Text, Malformed: said.Malformed}
			switch {
			case w.Text == "":
			case told == maxAnswerWarnings:
				if !c.warnings.has(w.Text) {
					left[w.Text] = true // bounded, because the headers of an answer are
				}
			case c.warnings.first(w.Text):
				told++
				c.hooks.Warning(ctx, w)
			}
		}
	}
	if n := len(left); n > 0 {
		c.hooks.Warning(ctx, Warning{Agent: "-", Text: fmt.Sprintf("%d further warnings of the same answer are left out", n), LeftOut: n})
	}
}
