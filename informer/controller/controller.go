// The controller: its parts, and its construction.

package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/report"
	"github.com/bowline-go/bowline/internal/runners"
	"github.com/bowline-go/bowline/workqueue"
)

// Func brings the actual state closer to the desired state for one key; the package documentation says what its results
// mean. Several goroutines call it at once, but never for the same key. Its context ends after Options.Timeout, and
// when the controller ends (after Options.Grace).
type Func[K comparable] func(ctx context.Context, key K) (Result, error)

// Result is the outcome of a reconcile without an error.
type Result struct {
	// RequeueAfter is the time until the key is reconciled again if no source names it earlier. 0 means that it is not
	// requeued. A negative duration counts as a RequeueAt that has passed.
	RequeueAfter time.Duration
	// RequeueAt is the time at which the key is reconciled again; it is an alternative to RequeueAfter. The zero Time
	// means that the key is not requeued. If both are set, the earlier time counts.
	//
	// If the time has passed, the key is reconciled at once. If the next reconcile of the key returns a passed time
	// too, the key waits for the backoff of a first failure, then for that of a second one, and so on, so that a time
	// that stays in the past keeps no worker busy. The controller logs that once. A passed time does not count as a
	// failure. A reconcile that succeeds without a passed time resets the backoff.
	RequeueAt time.Time
	// Priority is the priority of the reconcile that RequeueAfter or RequeueAt asks for, from -100 to 100. It has no
	// effect without RequeueAfter or RequeueAt, or with an error: a retry has the priority of the reconcile that
	// failed. 0 means the priority of the present reconcile, so a key of the first list or of [EveryObject] keeps its
	// low priority. Keys that sources name because something has changed have priority 0.
	Priority int
}

// Delay returns how long after now r asks for a further reconcile: 0 or less if that time has passed. ok is false if r
// asks for none.
func (r Result) Delay(now time.Time) (d time.Duration, ok bool) {
	switch {
	case r.RequeueAt.IsZero():
		return r.RequeueAfter, r.RequeueAfter != 0
	case r.RequeueAfter == 0:
		return r.RequeueAt.Sub(now), true
	default:
		return min(r.RequeueAfter, r.RequeueAt.Sub(now)), true
	}
}

// Controller is a reconcile loop. Make one with [New]; nothing happens until [Controller.Run].
type Controller[K comparable] struct {
	name    string
	options Options
	fn      Func[K]
	log     *report.Log // for errors that no hook takes
	timeout error       // the cause of a context that Options.Timeout ended
	hooks   Hooks       // of the current Run
	crew    crew[K]
	set     sourceSet[K]

	loggerKey any // the key of logr.FromContext
	deletions deletions[K]
	sharding  *sharding[K] // nil without Options.Shards

	mu     sync.Mutex     // guards the fields below
	status Status         // the counters and the state; Controller.Status asks other parts for the other fields
	epoch  *epoch[K]      // of the current Run or term, or of the last one; nil before the first
	group  func(K) string // the argument group of GroupBy; weight is its other argument
	weight func(string) int
}

// New returns a controller that calls fn for the keys that the sources name. The name is for people: it appears in
// errors, logs and the status. It must be unique among the controllers that one informer.Run or informer.Group runs.
// Run, not New, reports invalid arguments.
func New[K comparable](name string, o Options, fn Func[K], from ...Source[K]) *Controller[K] {
	c := &Controller[K]{
		name:    name,
		options: o,
		fn:      fn,
		log:     report.New(o.Logger),
		timeout: fmt.Errorf("ran longer than Options.Timeout (%v)", o.Timeout),
		status:  Status{Name: name},
		crew:    crew[K]{size: o.workers(), changed: make(chan struct{})},

		loggerKey: loggerKey(),
		sharding:  newSharding[K](o.Shards, fmt.Sprintf("controller %q", name)),
	}
	for _, s := range from {
		c.set.feeds = append(c.set.feeds, newFeed(s))
	}
	return c
}

// Permissions returns Options.Permissions, and what Options.Shards asks for.
func (c *Controller[K]) Permissions() []meta.Access {
	all := slices.Clone(c.options.Permissions)
	if p, ok := c.options.Shards.(interface{ Permissions() []meta.Access }); ok {
		all = append(all, p.Permissions()...)
	}
	return all
}

// Runners returns the runners that the controller needs: the informers that its sources watch or read, each once.
// informer.Run calls it and runs them; [Controller.Run] runs only those of [Controller.AddSource] and
// [Controller.AddSourcesFor]. Runners leaves out those of AddSourcesFor.
func (c *Controller[K]) Runners() []cache.Runner {
	var all []runner
	for _, f := range c.allFeeds() {
		if f.covers != nil {
			continue // its failure must not end informer.Run
		}
		if n, ok := f.source.(needy); ok {
			for _, r := range n.Runners() {
				if !runners.Has(all, r) {
					all = append(all, r)
				}
			}
		}
	}
	return all
}

// needy is a value that needs runners.
type needy = runners.Needy[runner]

func (c *Controller[K]) validate() error {
	if c.fn == nil {
		return errors.New("controller.New: fn must not be nil")
	}
	sources := c.sources()
	if len(sources) == 0 {
		return errors.New("controller.New: from must have a source, or no key is ever reconciled")
	}
	for i, s := range sources {
		if s == nil {
			return fmt.Errorf("controller.New: from[%d] must not be nil", i)
		}
	}
	if err := c.validateShards(); err != nil {
		return err
	}
	return c.options.validate()
}

// begin notes that a run begins, unless one is in progress.
func (c *Controller[K]) begin() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.isIdle() {
		return errors.New("already running")
	}
	c.status.State = Syncing
	return nil
}

// isIdle reports whether no run is in progress. c.mu must be held.
func (c *Controller[K]) isIdle() bool { return c.status.State == Idle || c.status.State == Stopped }

// beginEpoch makes the epoch of a run or term, with its own queue.
func (c *Controller[K]) beginEpoch(ctx context.Context, info RunInfo) *epoch[K] {
	o := workqueue.Options[K]{
		MinBackoff: c.options.MinBackoff,
		MaxBackoff: c.options.MaxBackoff,
		RetryRate:  c.options.RetryRate,
		Ageing:     c.options.Ageing,
	}
	if c.hooks.Queue != nil {
		o.Hooks = queueHooks[K](c.hooks.Queue(ctx, info))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	o.Group, o.Weight = c.group, c.weight
	c.epoch = newEpoch(c, workqueue.New(o))
	return c.epoch
}

func (c *Controller[K]) setState(s State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status.State = s
}
