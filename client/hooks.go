package client

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/conn"
	"github.com/bowline-go/bowline/internal/hooks"
)

// RequestInfo describes one HTTP exchange.
type RequestInfo struct {
	// Verb is the API's word for the operation, such as "list"; it is "connect" for the requests of package remote.
	Verb string
	// Resource and Key are the object of the exchange; Key has no name for collections.
	Resource meta.GVR
	Key      meta.Key
	// Subresource is empty or a word such as "status".
	Subresource string
	// Method is the HTTP method, and Host the host of Config.Server, with its port if it has one.
	Method, Host string
	// Attempt is the number of the attempt within a call, from 1; see [Retry].
	Attempt int
	// Waited is how long the attempt waited for Config.Limiter before it was sent.
	Waited time.Duration
	// Code is the HTTP status, 0 when there was no answer.
	Code int
	// Duration is the time until the headers of the answer, or the failure.
	Duration time.Duration
	// Err says why there was no answer. It is nil if there was one, whatever its status. For Hooks.Retry it is the
	// error of the attempt: if Code is below 300 and not 0, the answer was a success that could not be read to its end.
	Err error
	// Wait is the time until the next attempt, for Hooks.Retry.
	Wait time.Duration
}

// Hooks are functions that a client calls on events. Each must be safe for use by several goroutines at once and should
// return soon, because the request waits for it.
type Hooks struct {
	// Call is called when a call begins to send a request, before its first attempt. The call continues with the
	// context that the hook returns. After the last attempt the client calls end, unless it is nil, with the error of
	// the call. So a span can cover all attempts. A call that reads several times, such as a paged list, calls the hook
	// for each read. For a page of a list and for a watch, the client calls end when the headers of the answer have
	// arrived.
	Call func(ctx context.Context, r RequestInfo) (_ context.Context, end func(error))

	// Request is called after each HTTP exchange, when the headers of the answer have arrived or the attempt has
	// failed.
	Request func(ctx context.Context, r RequestInfo)

	// Retry is called after a failed attempt, before the wait for the next one.
	Retry func(ctx context.Context, r RequestInfo)

	// Warning is called with each warning of the server, once per distinct text and client. After 1000 distinct texts,
	// an earlier one may be reported again. If an answer has more than 100 warnings, one more call says how many were
	// left out.
	//
	// If Warning is nil, and the context of the call has no hooks with a Warning either, the client logs warnings: to
	// Config.Logger, or else to the logger of the context (logr.NewContext), or else to slog.Default(). Warnings of one
	// verb and resource, whose texts differ only in names and numbers, share one log line. If they continue, further
	// lines with their number follow, the first after a minute at the earliest, then at growing intervals of up to a
	// day. A client logs at most ten warnings in a minute, and then says that others are left out. Set a function that
	// does nothing to silence them.
	Warning func(ctx context.Context, w Warning)

	// Stale is called when a token, a certificate or an authority could not be refreshed, and the old one stays in use.
	// It is also called, at most about once in 2 minutes, when the client sends a token or a certificate that has
	// expired by this machine's clock. The caller is a request, or the fetch of a credential in the background; ctx has
	// the values of a request. If no hook takes the error, the client logs it under the same limits as warnings.
	Stale func(ctx context.Context, err error)
}

// WithHooks returns a context whose requests, by any client, call the functions of h as well as those of Config.Hooks
// and of outer contexts. The contexts of Run of an informer and of a reconcile are derived from that of the program, so
// a context with hooks observes all of them.
func WithHooks(ctx context.Context, h Hooks) context.Context {
	return hooks.With(ctx, h, Hooks.and)
}

// and returns hooks that call the functions of h and then those of other.
func (h Hooks) and(other Hooks) Hooks {
	return Hooks{
		Call:    hooks.BothBegin(h.Call, other.Call),
		Request: hooks.Both(h.Request, other.Request),
		Retry:   hooks.Both(h.Retry, other.Retry),
		Warning: hooks.Both(h.Warning, other.Warning),
		Stale:   hooks.Both(h.Stale, other.Stale),
	}
}

// in returns the hooks of a request with ctx; h are the client's hooks. all has every hook. taking has only the hooks
// that replace the log: if taking has a Warning or a Stale, the client does not log what that hook receives.
func (h Hooks) in(ctx context.Context) (all, taking Hooks) {
	taking = h
	if carried, ok := hooks.In[Hooks](ctx); ok {
		taking = h.and(carried)
	}
	all = taking
	for _, beside := range hooks.AllBeside[Hooks](ctx) {
		all = all.and(beside)
	}
	return all, taking
}

// hooksIn returns all hooks of a request with ctx.
func (c *Client) hooksIn(ctx context.Context) Hooks {
	all, _ := c.hooks.in(ctx)
	return all
}

// begin calls Hooks.Call. It returns the context to continue with, and the function to call at the end, or nil.
func (c *Client) begin(ctx context.Context, r outgoing) (context.Context, func(error)) {
	call := c.hooksIn(ctx).Call
	if call == nil {
		return ctx, nil
	}
	info := r.info()
	info.Host = c.server.Host
	return hooks.Begin(ctx, call, info)
}

func (c *Client) observe(ctx context.Context, r RequestInfo) {
	if f := c.hooksIn(ctx).Request; f != nil {
		f(ctx, r)
	}
	if l := c.log.V(6); l.Enabled() {
		l.Info("request", "verb", r.Verb, "resource", r.Resource.String(), "object", r.Key.String(),
			"subresource", r.Subresource, "attempt", r.Attempt, "code", r.Code, "duration", r.Duration, "error", r.Err)
	}
}

// Warning is a message of the server to the users of a client, such as "this API version is deprecated".
type Warning struct {
	// Agent is the sender of the warning, "-" for the API server. It is empty if the header is not well-formed; Text is
	// then the rest of the header.
	Agent string
	// Text is the message, without control characters, and cut to 4 KiB.
	Text string
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

// warn hands the warnings of the answer to r to hooks, and logs them unless a hook takes them.
func (c *Client) warn(ctx context.Context, r outgoing, h http.Header) {
	all, taking := c.hooks.in(ctx)
	if taking.Warning == nil {
		n := 0
		for said := range conn.Warnings(h) {
			if n++; n <= maxAnswerWarnings && said.Text != "" {
				c.logWarning(ctx, r, said)
			}
		}
	}
	if all.Warning != nil {
		c.tell(ctx, all.Warning, h)
	}
}

// tell hands warnings to a hook, each text once.
func (c *Client) tell(ctx context.Context, hook func(context.Context, Warning), h http.Header) {
	told, left := 0, map[string]bool{}
	for said := range conn.Warnings(h) {
		switch {
		case said.Text == "":
		case told == maxAnswerWarnings:
			if !c.warnings.has(said.Text) {
				left[said.Text] = true // conn.MaxHeaders bounds the size of this map
			}
		case c.warnings.first(said.Text):
			told++
			hook(ctx, Warning(said))
		}
	}
	if n := len(left); n > 0 {
		hook(ctx, Warning{Agent: "-", Text: fmt.Sprintf("%d further warnings of the same answer are left out", n)})
	}
}
