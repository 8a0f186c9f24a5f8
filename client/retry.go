package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/conn"
	"github.com/bowline-go/bowline/internal/retry"
)

// Retry says when and how often the client retries a call after a transient failure. The client retries a call only
// when retrying is safe, which is in these cases:
//
//   - The server asks for it: 429 or 5xx with Retry-After, in seconds or as a date, or with retryAfterSeconds in its
//     Status. This holds for every verb. The client does not retry without a time to wait, or after a 429 that a
//     disruption budget causes.
//   - A create leaves the name to the server (metadata.generateName), and the name that the server made is taken: 409
//     AlreadyExists with a time to wait, or 504 with the reason ServerTimeout. Such a create makes another object each
//     time, so of the answers above only 429 and 503 lead to a retry. After any other 5xx the object may exist.
//   - The connection broke, or was closed, and the call reads: a get, a page of a list, the opening of a watch. The
//     client does not ask again for a page or a watch that has begun, because its objects have been handed on.
//   - The connection broke before any answer, and the call writes with a precondition, so that it cannot take effect
//     twice: an update with a resource version, a deletion with a uid or a resource version, a merge patch that sets
//     metadata.resourceVersion, a JSON patch that begins with a test of it.
//   - The connection broke, and the call is a dry run or an apply. Applying the same twice has the same result as
//     applying it once, later.
//   - The connection broke, and the call states a goal and reads the result of an attempt: [Resource.Ensure],
//     [Resource.AddFinalizer], [Resource.RemoveFinalizer].
//   - The connection could not be made, so the server received nothing, whatever the verb. A refused connection and a
//     name that does not exist are exceptions: they seldom pass within one call.
//   - A network timeout passed while a watch was being opened. The client retries no other call after a timeout.
//
// Each attempt sends the same bytes, and waits for Config.Limiter as the first did. A wait ends with the caller's
// context, and does not begin if the context would end first. The error of a call that was sent more than once has
// OpError.Before; the client also calls Hooks.Retry.
//
// [Resource.ListEach] and [Resource.WatchEach] make one attempt for each request: they are for callers that recover by
// themselves.
//
// The zero Retry is the default.
type Retry struct {
	// Attempts is the maximum number of times a request is sent. 0 means 5; 1 means no retries.
	Attempts int
	// Wait bounds the wait before the second attempt; each further bound is twice the one before. Waits are drawn
	// evenly from 0 to their bound (full jitter). 0 means 200 ms.
	Wait time.Duration
	// MaxWait is the longest wait. If a server asks for a longer one, the client returns the server's error at once,
	// and [apierrors.RetryAfter] returns the time that the server asked for. 0 means 30 s.
	MaxWait time.Duration
	// Burst bounds the retries of all calls of the client together, so that a server that is down does not get several
	// times the traffic. The budget begins with Burst retries and holds no more. Each retry takes one, each call adds a
	// tenth, and every 10 s add one. While the budget is empty, the client returns errors at once. 0 means 100; a
	// negative number means no bound.
	Burst int
}

const (
	defaultAttempts = 5
	defaultWait     = 200 * time.Millisecond
	defaultMaxWait  = 30 * time.Second
	defaultBurst    = 100
)

// validate returns every reason why r cannot be used.
func (r Retry) validate() []error {
	var errs []error
	for _, f := range []struct {
		name     string
		negative bool
		got      any
	}{{"Attempts", r.Attempts < 0, r.Attempts}, {"Wait", r.Wait < 0, r.Wait}, {"MaxWait", r.MaxWait < 0, r.MaxWait}} {
		if f.negative {
			errs = append(errs, fmt.Errorf("client.Config: Retry.%s must not be negative, got %v", f.name, f.got))
		}
	}
	return errs
}

// withDefaults returns r with defaults for its zero values.
func (r Retry) withDefaults() Retry {
	r.Attempts = cmp.Or(r.Attempts, defaultAttempts)
	r.Wait = cmp.Or(r.Wait, defaultWait)
	r.MaxWait = cmp.Or(r.MaxWait, defaultMaxWait)
	r.Burst = cmp.Or(r.Burst, defaultBurst)
	return r
}

