package leader

import (
	"context"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/hooks"
)

// Hooks are functions that an Elector calls on events; see also [WithHooks]. All are optional. Their context has the
// values of Run's context. Several goroutines may call them at once. They should return soon, because renewals wait for
// them; if they do not return, the lease is lost at its deadline.
type Hooks struct {
	// Run is called when the Run of an Elector begins. ended, unless it is nil, is called before that Run returns.
	Run func(ctx context.Context, r RunInfo) (ended func())
	// Leader is called when this process sees that the holder of the lease has changed, or that the lease has no holder
	// any more.
	Leader func(ctx context.Context, i LeaderInfo)
	// Renewed is called after each renewal by this process.
	Renewed func(ctx context.Context, i RenewalInfo)
	// Lost is called when this process has lost the lease, while lead may still run. err is the cause of the end of
	// lead's context, unless that context had already ended.
	Lost func(ctx context.Context, err *LostError)
	// Released is called when this process has released the lease, or has failed to release it. That happens after
	// lead has returned, and at the end of a Run that has not called lead but may hold the lease.
	Released func(ctx context.Context, i ReleaseInfo)
}

// WithHooks returns a context. Electors that run with it call the functions of h, as well as those of Options.Hooks
// and of outer contexts.
func WithHooks(ctx context.Context, h Hooks) context.Context {
	return hooks.With(ctx, h, Hooks.and)
}

// and returns hooks that call the functions of h and then those of other.
func (h Hooks) and(other Hooks) Hooks {
	return Hooks{
		Run:      hooks.BothRuns(h.Run, other.Run),
		Leader:   hooks.Both(h.Leader, other.Leader),
		Renewed:  hooks.Both(h.Renewed, other.Renewed),
		Lost:     hooks.Both(h.Lost, other.Lost),
		Released: hooks.Both(h.Released, other.Released),
	}
}

// hooks returns the hooks of a Run. ctx is derived from its context.
func (e *Elector) hooks(ctx context.Context) Hooks {
	carried, _ := hooks.In[Hooks](ctx)
	return e.config.Hooks.and(carried)
}

// tell calls a hook, if it is set, with the values of ctx.
func tell[I any](ctx context.Context, hook func(context.Context, I), info I) {
	if hook != nil {
		hook(context.WithoutCancel(ctx), info)
	}
}

// RunInfo describes a running Elector.
type RunInfo struct {
	// Lease is the lease.
	Lease meta.Key
	// Status is [Elector.Status].
	Status func() Status
}

// LeaderInfo says who leads.
type LeaderInfo struct {
	// Lease is the lease.
	Lease meta.Key
	// Leader is the identity of the holder; empty if there is none.
	Leader string
	// Previous is the last holder that this process saw before; empty if there was none.
	Previous string
	// Self says that this process is the leader.
	Self bool
	// Term is the number of times that the lease has passed to another holder.
	Term int64
}

// RenewalInfo describes a renewal that has succeeded.
type RenewalInfo struct {
	// Lease is the lease.
	Lease meta.Key
	// Attempts is the number of attempts of this renewal.
	Attempts int
	// Reread says that the lease had to be read again, because it had changed or the outcome of a write was unknown.
	Reread bool
	// Duration is the time since the first attempt.
	Duration time.Duration
	// Left is how much longer this process would have led without this renewal.
	Left time.Duration
}

// ReleaseInfo describes a release.
type ReleaseInfo struct {
	// Lease is the lease.
	Lease meta.Key
	// Err says why the lease could not be released; it then expires by itself. Err is nil if the lease is free, or
	// another process holds it.
	Err error
}
