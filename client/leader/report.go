package leader

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/bowline-go/bowline/client"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/report"
	"github.com/bowline-go/bowline/internal/retry"
)

// Keys of topics.
const (
	aboutLease    = "lease"
	aboutWatch    = "watch"
	aboutRelease  = "release"
	aboutDuration = "duration"
)

// failed reports an error that Run does not return. No lock is held.
func (e *Elector) failed(t report.Topic, err error) {
	if e.config.OnError != nil {
		e.config.OnError(err)
		return
	}
	e.log.Failed(t, err, nil)
}

// works says that what a topic is about works again.
func (e *Elector) works(topic string) { e.log.Works(topic) }

// leaseFailed reports an error of a read or a write of the lease, and notes it for the status.
func (e *Elector) leaseFailed(err error) {
	e.mu.Lock()
	e.status.Err = err
	e.mu.Unlock()
	e.failed(report.Topic{Key: aboutLease, Fails: e.String() + " fails", Works: e.String() + " works again"}, err)
}

func (e *Elector) leaseWorks() {
	e.mu.Lock()
	e.status.Err = nil
	e.mu.Unlock()
	e.works(aboutLease)
}

// waits notes why this process waits for the lease for long; nil if it does not.
func (e *Elector) waits(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.long = err
}

// slowest bounds the waits after a refusal that somebody has to do something about.
const slowest = time.Minute

// isRefusal reports whether the server would give the same answer again: a permission or the namespace is missing, or a
// plugin of the server does not want the lease.
func isRefusal(err error) bool {
	status := (*apierrors.StatusError)(nil)
	if usage := (*client.UsageError)(nil); errors.As(err, &usage) {
		return true
	}
	if !errors.As(err, &status) {
		return false
	}
	code := status.Status.Code
	return code >= 400 && code < 500 && code != http.StatusTooManyRequests && code != http.StatusRequestTimeout && code != http.StatusConflict
}

// pace says how long to wait before the next attempt.
type pace struct {
	quick, slow, conflict *retry.Backoff
}

func newPace(c Options) pace {
	return pace{
		quick:    retry.New(retry.Policy{Base: c.RetryPeriod, Max: c.RetryPeriod}),
		slow:     retry.New(retry.Policy{Base: 2 * c.RetryPeriod, Max: slowest}),
		conflict: retry.New(retry.Policy{Base: 10 * time.Millisecond, Max: c.RetryPeriod, Reset: c.RetryPeriod}),
	}
}

// after returns the wait after an error. A server that has just started refuses what its roles will permit, so the
// first waits after a refusal are short too.
func (p pace) after(err error) time.Duration {
	floor, _ := apierrors.RetryAfter(err)
	if isRefusal(err) {
		return p.slow.Next(floor)
	}
	p.slow.Reset()
	return p.quick.Next(floor)
}

// renewConnections makes later requests use other connections, if err is that of an attempt without an answer: the
// connection may be dead, and HTTP/2 would notice after a minute only. An attempt that waits for a credential has no
// connection yet.
func (e *Elector) renewConnections(err error) {
	credential := (*client.CredentialError)(nil)
	if errors.Is(err, context.DeadlineExceeded) && !errors.As(err, &credential) {
		e.c.Close()
	}
}
