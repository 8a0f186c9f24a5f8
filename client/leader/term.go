package leader

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/bowline-go/bowline/internal/follow"
)

// Term is the time during which one process leads.
type Term struct {
	// Number is how often the lease has passed to another holder (spec.leaseTransitions). Each term of a lease has a
	// higher number than the one before. Use it as a fencing token: a store that refuses writes with a lower number
	// than it has seen is safe from late writes of a former leader.
	//
	// If somebody deletes the lease, the numbers start again and UID differs. A lease holds at most 2147483647, which
	// is reached only if somebody writes it. Further terms then have the same number, and the log says so; deleting the
	// lease resolves that.
	Number int64
	// UID is the UID of the Lease object.
	UID string
	// Identity is the identity of this process.
	Identity string
}

type termKey struct{}

// TermOf returns the term that ctx belongs to, and false if ctx does not come from an Elector.
func TermOf(ctx context.Context) (Term, bool) {
	t, ok := ctx.Value(termKey{}).(*term)
	if !ok {
		return Term{}, false
	}
	return t.Term, true
}

// Check returns nil while the process that ctx belongs to certainly leads, and otherwise why it does not: a *LostError,
// or an error that says that lead has returned. It reads both clocks, so it notices a sleep of the machine even before
// ctx ends. Call it right before a write that does not go through a client.Client. It returns an error if ctx does not
// come from an Elector.
func Check(ctx context.Context) error {
	t, ok := ctx.Value(termKey{}).(*term)
	if !ok {
		return errNoTerm
	}
	return t.open()
}

var (
	errNoTerm = errors.New("leader.Check: the context does not come from an Elector")
	errOver   = errors.New("the term is over: lead has returned")
)

// term is one call of lead. It is valid until used reaches RenewDeadline. It ends once, and keeps the error that ended
// it.
type term struct {
	Term
	e      *Elector
	cancel context.CancelCauseFunc // ends the context of lead
	done   chan struct{}           // closed at the end

	mu      sync.Mutex // guards the fields below; the clock is read before mu is locked
	used    meter      // the time since right before the last certain renewal was sent
	failure error      // the error of the last attempt to renew, or nil
	ended   error      // why the term is over; nil while it is valid
	at      instant    // when the term ended
}

// newTerm returns a term and the context of lead, which ends with ctx or with the term. from is the instant right
// before the request that took or renewed the lease was sent.
func newTerm(ctx context.Context, e *Elector, t Term, from instant) (*term, context.Context) {
	n := &term{Term: t, e: e, used: newMeter(from, e.clock.now()), done: make(chan struct{})}
	ctx, n.cancel = context.WithCancelCause(ctx)
	return n, follow.Gate(context.WithValue(ctx, termKey{}, n), n.open)
}

// open returns nil while the term is valid. The client calls it right before it sends a request, so it must not rely on
// a timer: a stopped process may continue exactly here.
func (t *term) open() error {
	now := t.e.clock.now()
	t.mu.Lock()
	ended := t.ended
	var late *LostError
	if t.used.look(now) >= t.e.config.RenewDeadline && ended == nil {
		late = t.expired(now)
	}
	t.mu.Unlock()
	if late != nil {
		return t.end(late)
	}
	return ended
}

// expired returns the error for a term that has run out. The caller holds mu.
func (t *term) expired(now instant) *LostError {
	lost := t.e.lost(Expired, fmt.Sprintf("not renewed for %v (RenewDeadline)", t.e.config.RenewDeadline))
	lost.Err = t.failure
	if mono := now.mono - t.used.from.mono; mono < t.e.config.RenewDeadline {
		lost.detail = fmt.Sprintf("the wall clock has gone %v ahead while %v passed: the machine has slept, or its clock was set",
			t.used.total.Round(time.Millisecond), mono.Round(time.Millisecond))
	}
	return lost
}

// end ends the term, unless it is over, and returns why it is over.
func (t *term) end(why error) error {
	now := t.e.clock.now()
	t.mu.Lock()
	if t.ended != nil {
		defer t.mu.Unlock()
		return t.ended
	}
	t.ended, t.at = why, now
	t.mu.Unlock()
	t.cancel(why)
	close(t.done)
	return why
}

// extend records a renewal that was sent after from. It does not revive a term that is over.
func (t *term) extend(from instant) {
	now := t.e.clock.now()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.used = newMeter(from, now)
}

// failed records the error of an attempt to renew.
func (t *term) failed(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failure = err
}

// left returns how much longer the term lasts without a renewal; 0 or less if it is over.
func (t *term) left() time.Duration {
	now := t.e.clock.now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended != nil {
		return 0
	}
	return t.e.config.RenewDeadline - t.used.look(now)
}

// loss returns the LostError that ended the term, or nil.
func (t *term) loss() *LostError {
	t.mu.Lock()
	defer t.mu.Unlock()
	lost, _ := t.ended.(*LostError)
	return lost
}

// lookEvery bounds the time after which a sleep of the machine is noticed.
const lookEvery = time.Second

// guard ends the term at its deadline. It returns when the term is over.
func (t *term) guard() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-t.done:
			return
		case <-timer.C:
		}
		if t.open() != nil {
			return
		}
		timer.Reset(min(max(t.left(), time.Millisecond), lookEvery))
	}
}

// overdue returns how long the lease has been lost, by the clock that shows more; 0 or less if it is not lost.
func (t *term) overdue() time.Duration {
	now := t.e.clock.now()
	t.mu.Lock()
	defer t.mu.Unlock()
	switch _, lost := t.ended.(*LostError); {
	case lost:
		return t.at.until(now)
	case t.ended != nil:
		return 0
	}
	return t.used.look(now) - t.e.config.RenewDeadline
}
