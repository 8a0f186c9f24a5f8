package leader

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"sync"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/election"
	"github.com/bowline-go/bowline/internal/hooks"
	"github.com/bowline-go/bowline/internal/report"
)

// Elector contends for one lease. Make one with [New]; nothing happens until [Elector.Run]. Its methods are safe for
// use by several goroutines at once.
type Elector struct {
	c       *client.Client
	config  Options // with defaults applied
	invalid error   // the error of the Options; Run returns it
	leases  client.Resource[*meta.Unstructured]
	key     meta.Key
	clock   clock
	log     *report.Log // for errors if OnError is nil, and for changes of leadership

	mu       sync.Mutex // guards the fields below
	ours     []record   // the records written by earlier Runs; the current Run uses it without mu
	term     *term      // the current term; nil while lead does not run
	status   Status     // without the fields that Status() fills in
	observed record     // the record that status.Observed refers to
	long     error      // why this process waits unusually long; nil if it does not
}

// New returns an Elector. It does no I/O. Run, not New, reports invalid Options.
//
// If c has a Limiter, renewals wait behind its other requests. If that may take seconds, give the Elector a separate
// client.
func New(c *client.Client, config Options) *Elector {
	config = config.withDefaults()
	e := &Elector{
		c: c, config: config, invalid: config.validate(), key: meta.Key{Namespace: config.Namespace, Name: config.Name},
		leases: client.For(c, leases), clock: clock{election.NewClock()}, log: report.New(config.Logger),
	}
	if c == nil {
		e.invalid = errors.Join(errors.New("leader.New: the client must not be nil"), e.invalid)
	}
	return e
}

// Run is [Elector.Run] of a new Elector with c and config.
func Run(ctx context.Context, c *client.Client, config Options, lead func(ctx context.Context) error) error {
	return New(c, config).Run(ctx, lead)
}

// String names the lease.
func (e *Elector) String() string { return fmt.Sprintf("leader election by lease %q", e.key) }

// Permissions returns the permissions that the election needs; see the documentation of the package.
func (e *Elector) Permissions() []client.Access {
	all := e.leases.In(e.key.Namespace).One(e.key).Access("get", "update", "watch")
	return append(all, e.leases.In(e.key.Namespace).Access("create")...)
}

// Run waits until this process holds the lease, and then calls lead once, in the goroutine of the caller. It renews the
// lease while lead runs. When lead has returned, Run tries for at most Options.RenewDeadline to release the lease, and
// returns:
//
//   - nil if ctx has ended and lead returned nil or the error of ctx, or if ctx ended before lead was called;
//   - a *LostError if the lease was lost; it also wraps the error of lead, unless that is the error of the context;
//   - an error that matches [ErrShared] or [ErrCoordinated] if the lease cannot be contended for;
//   - otherwise the error of lead, which may be nil.
//
// Run returns an error at once if the Options are invalid, lead is nil, or the Elector is already running.
//
// The context of lead ends when ctx ends, or with a *LostError as its cause before the lease can have passed to another
// process. No request with that context is sent after that; see [Check] for writes that do not go through a client.
// TermOf returns the term.
//
// When ctx ends, Run renews the lease until lead has returned, so no other process leads while this one finishes. When
// the lease is lost, Run also waits for lead, and [Elector.Live] fails after Options.Grace. While it waits, Run reports
// at growing intervals that lead still runs. An informer.Group reports that itself, so for a Group, Run reports it only
// after a loss.
//
// If lead panics or calls runtime.Goexit, Run releases the lease, and the panic or Goexit continues.
//
// When Run returns, its goroutines have ended. It may be called again to contend again.
func (e *Elector) Run(ctx context.Context, lead func(ctx context.Context) error) (err error) {
	if err := e.begin(lead); err != nil {
		return err
	}
	defer e.end()
	if ctx.Err() != nil {
		return nil
	}
	e.log.Start(ctx)
	defer e.log.Stop()
	rider, rides := election.RiderOf(ctx)
	if !rides { // an election with a Rider elects no leader
		defer hooks.Run(ctx, e.hooks(ctx).Run, RunInfo{Lease: e.key, Status: e.Status})()
	}

	var running sync.WaitGroup
	defer running.Wait()
	watching, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	w := newWatcher(e)
	running.Go(func() { w.run(watching) })

	if rides {
		e.clock = clock{rider.Clock}
	}
	l := newLock(e, e.ours, rider)
	defer func() { e.ours = l.written() }()
	won, err := l.acquire(ctx, w)
	if !won {
		l.release(ctx, e.config.RenewDeadline) // an attempt whose answer was lost may have taken the lease
		return err
	}
	return e.lead(ctx, l, w, lead)
}

// begin checks that Run can run, and marks the Elector as running.
func (e *Elector) begin(lead func(context.Context) error) error {
	if e.invalid != nil {
		return e.invalid
	}
	if lead == nil {
		return errors.New("leader.Run: lead must not be nil")
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.status.Running {
		return fmt.Errorf("%v: already running", e)
	}
	e.status.Running = true
	return nil
}

func (e *Elector) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.status.Running = false
}

// lead calls work, renews the lease while work runs, and then releases the lease, even if work panics.
func (e *Elector) lead(ctx context.Context, l *lock, w *watcher, work func(ctx context.Context) error) error {
	t, leads := newTerm(ctx, e, Term{Number: l.rec.transitions, UID: l.lease.GetUID(), Identity: e.config.Identity}, l.held.sent)
	k := &keeper{lock: l, w: w, term: t}
	if k.name, k.told = election.LeadOf(ctx); !k.told {
		k.name = runtime.FuncForPC(reflect.ValueOf(work).Pointer()).Name()
	}
	e.setTerm(t)
	keeping, stop := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() { k.run(keeping, leads) })
	running.Go(t.guard)

	most := e.config.RetryPeriod // the time for the release after a panic, which must not be delayed for long
	defer func() {
		_ = t.end(errOver) // from here on no request is sent with the context of work
		stop()
		running.Wait()
		e.setTerm(nil)
		l.release(ctx, most)
	}()
	err := work(leads)
	most = e.config.RenewDeadline
	_ = t.open() // ends the term if its deadline has passed unnoticed
	_ = t.end(errOver)
	if lost := t.loss(); lost != nil {
		if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, lost) {
			return lost
		}
		return fmt.Errorf("%w; lead returned: %w", lost, err)
	}
	if ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))) {
		return nil
	}
	return err
}

func (e *Elector) setTerm(t *term) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.term = t
}

// lost returns a LostError.
func (e *Elector) lost(reason Reason, detail string) *LostError {
	return &LostError{Lease: e.key, Identity: e.config.Identity, Reason: reason, detail: detail}
}
