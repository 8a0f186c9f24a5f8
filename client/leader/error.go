package leader

import (
	"errors"
	"fmt"

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
	// Restored: the server returned an older state of the lease than before, as after a restore of etcd from a backup.
	Restored Reason = "Restored"
	// Coordinated: the lease now belongs to coordinated leader election, see [ErrCoordinated].
	Coordinated Reason = "Coordinated"
)

// LostError says that this process held the lease and has lost it. It is the cause of the end of lead's context, the
// error of requests with that context, and the error of Run.
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

// The reasons why a lease cannot be contended for.
var (
	// ErrShared says that two processes contend for a lease with the same identity. Each process must have its own.
	ErrShared = errors.New("another process renews the lease under the same identity")
	// ErrCoordinated says that a lease belongs to coordinated leader election (KEP-4355): its spec.strategy is set, so
	// the API server chooses the holder. This package does not take part in coordinated leader election.
	ErrCoordinated = errors.New("the server chooses the holder by coordinated leader election")
)

func (e *Elector) shared() error {
	return fmt.Errorf("lead by lease %q as %q: %w; give each process its own Options.Identity, or leave it empty",
		e.key, shown.Text(e.config.Identity), ErrShared)
}

func (e *Elector) coordinated(strategy string) error {
	return fmt.Errorf("lead by lease %q: its spec.strategy is %q: %w; use another lease, or remove the strategy",
		e.key, shown.Text(strategy), ErrCoordinated)
}