// attempts describes the attempts of a call that was sent more than once, or that was not sent again although it might
// have been, such as ` (attempt 2; attempt 1: connection reset by peer)`.
func (e *OpError) attempts() string {
	if len(e.Before) == 0 && e.stop == "" {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, " (attempt %d", len(e.Before)+1)
	for i := 0; i < len(e.Before); {
		end := i + 1
		for end < len(e.Before) && alike(e.Before[end], e.Before[i]) {
			end++
		}
		switch {
		case end == len(e.Before) && alike(e.Before[i], e.Err):
		case end-i == 1:
			fmt.Fprintf(&b, "; attempt %d: %v", i+1, e.Before[i])
		default:
			fmt.Fprintf(&b, "; attempts %d to %d: %v", i+1, end, e.Before[i])
		}
		i = end
	}
	if e.stop != "" {
		b.WriteString("; not sent again: " + e.stop)
	}
	return b.String() + ")"
}

// alike reports whether two errors are the same to a person. Errors of connections differ in their ports.
func alike(a, b error) bool {
	if n := apierrors.NetworkOf(a); n != apierrors.NetworkFine && n == apierrors.NetworkOf(b) {
		return true
	}
	return a.Error() == b.Error()
}

// mayHaveWritten reports whether err may be the effect of an earlier attempt, which took effect although its answer was
// lost.
func mayHaveWritten(err error) bool {
	e, ok := errors.AsType[*OpError](err)
	return ok && slices.ContainsFunc(e.Before, func(before error) bool { return !apierrors.SafeToRetry(before) })
}

// call sends r until read has accepted an answer, or the policy allows no further attempt. read gets the answers that
// are successes, and owns their bodies. Every error is an *OpError.
func (c *Client) call(ctx context.Context, r outgoing, read func(*http.Response) error) error {
	if q, ok := r.(request); ok && q.versions != nil {
		return q.versions.call(ctx, c, q, read)
	}
	return c.callOnce(ctx, r, read)
}

// callOnce is call in one version of a resource.
func (c *Client) callOnce(ctx context.Context, r outgoing, read func(*http.Response) error) (err error) {
	ctx, end := c.begin(ctx, r)
	if end != nil {
		defer func() { end(err) }()
	}
	c.budget.Earn()
	var (
		before  []error
		backoff *retry.Backoff
	)
	for n := 1; ; n++ {
		info, err := c.try(ctx, r, n, read)
		if err == nil {
			return nil
		}
		if r.isOnce() || c.retry.Attempts == 1 || !repeats(r, info, err) {
			return retried(r.fail(err), before, "")
		}
		if backoff == nil {
			backoff = retry.New(retry.Policy{Base: c.retry.Wait, Max: c.retry.MaxWait})
		}
		floor, _ := apierrors.RetryAfter(err)
		wait := min(backoff.Next(floor), max(floor, c.retry.MaxWait))
		if stop, stopped := c.stops(ctx, n, floor, wait); stopped {
			return retried(r.fail(err), before, stop)
		}
		if f := c.hooksIn(ctx).Retry; f != nil {
			info.Err, info.Wait = err, wait
			f(ctx, info)
		}
		if retry.Sleep(ctx, wait) != nil {
			err = fmt.Errorf("wait before attempt %d: %w; before that: %w", n+1, conn.ContextError(ctx), err)
			return retried(r.fail(err), before, "")
		}
		before = append(before, err)
	}
}

// try sends r once.
func (c *Client) try(ctx context.Context, r outgoing, n int, read func(*http.Response) error) (RequestInfo, error) {
	resp, info, err := c.send(ctx, r, n)
	if err != nil {
		return info, err
	}
	if err := checkAnswer(resp, r); err != nil {
		_ = resp.Body.Close()
		return info, ranOut(ctx, r, info.Duration, err)
	}
	if body, ok := resp.Body.(*conn.Progress); ok && r.idles() {
		body.Idle = true
	}
	return info, read(resp)
}

