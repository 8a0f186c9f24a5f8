package leader

import (
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
	stepWait  step = iota // for the lease to become free
	stepClaim             // take the lease, or renew it
	stepLead              // the lease is ours, and new enough to begin
)

// step decides what to do by what is known, and how long to wait. Only the monotonic clock counts: a contender that
// takes the time for shorter than it is waits too long, and one that takes it for longer breaks the lease of a living
// holder.
func (l *lock) step() (do step, wait time.Duration, err error) {
	now := l.e.clock.now()
	free := func(r record) bool { return r.holder == "" || l.isOurs(r) }
	left := func() time.Duration { return l.since + l.term(l.seen) - now.mono }
	switch {
	case l.lease == nil:
		// The holder of a lease that somebody has deleted may not know it yet.
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
	case l.foreign > 2: // the first is what an earlier process may have left, and one may have been on its way
		return 0, 0, l.e.shared()
	}
	if wait := left(); wait > 0 {
		return stepWait, wait, nil
	}
	return stepClaim, 0, nil
}

// term returns how long a record excludes others after it was seen.
func (l *lock) term(r record) time.Duration {
	if r.duration == 0 {
		return l.e.config.LeaseDuration
	}
	return r.duration
}

// excluded reports, at growing intervals, that the lease excludes this process for much longer than it would by its own
// Options, although nobody renews it. Somebody may have edited its duration, and may not know that nobody leads. wait
// is how long it does.
func (l *lock) excluded(wait time.Duration) {
	term, own := l.term(l.seen), l.e.config.LeaseDuration
	if min(wait, term-wait) <= own {
		l.pause = 0
		l.e.waits(nil)
		l.e.works(aboutDuration)
		return
	}
	helps := "remove spec.holderIdentity from the lease"
	if l.lease == nil { // its holder may not know it yet, so the duration still counts
		helps = "start this process again, as the lease is deleted"
	}
	err := fmt.Errorf("lead by lease %q: %q has not renewed it for %v, and its spec.leaseDurationSeconds keeps all others waiting for %v more; if the holder has ended, %s",
		l.e.key, shown.Text(l.seen.holder), (term - wait).Round(time.Second), wait.Round(time.Second), helps)
	l.e.waits(err)
	if now := l.e.clock.Mono(); now-l.reported >= l.pause {
		l.reported, l.pause = now, report.Next(l.pause)
		l.e.failed(report.Topic{Key: aboutDuration, Fails: l.e.String() + " waits", Works: l.e.String() + ": the lease does not exclude for so long any more"}, err)
	}
}

// acquire waits until the lease is ours. It returns false without an error when ctx ends.
func (l *lock) acquire(ctx context.Context, w *watcher) (bool, error) {
	config, pace, limit := l.e.config, newPace(l.e.config), l.e.config.RenewDeadline*3/4
	read, polled := true, false // polled: news should have come by the watch
	late := 0                   // how many claims in a row were answered too late to lead
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
		l.excluded(wait)
		switch {
		case err != nil:
			return false, err
		case do == stepLead:
			return true, nil
		case do == stepClaim && late == 2:
			// Another process may have a better connection.
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
			case l.isStale(err):
				late, read = 0, true
				_ = retry.Sleep(ctx, pace.conflict.Next(0)) // the loop asks ctx
			default:
				late, read = 0, true
				l.rest(ctx, pace, err)
			}
		default:
			// A holder that lives renews once in RetryPeriod, and the watch tells. If it is silent for longer, one of
			// them does not work.
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
	heardUnknown // news that may be old
)

// listen waits for news of the lease.
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
		l.e.leaseWorks()
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
	_ = retry.Sleep(ctx, pace.after(err)) // the caller asks ctx
}
