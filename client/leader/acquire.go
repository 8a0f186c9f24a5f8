package leader

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/bowline-go/bowline/internal/report"
	"github.com/bowline-go/bowline/internal/retry"
	"github.com/bowline-go/bowline/internal/shown"
)

// step is what a contender does next.
type step int

const (
	stepWait  step = iota // wait for the lease to become free
	stepClaim             // take the lease, or renew it
	stepLead              // this process holds the lease, and renewed it recently enough to lead
)

// step decides what to do next, and how long to wait, from the known state of the lease. It measures another holder's
// term by the monotonic clock only: if it underestimates the elapsed time, this process merely waits too long, but if
// it overestimates that time, this process takes the lease of a living holder.
func (l *lock) step() (do step, wait time.Duration, err error) {
	now := l.e.clock.now()
	free := func(r record) bool { return r.holder == "" || l.isOurs(r) }
	left := func() time.Duration { return l.since + l.term(l.seen) - now.mono }
	switch {
	case l.lease == nil:
		// The holder of a deleted lease may not know of the deletion yet.
		if wait := left(); !free(l.seen) && wait > 0 {
			return stepWait, wait, nil
		}
		return stepClaim, 0, nil
	case l.rec.strategy != "":
		return 0, 0, l.e.coordinated(l.rec.strategy)
	case l.mine():
		if l.held.sent.until(now) < l.e.config.RenewDeadline/2 {
			return stepLead, 0, nil
		}
		return stepClaim, 0, nil
	case free(l.rec):
		return stepClaim, 0, nil
	case l.foreign > 2: // an earlier process may have left one record of this identity, and another one under way
		return 0, 0, l.e.shared()
	}
	if wait := left(); wait > 0 {
		return stepWait, wait, nil
	}
	return stepClaim, 0, nil
}

// term returns how long a record excludes contenders after they have seen it.
func (l *lock) term(r record) time.Duration {
	return cmp.Or(r.duration, l.e.config.LeaseDuration)
}

// excluded reports, at growing intervals, that an unrenewed lease excludes this process for much longer than its own
// LeaseDuration. Somebody may have edited the duration in the lease without noticing that nobody leads. wait is the
// remaining time.
func (l *lock) excluded(wait time.Duration) {
	term, own := l.term(l.seen), l.e.config.LeaseDuration
	if min(wait, term-wait) <= own {
		l.pause = 0
		l.e.waits(nil)
		l.e.works(aboutDuration)
		return
	}
	helps := "remove spec.holderIdentity from the lease"
	if l.lease == nil { // the holder may not know of the deletion yet, so the duration still counts
		helps = "restart this process: the lease is deleted"
	}
	err := fmt.Errorf("lead by lease %q: %q has not renewed it for %v, and its spec.leaseDurationSeconds keeps all others waiting for %v more; if the holder has ended, %s",
		l.e.key, shown.Text(l.seen.holder), (term - wait).Round(time.Second), wait.Round(time.Second), helps)
	l.e.waits(err)
	if now := l.e.clock.Mono(); now-l.reported >= l.pause {
		l.reported, l.pause = now, report.Next(l.pause)
		l.e.failed(report.Topic{
			Key:   aboutDuration,
			Fails: l.e.String() + ": the holder does not renew, and the lease keeps others waiting",
			Works: l.e.String() + ": the lease no longer keeps others waiting",
		}, err)
	}
}

// acquire waits until this process holds the lease. It returns false without an error when ctx ends.
func (l *lock) acquire(ctx context.Context, w *watcher) (bool, error) {
	config, pace, limit := l.e.config, newPace(l.e.config), l.e.config.RenewDeadline*3/4
	read, polled := true, false // polled: the watch was silent, so it has missed any change that this read finds
	late := 0                   // number of claims in a row that were answered too late to lead
	defer l.e.waits(nil)
	for ctx.Err() == nil {
		if read {
			before := l.version()
			if err := l.attempt(ctx, limit, l.read); err != nil {
				l.rest(ctx, pace, err)
				continue
			}
			if polled && l.version() != before {
				w.restart()
			}
			read, polled = false, false
		}
		do, wait, err := l.step()
		if err == nil && do != stepClaim { // the last read or write was all that this process needs at present
			l.e.leaseWorks()
		}
		l.excluded(wait)
		switch {
		case err != nil:
			return false, err
		case do == stepLead:
			return true, nil
		case do == stepClaim && late == 2:
			// Free the lease, because another process may have a better connection.
			late, read = 0, true
			err := fmt.Errorf("claim lease %q: the server takes %v or more to answer, so the lease would run out before the next renewal", l.e.key, config.RenewDeadline/2)
			if e := l.free(ctx, limit); e != nil {
				err = e
			}
			l.rest(ctx, pace, err)
		case do == stepClaim:
			late++
			switch err := l.attempt(ctx, limit, l.claim); {
			case err == nil:
				l.e.leaseWorks()
			case l.isStale(err):
				l.e.leaseWorks()
				late, read = 0, true
				_ = retry.Sleep(ctx, pace.conflict.Next(0)) // the loop checks ctx
			default:
				late, read = 0, true
				l.rest(ctx, pace, err)
			}
		default:
			// A living holder renews every RetryPeriod, and the watch shows it. If nothing arrives for longer, the
			// holder or the watch has failed.
			poll := config.RetryPeriod + config.RetryPeriod/2 + rand.N(config.RetryPeriod/4+1)
			heard := l.listen(ctx, w, min(wait, poll))
			read = heard == heardUnknown || heard == heardNothing && poll < wait
			polled = heard == heardNothing
		}
	}
	return false, nil
}

type heard int

const (
	heardNothing heard = iota
	heardNews
	heardUnknown // an event that may be old
)

// listen waits for an event of the watch, no longer than most.
func (l *lock) listen(ctx context.Context, w *watcher, most time.Duration) heard {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-w.ready:
		if n, ok := w.next(); ok {
			if !l.hear(ctx, n) {
				return heardUnknown
			}
			return heardNews
		}
	}
	return heardNothing
}

// attempt makes one request, and gives up on it when limit has passed.
func (l *lock) attempt(ctx context.Context, limit time.Duration, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := do(ctx)
	if err == nil || l.isStale(err) {
		l.e.leaseAnswered()
	}
	return err
}

// rest reports an error, and waits before the next attempt.
func (l *lock) rest(ctx context.Context, pace pace, err error) {
	if ctx.Err() != nil {
		return
	}
	l.e.renewConnections(err)
	l.e.leaseFailed(err)
	_ = retry.Sleep(ctx, pace.after(err)) // the caller checks ctx
}
