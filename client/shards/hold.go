package shards

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/bowline-go/bowline/client/leader"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/follow"
)

// Reasons why the context of work on a range has ended, besides those of package leader.
var (
	errHandedOver = errors.New("the range has passed to another replica")
	errOver       = errors.New("this replica has left the group")
)

// hold is the work of this replica on one range, from its beginning until another replica may work on the range.
type hold struct {
	number uint64          // the number of this hold among those of the Group, from 1
	ctx    context.Context // ends with the lease, and with the hold
	cancel context.CancelCauseFunc
	ended  atomic.Pointer[error]
}

// newHold returns the hold of a range. held is the context of the lease.
func newHold(held context.Context, number uint64) *hold {
	h := &hold{number: number}
	h.ctx, h.cancel = context.WithCancelCause(held)
	return h
}

// end ends the work. No request with the context of the hold is sent after that.
func (h *hold) end(why error) {
	h.ended.CompareAndSwap(nil, &why)
	h.cancel(why)
}

// open returns nil while the replica certainly has the range. It reads the clocks, as package leader does.
func (h *hold) open() error {
	if why := h.ended.Load(); why != nil {
		return *why
	}
	return leader.Check(h.ctx)
}

type holdKey struct{}

// Check returns nil as long as this replica certainly has the range to which ctx belongs, and otherwise the reason why
// it does not. It reads both clocks, so it notices a sleep of the machine even before ctx ends. Call it right before a
// write that does not go through a client.Client. It returns an error if ctx does not come from [Group.Enter]. The
// contexts of reconciles come from there if the controller has Options.Shards.
func Check(ctx context.Context) error {
	h, ok := ctx.Value(holdKey{}).(*hold)
	if !ok {
		return errors.New("shards.Check: the context does not come from a Group")
	}
	return h.open()
}

// Enter begins a piece of work on range n. It returns a context for the work, which ends when ctx ends or when this
// replica no longer has the range; no request with the context is sent after that. The caller must call leave when the
// work has ended, because the range passes to another replica only then, or when Options.Drain has passed. Enter
// returns false if this replica does not have the range. Controllers with Options.Shards call Enter for each reconcile.
func (g *Group) Enter(ctx context.Context, n int) (working context.Context, leave func(), ok bool) {
	g.mu.Lock()
	if !g.replica.owns.Has(n) {
		g.mu.Unlock()
		return nil, nil, false
	}
	h := g.holds[n]
	g.replica.users[n]++
	g.mu.Unlock()
	left := sync.OnceFunc(func() {
		g.mu.Lock()
		last := false
		if g.holds[n] == h {
			g.replica.users[n]--
			last = g.replica.users[n] == 0 && g.replica.draining.Has(n)
		}
		g.mu.Unlock()
		if last {
			g.poke()
		}
	})
	if h.open() != nil {
		left()
		return nil, nil, false
	}
	working, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(h.ctx, func() { cancel(context.Cause(h.ctx)) })
	return follow.Gate(context.WithValue(working, holdKey{}, h), h.open), func() {
		stop()
		cancel(nil)
		left()
	}, true
}

// Began returns the ranges that this replica has and on which work has begun since an earlier call. since is the number
// that the earlier call returned; for 0 Began returns all ranges that this replica has. number is what to pass to the
// next call, and changed is closed when there may be more ranges. Controllers call Began to reconcile the objects of
// new ranges.
func (g *Group) Began(since uint64) (ranges meta.Ranges, number uint64, changed <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for n := range g.replica.owns.All() {
		if g.holds[n].number > since {
			ranges = ranges.With(n)
		}
	}
	return ranges, g.begins, g.begun
}