// stops reports whether there is no attempt after the n-th, and why. If stops is false, it has taken one retry from the
// budget.
func (c *Client) stops(ctx context.Context, n int, floor, wait time.Duration) (why string, stops bool) {
	if n >= c.retry.Attempts {
		return "", true
	}
	if floor > c.retry.MaxWait {
		return fmt.Sprintf("the server asks to wait %v, longer than Config.Retry.MaxWait, %v",
			floor, c.retry.MaxWait), true
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < wait {
		return fmt.Sprintf("the context would end during a wait of %v", wait.Round(time.Millisecond)), true
	}
	if !c.budget.Take() {
		return "the budget for retries is used up; see Config.Retry.Burst", true
	}
	return "", false
}

// retried returns the *OpError of a call, with the errors of its attempts before the last, and why there was no further
// attempt.
func retried(err error, before []error, stop string) error {
	op := err.(*OpError)
	op.Before, op.stop = before, stop
	return op
}

// repeats reports whether r may be sent again after the attempt that info describes, which failed with err.
func repeats(r outgoing, info RequestInfo, err error) bool {
	if status, ok := errors.AsType[*apierrors.StatusError](err); info.Code != 0 && ok {
		_, asked := apierrors.RetryAfter(status)
		if query, body, _ := r.content(); generatesName(info.Method, query, body) {
			return madeNothing(info.Code, err, asked)
		}
		_, budget := apierrors.Cause(status, apierrors.CauseDisruptionBudget)
		return asked && (info.Code == http.StatusTooManyRequests && !budget || info.Code >= 500)
	}
	if errors.As(err, new(*DecodeError)) || errors.As(err, new(*AnswerError)) {
		return false // the answer is complete, whatever error this one wraps
	}
	switch apierrors.NetworkOf(err) {
	case apierrors.NetworkReset, apierrors.NetworkClosed:
		answered := info.Code != 0
		return conn.Reads(info.Method) || r.isRepeatable(answered) || !answered && apierrors.SafeToRetry(err)
	case apierrors.NetworkTimeout:
		return info.Verb == "watch"
	case apierrors.NetworkLookup, apierrors.NetworkUnreachable:
		lookup, ok := errors.AsType[*net.DNSError](err)
		return apierrors.SafeToRetry(err) && (!ok || !lookup.IsNotFound)
	}
	return false
}

// writeBody has the parts of a write's body that limit how often it can take effect.
type writeBody struct {
	Metadata struct {
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
	Preconditions preconditions `json:"preconditions"`
	DryRun        []string      `json:"dryRun"`
}

// isIdempotent reports whether sending r twice has the same outcome as sending it once: the server does not store it,
// or it is an apply, which states the fields of one manager. If others have written between the two requests, the
// second does what the first would have done if it had arrived later.
func (r request) isIdempotent() bool {
	if r.query.Get("dryRun") == "All" || strings.HasPrefix(r.contentType, "application/apply-patch") {
		return true
	}
	var body writeBody
	return r.method() == http.MethodDelete && json.Unmarshal(r.body, &body) == nil && len(body.DryRun) > 0
}

// isPinned reports whether r has a precondition that the success of r makes false. A deletion with a uid is such a
// request, because an object cannot be deleted twice.
func (r request) isPinned() bool {
	if r.body == nil || r.collection {
		return false
	}
	if strings.HasPrefix(r.contentType, "application/json-patch") {
		return testsVersion(r.body)
	}
	var body writeBody
	if json.Unmarshal(r.body, &body) != nil {
		return false
	}
	switch r.method() {
	case http.MethodDelete:
		return body.Preconditions != preconditions{}
	case http.MethodPut, http.MethodPatch:
		return body.Metadata.ResourceVersion != ""
	}
	return false
}

// testsVersion reports whether a JSON patch tests the resource version before it changes anything.
func testsVersion(patch []byte) bool {
	var operations []struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value"`
	}
	if json.Unmarshal(patch, &operations) != nil {
		return false
	}
	for _, o := range operations {
		if o.Op != "test" {
			return false
		}
		if version, ok := o.Value.(string); ok && version != "" && o.Path == "/metadata/resourceVersion" {
			return true
		}
	}
	return false
}
