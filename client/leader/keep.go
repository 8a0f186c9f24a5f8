package leader

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/report"
	"github.com/bowline-go/bowline/internal/retry"
)

// keeper renews the lease while lead runs, in a separate goroutine. The deadline of the term does not depend on it: see
// term.guard.
type keeper struct {
	*lock
	w    *watcher
	term *term
	name string // the name of lead, for errors
	told bool   // the caller of Run itself reports that lead does not return
}

// run renews the lease until stop ends, which is when lead has returned. Once the lease is lost, run only waits for
// lead and reports at growing intervals that lead still runs. leads is the context of lead.
func (k *keeper) run(stop, leads context.Context) {
	var (
		due   = time.NewTimer(0)
		hang  = time.NewTimer(0)
		pause time.Duration // until the next report that lead hangs
		since time.Time     // when lead's context ended
		ended = leads.Done()
		lost  = k.term.done // until stop ends, only a loss ends the term
	)
	defer due.Stop()
	defer hang.Stop()
	hang.Stop()
	for {
		isDue, ready, asked := due.C, k.w.ready, k.rider.Due
		if lost == nil {
			isDue, ready, asked = nil, nil, nil
		} else {
			due.Reset(k.due())
		}
		select {
		case <-stop.Done():
			if lost != nil { // lead may return right after a loss, so both may have ended
				k.lost(stop)
			}
			return
		case <-lost:
			lost = nil
			k.lost(stop)
		case <-ended:
			ended, since, pause = nil, time.Now(), report.Next(0)
			hang.Reset(pause)
		case <-hang.C:
			if !k.told || k.term.open() != nil { // after a loss the hang is always reported, because another process may lead
				k.hangs(time.Since(since), context.Cause(leads))
			}
			pause = report.Next(pause)
			hang.Reset(pause)
		case <-ready:
			if n, ok := k.w.next(); ok && k.isSuspicious(n) {
				k.renew(stop)
			}
		case <-asked:
			k.renew(stop)
		case <-isDue:
			k.renew(stop)
		}
	}
}

// due returns the time until the next renewal.
func (k *keeper) due() time.Duration {
	return max(k.e.config.RetryPeriod-k.held.sent.until(k.e.clock.now()), 0)
}

// isSuspicious reports whether an event shows a state of the lease that this process has not written. The event may be
// old, so it only causes a renewal, and the server decides.
func (k *keeper) isSuspicious(n news) bool {
	if !n.deleted && recordOf(n.lease) == k.rec && n.lease.GetUID() == k.term.UID {
		return false
	}
	order, ok := meta.CompareVersions(n.lease.GetResourceVersion(), k.version())
	return !ok || order > 0
}

// renew attempts to renew the lease until it succeeds, the term is over, or stop ends.
func (k *keeper) renew(stop context.Context) {
	var (
		began   = time.Now()
		backoff = retry.New(retry.Policy{Base: k.e.config.RetryPeriod / 2, Max: k.e.config.RetryPeriod})
		info    = RenewalInfo{Lease: k.e.key}
	)
	for stop.Err() == nil && k.term.open() == nil {
		info.Attempts++
		err := k.once(stop, &info)
		switch lost, ok := errors.AsType[*LostError](err); {
		case err == nil && k.rider.Stored != nil && k.term.open() != nil:
			return // the answer came after the deadline, and other processes may have relied on the deadline
		case err == nil:
			info.Left, info.Duration = max(k.term.left(), 0), time.Since(began)
			k.term.extend(k.held.sent)
			k.renewed(stop, info)
			return
		case ok:
			_ = k.term.end(lost)
			return
		case stop.Err() != nil:
			return
		}
		k.term.failed(err)
		k.e.renewConnections(err)
		k.e.leaseFailed(err)
		_ = retry.Sleep(stop, min(backoff.Next(0), max(k.term.left(), 0))) // the loop checks stop
	}
}

// once makes one attempt to renew. The error is a *LostError if this process no longer holds the lease.
func (k *keeper) once(stop context.Context, info *RenewalInfo) error {
	// If at least three quarters of RenewDeadline are left, the attempt leaves the last quarter for another attempt, on
	// another connection. Otherwise it may use all of the remaining time, so a slow server can still answer.
	limit, quarter := k.term.left(), k.e.config.RenewDeadline/4
	if limit >= 3*quarter {
		limit -= quarter
	}
	ctx, cancel := context.WithTimeout(stop, limit)
	defer cancel()
	before := k.held
	conflicts := newPace(k.e.config).conflict
	for {
		err := k.claim(ctx)
		if err == nil {
			return k.owned()
		}
		if !k.isStale(err) {
			return err
		}
		// Somebody has changed the lease, or an earlier attempt took effect although its answer was lost.
		info.Reread = true
		if err := k.read(ctx); err != nil {
			return err
		}
		if err := k.owned(); err != nil || k.held != before {
			return err
		}
		if err := retry.Sleep(ctx, conflicts.Next(0)); err != nil {
			return fmt.Errorf("renew lease %q: other writers keep changing it: %w", k.e.key, err)
		}
	}
}

// owned returns a *LostError unless this process holds the lease, as it was last read.
func (k *keeper) owned() error {
	lost := func(reason Reason, detail string, err error) error {
		e := k.e.lost(reason, detail)
		e.Err = err
		return e
	}
	switch {
	case k.lease == nil:
		return lost(Deleted, "somebody has deleted the lease", nil)
	case k.lease.GetUID() != k.term.UID:
		return lost(Deleted, "somebody has deleted the lease and made it again", nil)
	case k.rec.strategy != "":
		return lost(Coordinated, "somebody has set spec.strategy in the lease", k.e.coordinated(k.rec.strategy))
	case k.mine():
		return nil
	case k.rec.holder == k.e.config.Identity && k.restored:
		return lost(Restored, "the server has an older state of the lease, probably restored from a backup", nil)
	case k.rec.holder == k.e.config.Identity:
		return lost(Shared, "another process has written the lease", k.e.shared())
	case k.rec.holder == "":
		return lost(Emptied, "somebody has removed the holder from the lease", nil)
	}
	e := k.e.lost(Taken, fmt.Sprintf("%q has taken the lease", k.rec.holder))
	e.Holder = k.rec.holder
	return e
}

// renewed reports that a renewal has succeeded.
func (k *keeper) renewed(stop context.Context, info RenewalInfo) {
	k.e.leaseWorks()
	tell(stop, k.e.hooks(stop).Renewed, info)
}

// lost reports that the lease is lost.
func (k *keeper) lost(stop context.Context) {
	loss := k.term.loss()
	if loss == nil {
		return // lead has returned
	}
	k.e.log.Logger().Info(k.e.String()+": this process does not lead any more", "reason", loss.Reason, "cause", loss.Error())
	tell(stop, k.e.hooks(stop).Lost, loss)
}

// hangs reports that lead still runs although its context has ended.
func (k *keeper) hangs(since time.Duration, cause error) {
	holds := "this process keeps the lease"
	if k.term.open() != nil {
		holds = "another process may lead"
	}
	err := fmt.Errorf("lead by lease %q: %s still runs %v after its context has ended, and %s: %w",
		k.e.key, k.name, since.Round(time.Millisecond), holds, cause)
	if k.e.config.OnError != nil {
		k.e.config.OnError(err)
		return
	}
	k.e.log.Logger().Error(err, k.e.String()+": lead does not return")
}
