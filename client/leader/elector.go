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
	config  Options // with its defaults
	invalid error   // why Run cannot run
	leases  client.Resource[*meta.Unstructured]
	key     meta.Key
	clock   clock
	log     *report.Log // for errors that no hook takes

	mu       sync.Mutex // guards the rest
	ours     []record   // written by earlier Runs; a Run that goes on owns it
	term     *term      // of lead, while it runs
	status   Status     // without what Status fills in
	observed record     // that status.Observed is of
	long     error      // why this process waits for long, or nil
}

// New returns an Elector. It does no I/O. Run, not New, reports invalid Options.
//
// A client with a Limiter delays renewals behind its other requests. If that may take seconds, give the Elector
// a client of its own.
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

// Run contends for a lease as [Elector.Run] of an Elector with that client and Options does.
func Run(ctx context.Context, c *client.Client, config Options, lead func(ctx context.Context) error) error {
	return New(c, config).Run(ctx, lead)
}

// String names the lease.
func (e *Elector) String() string { return fmt.Sprintf("leader election by lease %q", e.key) }

// Run waits until this process holds the lease, and then calls lead once, in the goroutine of the caller. It renews the
// lease while lead runs. When lead has returned, it releases the lease, for which it tries for Options.RenewDeadline at
// most, and returns:
//
//   - nil if ctx has ended and lead returned nil or the error of ctx, or if ctx ended before lead was called;
//   - a *LostError if the lease was lost; it also wraps the error of lead, unless that is the error of the context;
//   - an error that is [ErrShared] or [ErrCoordinated] if the lease cannot be contended for;
//   - otherwise the error of lead, which may be nil.
//
// Run returns an error at once if the Options or lead cannot be used, or if the Elector runs already.
//
// The context of lead ends when ctx ends, or with a *LostError as its cause before the lease can have passed to another
// process. No request with that context is sent after that; see [Check] for writes that do not go through a client.
// TermOf returns the term.
//
// When ctx ends, Run goes on renewing the lease until lead has returned: no other process leads while this one
// finishes. When the lease is lost, Run waits for lead too; meanwhile it reports at growing intervals what runs, and
// [Elector.Live] fails after Options.Grace. An informer.Group says itself what does not end, so there Run reports only
// a hang after a loss.
//
// If lead panics or calls runtime.Goexit, Run releases the lease and lets that go on.
//
// When Run returns, nothing of it runs. It may be called again, to contend again.
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
	if !rides { // otherwise nobody elects a leader
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
		l.release(ctx, e.config.RenewDeadline) // an attempt whose answer was lost may have taken it
		return err
	}
	return e.lead(ctx, l, w, lead)
}

// begin checks that Run can run, and notes that it does.
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
		return fmt.Errorf("%v: it is running already", e)
	}
	e.status.Running = true
	return nil
}

func (e *Elector) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.status.Running = false
}

// lead calls work while the lease is renewed, and releases the lease. It also does so if work does not return, but
// panics.
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

	most := e.config.RetryPeriod // after a panic, which must not wait for long
	defer func() {
		_ = t.end(errOver) // from here on nothing is sent with the context of work
		stop()
		running.Wait()
		e.setTerm(nil)
		l.release(ctx, most)
	}()
	err := work(leads)
	most = e.config.RenewDeadline
	_ = t.open() // the deadline may have passed unnoticed
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

// lost returns the error of a loss.
func (e *Elector) lost(reason Reason, detail string) *LostError {
	return &LostError{Lease: e.key, Identity: e.config.Identity, Reason: reason, detail: detail}
}
