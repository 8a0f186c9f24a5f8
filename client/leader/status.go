package leader

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// Status is a snapshot of the state of an Elector.
type Status struct {
	// Lease is the lease, and Identity the identity of this process.
	Lease    meta.Key
	Identity string
	// Running says that Run has been called and has not returned.
	Running bool
	// Leading says that lead runs and this process certainly holds the lease.
	Leading bool
	// Leader is the identity of the last seen holder; empty if there was none. The holder may have lost the lease
	// since.
	Leader string
	// Since is when the holder took the lease, by the holder's clock.
	Since time.Time
	// Term is how often the lease has passed to another holder (spec.leaseTransitions).
	Term int64
	// Observed is when this process last saw a change of the lease, such as a renewal, by its own clock. It is zero
	// before the first.
	Observed time.Time
	// Left is how much longer this process leads without another renewal; 0 if it does not lead.
	Left time.Duration
	// Err is the error of the last read or write of the lease. If that succeeded, Err is nil, unless an unrenewed lease
	// excludes this process for much longer than Options.LeaseDuration; then Err says so.
	Err error
}

// Status returns the current state of the Elector.
func (e *Elector) Status() Status {
	e.mu.Lock()
	s, t := e.status, e.term
	s.Err = cmp.Or(s.Err, e.long)
	e.mu.Unlock()
	s.Lease, s.Identity = e.key, e.config.Identity
	if t != nil && t.open() == nil {
		s.Leading, s.Left = true, max(t.left(), 0)
	}
	return s
}

// Live returns an error if lead still runs although the lease has been lost for longer than Options.Grace. The process
// should then be restarted, because another one may do the same work. Otherwise Live returns nil, even if this process
// does not lead.
func (e *Elector) Live() error {
	e.mu.Lock()
	t := e.term
	e.mu.Unlock()
	if t == nil {
		return nil
	}
	if late := t.overdue(); late > e.config.Grace {
		return fmt.Errorf("%v: lead still runs %v after the lease was lost", e, late.Round(time.Millisecond))
	}
	return nil
}

// saw records the state of the lease for the Status, and reports a change of the holder.
func (e *Elector) saw(ctx context.Context, l *lock) {
	now := e.clock.Wall()
	e.mu.Lock()
	previous := e.status.Leader
	e.status.Leader, e.status.Since = l.rec.holder, l.rec.acquired
	if l.lease != nil {
		e.status.Term = l.rec.transitions
	}
	if l.rec != e.observed {
		e.observed, e.status.Observed = l.rec, now
	}
	e.mu.Unlock()
	if l.rec.holder == previous {
		return
	}
	info := LeaderInfo{Lease: e.key, Leader: l.rec.holder, Previous: previous, Self: l.mine(), Term: l.rec.transitions}
	switch logger := e.log.Logger(); {
	case info.Self:
		logger.Info(e.String()+": this process leads", "identity", info.Leader, "term", info.Term)
		if info.Term >= maxTransitions {
			logger.Info(e.String() + ": spec.leaseTransitions is at its maximum, so the next term will have the same number; " +
				"delete the lease to reset it")
		}
	case info.Leader != "":
		logger.Info(e.String()+": another process leads", "identity", info.Leader, "term", info.Term)
	default:
		logger.Info(e.String() + ": nobody leads")
	}
	tell(ctx, e.hooks(ctx).Leader, info)
}
