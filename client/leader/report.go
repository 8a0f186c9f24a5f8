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

// The keys of the log topics.
const (
	aboutLease    = "lease"
	aboutWatch    = "watch"
	aboutRelease  = "release"
	aboutDuration = "duration"
)

// failed reports an error that Run does not return. The caller holds no lock.
func (e *Elector) failed(t report.Topic, err error) {
	if e.config.OnError != nil {
		e.config.OnError(err)
		return
	}
	e.log.Failed(t, err, nil)
}

// works reports that the operation of a topic works again.
func (e *Elector) works(topic string) { e.log.Works(topic) }

// leaseFailed reports an error of a read or a write of the lease, and records it for the Status.
func (e *Elector) leaseFailed(err error) {
	e.mu.Lock()
	e.status.Err = err
	e.mu.Unlock()
	e.failed(report.Topic{Key: aboutLease, Fails: e.String() + " fails", Works: e.String() + " works again"}, err)
}

// leaseAnswered records for the Status that a read or a write of the lease has succeeded.
func (e *Elector) leaseAnswered() {
	e.mu.Lock()
	e.status.Err = nil
	e.mu.Unlock()
}

// leaseWorks reports that this process can do what it needs with the lease. A read before a write does not show that:
// the write may still be forbidden.
func (e *Elector) leaseWorks() {
	e.leaseAnswered()
	e.works(aboutLease)
}

// waits records why this process waits unusually long for the lease; nil if it does not.
func (e *Elector) waits(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.long = err
}

// slowest bounds the waits after a refusal that only a person can resolve.
const slowest = time.Minute

// isRefusal reports whether the server would give the same answer again: a permission or the namespace is missing, or
// admission denies the lease.
func isRefusal(err error) bool {
	if errors.As(err, new(*client.UsageError)) {
		return true
	}
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok {
		return false
	}
	code := status.Status.Code
	return code >= 400 && code < 500 && code != http.StatusTooManyRequests && code != http.StatusRequestTimeout && code != http.StatusConflict
}

// pace determines the waits between attempts.
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

// after returns the wait after an error. A server that has just started may refuse requests that its roles permit, so
// the first waits after a refusal are short too.
func (p pace) after(err error) time.Duration {
	floor, _ := apierrors.RetryAfter(err)
	if isRefusal(err) {
		return p.slow.Next(floor)
	}
	p.slow.Reset()
	return p.quick.Next(floor)
}

// renewConnections makes later requests use other connections if an attempt timed out: its connection may be dead, and
// HTTP/2 would notice that only after 45 s. An attempt that timed out waiting for a credential had no connection yet.
func (e *Elector) renewConnections(err error) {
	if errors.Is(err, context.DeadlineExceeded) && !errors.As(err, new(*client.CredentialError)) {
		e.c.Close()
	}
}
