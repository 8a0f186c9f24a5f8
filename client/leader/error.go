package leader

import (
	"fmt"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/shown"
)

// Reason is how a lease was lost.
type Reason string

// The reasons of a LostError.
const (
	// Expired: no renewal has succeeded for Options.RenewDeadline, by the monotonic or by the wall clock.
	Expired Reason = "Expired"
	// Taken: another process holds the lease.
	Taken Reason = "Taken"
	// Emptied: somebody has removed the holder from the lease.
	Emptied Reason = "Emptied"
	// Deleted: somebody has deleted the lease.
	Deleted Reason = "Deleted"
	// Shared: another process renews the lease under the same identity.
	Shared Reason = "Shared"
	// Restored: the server has an earlier state of the lease than before, as after etcd was restored from a backup.
	Restored Reason = "Restored"
	// Coordinated: the lease has been given to coordinated leader election, which decides by other rules.
	Coordinated Reason = "Coordinated"
)

// LostError says that this process had the lease and has lost it. It is the cause of the end of lead's context, the error of
// requests with that context, and the error of Run.
type LostError struct {
	// Lease is the lease.
	Lease meta.Key
	// Identity is the identity of this process.
	Identity string
	// Reason is how the lease was lost.
	Reason Reason
	// Holder is the holder that the server reports, if Reason is Taken.
	Holder string
	// Err is the error of the last attempt to renew the lease, or nil.
	Err error

	detail string
}

// Error names the lease, the identity and the reason.
func (e *LostError) Error() string {
	text := fmt.Sprintf("lead by lease %q as %q: lost: %s", e.Lease, shown.Text(e.Identity), e.detail)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the error of the last attempt to renew the lease.
func (e *LostError) Unwrap() error { return e.Err }

// IdentityError says that two processes contend for a lease with one identity. One of them must have another.
type IdentityError struct {
	// Lease is the lease.
	Lease meta.Key
	// Identity is what both are called.
	Identity string
}

// Error names the lease and the identity.
func (e *IdentityError) Error() string {
	return fmt.Sprintf("lead by lease %q as %q: another process renews the lease under the same identity; set Options.Identity to a text of its own for each process, or leave it empty",
		e.Lease, shown.Text(e.Identity))
}

// CoordinatedError says that a lease belongs to coordinated leader election (KEP-4355): its spec.strategy is set, so the API
// server chooses the holder. This package does not take part in that.
type CoordinatedError struct {
	// Lease is the lease.
	Lease meta.Key
	// Strategy is its spec.strategy.
	Strategy string
}

// Error names the lease and the strategy.
func (e *CoordinatedError) Error() string {
	return fmt.Sprintf("lead by lease %q: its spec.strategy is %q, so the server chooses the holder by coordinated leader election; use another lease, or remove the strategy",
		e.Lease, shown.Text(e.Strategy))
}

// DurationError says that nobody renews a lease, and that nobody else may take it for long: its spec.leaseDurationSeconds is much more
// than the Options.LeaseDuration of this process, as after somebody has edited it. It is reported when the lease has not been renewed for
// Options.LeaseDuration and excludes this process for longer than that again, and then at growing intervals.
type DurationError struct {
	// Lease is the lease.
	Lease meta.Key
	// Holder is its holder.
	Holder string
	// Duration is how long the lease excludes others after its last renewal.
	Duration time.Duration
	// Silent is how long this process has seen no renewal.
	Silent time.Duration
	// Deleted says that the lease has been deleted since. Its holder may not know it yet, so the duration still counts.
	Deleted bool
}

// Error names the lease, the holder and the durations, and says what helps if the holder has ended.
func (e *DurationError) Error() string {
	helps := "remove spec.holderIdentity from the lease"
	if e.Deleted {
		helps = "start this process again, as the lease is deleted"
	}
	return fmt.Sprintf("lead by lease %q: %q has not renewed it for %v, and its spec.leaseDurationSeconds keeps all others waiting for %v more; if the holder has ended, %s",
		e.Lease, shown.Text(e.Holder), e.Silent.Round(time.Second), (e.Duration - e.Silent).Round(time.Second), helps)
}

// HangError says that lead goes on after its context has ended. Run waits for it.
type HangError struct {
	// Lease is the lease.
	Lease meta.Key
	// Func is the name of the function that Run was called with, or says that it is an informer.Group's.
	Func string
	// For is how long the context has ended.
	For time.Duration
	// Lost says that the lease is lost, so that another process may lead meanwhile. Otherwise the lease is renewed until lead
	// returns.
	Lost bool
	// Err is the cause of the end of the context.
	Err error
}

// Error names the function, the time and the cause.
func (e *HangError) Error() string {
	what := "the lease is kept meanwhile"
	if e.Lost {
		what = "another process may lead meanwhile"
	}
	return fmt.Sprintf("lead by lease %q: %s still runs %v after its context has ended, and %s: %v", e.Lease, e.Func, e.For.Round(time.Millisecond), what, e.Err)
}

// Unwrap returns the cause of the end of the context.
func (e *HangError) Unwrap() error { return e.Err }
