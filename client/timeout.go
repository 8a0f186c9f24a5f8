package client

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"time"

	apierrors "github.com/bowline-go/bowline/errors"
)

// A context's deadline goes to the server as the parameter timeout, so that the server stops its work when nobody waits
// for it any more. The client's own timer ends the call in any case.

// hasTimeout reports whether the server takes a parameter timeout with the request. It does so for all requests that
// should end soon: not for a watch, a log or a connection.
func (r request) hasTimeout() bool { return r.verb != "watch" && r.upgrade == nil && !r.text }

// withTimeout returns the parameters of a request that is sent now.
func withTimeout(ctx context.Context, r outgoing, query url.Values) url.Values {
	deadline, ok := ctx.Deadline()
	if q, is := r.(request); !ok || !is || !q.hasTimeout() {
		return query
	}
	query = maps.Clone(query)
	if query == nil {
		query = url.Values{}
	}
	// The time is rounded up: 0 would mean no limit, and the server must not give up before the client does.
	left := time.Until(deadline) + time.Millisecond - 1
	query.Set("timeout", max(left.Truncate(time.Millisecond), time.Millisecond).String())
	return query
}

// deadlineError is the server's answer that the request has timed out, if the timeout came from the context's deadline.
type deadlineError struct{ answer error }

func (e *deadlineError) Error() string   { return e.answer.Error() }
func (e *deadlineError) Unwrap() []error { return []error{e.answer, context.DeadlineExceeded} }

// ranOut returns err. If err is the server's answer to the parameter timeout, the result also matches
// context.DeadlineExceeded. A server also has its own limit, and says the same when that passes; the client knows the
// difference by its own clock, which may be a little slower than the server's.
func ranOut(ctx context.Context, r outgoing, took time.Duration, err error) error {
	deadline, ok := ctx.Deadline()
	status, answered := errors.AsType[*apierrors.StatusError](err)
	if q, is := r.(request); !ok || !is || !q.hasTimeout() || !answered ||
		status.Status.Code != http.StatusGatewayTimeout || !errors.Is(err, apierrors.Timeout) || apierrors.IsTooLargeResourceVersion(err) {
		return err
	}
	if left := time.Until(deadline); left > max(time.Second, (left+took)/10) {
		return err
	}
	return &deadlineError{err}
}
