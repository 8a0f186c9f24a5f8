// Hooks: events for metrics and traces.

package controller

import (
	"context"
	"iter"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/hooks"
	"github.com/bowline-go/bowline/internal/shown"
	"github.com/bowline-go/bowline/workqueue"
)

// Hooks are functions that a controller calls on events, for metrics and traces. All are optional, and cost nothing if
// they are not set. Each must be safe for use by several goroutines at once, should return soon, because the reconcile
// waits for it, and must not panic.
type Hooks struct {
	// Run is called when the Run of a controller begins. ended, unless it is nil, is called before that Run returns.
	Run func(ctx context.Context, r RunInfo) (ended func())
	// Reconcile is called before each reconcile. The reconcile gets the returned context, which must be derived from
	// ctx; nil stands for ctx. end, unless it is nil, is called when the reconcile has ended, whatever its outcome.
	Reconcile func(ctx context.Context, r ReconcileInfo) (_ context.Context, end func(ReconcileEnd))
	// Queue is called when the Run of a controller begins, and with Options.StartAtTerm when a term begins too, and
	// returns the hooks of the queue of that Run or term. Their keys have the controller's type of keys.
	Queue func(ctx context.Context, r RunInfo) workqueue.Hooks[any]
	// Named is called when an object that a source follows names a key, before the key is added. Sources that follow no
	// cache, and EveryObject, do not call it. The cache's handler waits for it.
	Named func(ctx context.Context, n NamedInfo)
	// Waited is called before a reconcile whose key has waited for caches; see [Fresh].
	Waited func(ctx context.Context, w WaitInfo)
	// Fight is called when a fight is noticed, and again when its end is noticed. The controller looks for ends before
	// reconciles, of any key.
	Fight func(ctx context.Context, f *FightError)
}

// RunInfo describes a controller that runs.
type RunInfo struct {
	// Name is the name of the controller.
	Name string
	// Status is the Status method of the controller. It has the number of keys that are in progress, for example.
	Status func() Status
	// ReadyByPriority returns the number of keys of each priority that wait for a worker.
	ReadyByPriority func() map[int]int
	// Keys returns the keys that are in progress or wait, as workqueue.Queue.Keys does; they have the controller's type
	// of keys. It copies all of them, and blocks the queue during the copy, about 0.1 s for a million keys.
	Keys func() iter.Seq[workqueue.KeyInfo[any]]
	// Groups is the Groups method of the controller; it returns nothing without GroupBy.
	Groups func() []workqueue.GroupStats
}

// NamedInfo says why a source names a key.
type NamedInfo struct {
	// Controller is the name of the controller.
	Controller string
	// Key is the key; its type is the controller's type of keys.
	Key any
	// Source is the name of the source.
	Source string
	// Object is the object that names the key, and ResourceVersion is its new version, or the last one if it was
	// deleted.
	Object          meta.Key
	ResourceVersion string
	// Previous is the version that the source had before; empty if the object is new to the source or was deleted.
	// Changes between the two versions are delivered as one.
	Previous string
}

// ReconcileInfo describes a reconcile that begins.
type ReconcileInfo struct {
	// Controller is the name of the controller.
	Controller string
	// Key is the key; its type is the controller's type of keys.
	Key any
	// Attempt is 1, plus the number of failures of the key in a row.
	Attempt int
	// Priority is the priority of the key.
	Priority int
}

// ReconcileEnd describes how a reconcile has ended.
type ReconcileEnd struct {
	// Outcome is what the end means for the key.
	Outcome Outcome
	// Result is what the function returned, if it returned no error.
	Result Result
	// Err is the error of the function, or a *cache.PanicError if it panicked, or nil.
	Err error
	// Duration is how long the reconcile took.
	Duration time.Duration
	// TimedOut says that Options.Timeout has ended the context of the reconcile.
	TimedOut bool
}

// Outcome is what the end of a reconcile means for its key.
type Outcome int

const (
	// Succeeded means that the key is done until a source names it.
	Succeeded Outcome = iota
	// Requeued means that the key is done until the time in the Result, or until a source names the key.
	Requeued
	// Failed means that the key is retried, after an error, a panic or the end of the goroutine.
	Failed
	// FailedForGood means that the key is not retried: the error is a [*TerminalError].
	FailedForGood
	// Conflicted means that the key is retried after a Conflict, which is not reported.
	Conflicted
	// Interrupted means that the context of the reconcile ended, and that the reconcile then returned that context's
	// error: the controller ends or no longer leads; the object was deleted ([CancelDeleted]); the range of the key
	// passed to another replica (Options.Shards); or the cluster of the key was removed (package informer/clusters). A
	// reconcile that Options.Timeout ended has failed instead.
	Interrupted
)

// String returns the outcome in lower case.
func (o Outcome) String() string {
	return shown.Name("Outcome", int(o), "succeeded", "requeued", "failed", "failed for good", "conflicted", "interrupted")
}

// WithHooks returns a context in which the controllers that run with it call the functions of h, as well as those of
// Options.Hooks and of outer contexts.
func WithHooks(ctx context.Context, h Hooks) context.Context {
	return hooks.With(ctx, h, Hooks.and)
}

// and returns hooks that call the functions of h and then those of other; at an end, those of h come last.
func (h Hooks) and(other Hooks) Hooks {
	all := Hooks{
		Run:       hooks.BothRuns(h.Run, other.Run),
		Reconcile: hooks.BothBegin(h.Reconcile, other.Reconcile),
		Queue:     h.Queue,
		Named:     hooks.Both(h.Named, other.Named),
		Waited:    hooks.Both(h.Waited, other.Waited),
		Fight:     hooks.Both(h.Fight, other.Fight),
	}
	switch {
	case h.Queue == nil:
		all.Queue = other.Queue
	case other.Queue != nil:
		all.Queue = func(ctx context.Context, r RunInfo) workqueue.Hooks[any] {
			return bothQueues(h.Queue(ctx, r), other.Queue(ctx, r))
		}
	}
	return all
}

// hookGate calls Hooks.Reconcile when a reconcile begins, and the function that it returned when the reconcile ends.
type hookGate[K comparable] struct{ c *Controller[K] }

func (g hookGate[K]) enter(ctx context.Context, v *visit[K]) (context.Context, func(), bool) {
	of, _ := v.epoch.queue.Inspect(v.key)
	inner, end := hooks.Begin(ctx, g.c.hooks.Reconcile, ReconcileInfo{
		Controller: g.c.name, Key: v.key, Attempt: of.Failures + 1, Priority: of.RunPriority,
	})
	if end == nil {
		return inner, nil, true
	}
	v.timed = true
	return inner, func() { end(v.end) }, true
}
