// The life of a controller: sources start first, workers start when all sources have delivered, and Run waits for all of
// them.

package controller

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/internal/report"
	"github.com/bowline-go/bowline/workqueue"
)

// Func brings the actual state closer to the desired state for one key; the package documentation says what its results
// mean. Several goroutines call it at once, but never for the same key. Its context ends with Options.Timeout, and with
// the controller (after Options.Grace).
type Func[K comparable] func(ctx context.Context, key K) (Result, error)

// Result is the outcome of a reconcile without an error.
type Result struct {
	// RequeueAfter is when the key is reconciled again if no source names it earlier. 0 or less means that it is not
	// requeued.
	RequeueAfter time.Duration
}

// Controller is a reconcile loop. Make one with [New]; nothing happens until [Controller.Run].
type Controller[K comparable] struct {
	name    string
	options Options
	fn      Func[K]
	sources []Source[K]
	log     *report.Log // for errors that no hook takes
	timeout error       // the cause of a context that Options.Timeout ended

	// failing is how many keys of the queue have failed and not succeeded since.
	failing atomic.Int64

	// mu protects what Status returns. In status, Unsynced and Queue are not filled in; they come from the two below.
	mu       sync.Mutex
	status   Status
	unsynced []bool              // by index in sources
	queue    *workqueue.Queue[K] // of the current Run, or of the last one; nil before the first
}

// New returns a controller that calls fn for the keys that the sources name. The name is for people: it appears in errors,
// logs and the status, and need not be unique. Run, not New, reports invalid arguments.
func New[K comparable](name string, o Options, fn Func[K], from ...Source[K]) *Controller[K] {
	return &Controller[K]{
		name:    name,
		options: o,
		fn:      fn,
		sources: from,
		log:     report.New(o.Logger),
		timeout: fmt.Errorf("ran longer than Options.Timeout (%v)", o.Timeout),
		status:  Status{Name: name},
	}
}

// Runners returns what has to run for the controller: the informers that its sources watch or read, each once.
// informer.Run calls it and runs them; [Controller.Run] does not.
func (c *Controller[K]) Runners() []interface {
	Run(ctx context.Context) error
} {
	var all []runner
	for _, s := range c.sources {
		n, ok := s.(interface {
			Runners() []interface {
				Run(ctx context.Context) error
			}
		})
		if !ok {
			continue
		}
		for _, r := range n.Runners() {
			if !has(all, r) {
				all = append(all, r)
			}
		}
	}
	return all
}

// has reports whether rs has r. A runner that cannot be compared is never found.
func has(rs []runner, r runner) bool {
	return r != nil && reflect.ValueOf(r).Comparable() && slices.Contains(rs, r)
}

// Run runs the sources until ctx ends; then it returns nil. It starts the workers once all sources have delivered what
// existed at the start. It returns an error at once if an argument of New is invalid or another Run of this controller is
// in progress. It returns an error later if a source fails, or if the sources have not delivered within
// Options.SyncTimeout. However it ends, everything that it started has returned. Run may then be called again; it starts
// from the beginning.
func (c *Controller[K]) Run(ctx context.Context) error {
	err := c.validate()
	if err == nil {
		err = c.run(ctx)
	}
	if err != nil {
		return fmt.Errorf("run controller %q: %w", c.name, err)
	}
	return nil
}

func (c *Controller[K]) validate() error {
	if c.fn == nil {
		return errors.New("controller.New: fn must not be nil")
	}
	if len(c.sources) == 0 {
		return errors.New("controller.New: there must be a source, or no key is ever reconciled")
	}
	for i, s := range c.sources {
		if s == nil {
			return fmt.Errorf("controller.New: source %d must not be nil", i)
		}
	}
	return c.options.validate()
}

func (c *Controller[K]) run(outer context.Context) error {
	queue, err := c.begin()
	if err != nil {
		return err
	}
	defer c.setState(Stopped)
	c.log.Start(outer)
	defer c.log.Stop()
	// ctx ends the sources and the workers; outer or a failure ends ctx. Run waits for them here.
	ctx, fail := context.WithCancelCause(outer)
	defer fail(nil)
	work, release := c.workContext(ctx)
	defer release()

	var running sync.WaitGroup
	synced := c.startSources(ctx, &running, queue, fail)
	if c.waitSynced(ctx, synced, fail) {
		c.setState(Running)
		c.log.Logger().V(1).Info("sources have delivered, workers start", "controller", c.name)
		for range max(1, c.options.Workers) {
			c.startWorker(ctx, work, &running, queue)
		}
		<-ctx.Done()
	}

	c.setState(Stopping)
	if c.options.Grace > 0 {
		timer := time.AfterFunc(c.options.Grace, release)
		defer timer.Stop()
	}
	running.Wait()
	c.log.Logger().V(1).Info("stopped", "controller", c.name)
	if outer.Err() != nil {
		return nil
	}
	return context.Cause(ctx)
}

// startWorker runs a worker, and starts another if a reconcile ends the goroutine (runtime.Goexit, as t.FailNow of a test
// does). The queue has counted that as a failure of the key by then.
func (c *Controller[K]) startWorker(ctx, work context.Context, running *sync.WaitGroup, queue *workqueue.Queue[K]) {
	running.Go(func() {
		var left *ReconcileError // of the reconcile that has ended the worker
		exited := true
		defer func() {
			if exited { // or it panics, and the program ends
				running.Go(func() {
					c.startWorker(ctx, work, running, queue)
					if left != nil {
						c.failed(false, left)
					}
				})
			}
		}()
		for queue.Do(ctx, func(_ context.Context, key K) error {
			returned := false
			defer func() {
				if !returned {
					left = c.exited(queue, key)
				}
			}()
			err := c.reconcile(work, queue, key)
			returned = true
			return err
		}) == nil {
		}
		exited = false
	})
}

// workContext returns the context of the reconciles, and a function that ends it. The context also ends with ctx, unless
// there is a grace period.
func (c *Controller[K]) workContext(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.options.Grace > 0 {
		ctx = context.WithoutCancel(ctx)
	}
	return context.WithCancel(ctx)
}

// begin resets the state for one run, unless one is in progress.
func (c *Controller[K]) begin() (*workqueue.Queue[K], error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.status.State != Idle && c.status.State != Stopped {
		return nil, errors.New("it is running already")
	}
	c.status.State = Syncing
	c.failing.Store(0)
	c.unsynced = slices.Repeat([]bool{true}, len(c.sources))
	c.queue = workqueue.New(workqueue.Options[K]{
		MinBackoff: c.options.MinBackoff,
		MaxBackoff: c.options.MaxBackoff,
		RetryRate:  c.options.RetryRate,
		RetryBurst: c.options.RetryBurst,
	})
	return c.queue, nil
}

// startSources starts all sources. It returns a channel that is closed when all have delivered.
func (c *Controller[K]) startSources(
	ctx context.Context, running *sync.WaitGroup, queue *workqueue.Queue[K], fail context.CancelCauseFunc,
) <-chan struct{} {
	all := make(chan struct{})
	for i, s := range c.sources {
		running.Go(func() {
			exited := true
			defer func() {
				if exited { // or it panics, and the program ends
					fail(fmt.Errorf("%s: %w", nameOf(s), errExited))
				}
			}()
			if err := c.runSource(ctx, s, queue.Add, func() { c.synced(i, all) }); err != nil {
				fail(fmt.Errorf("%s: %w", nameOf(s), err))
			} else {
				c.synced(i, all) // a source that has returned delivers nothing more
			}
			exited = false
		})
	}
	return all
}

func (c *Controller[K]) runSource(ctx context.Context, s Source[K], add func(K), synced func()) (err error) {
	if !c.options.CrashOnPanic {
		defer func() {
			if value := recover(); value != nil {
				err = &cache.PanicError{Value: value, Stack: debug.Stack()}
			}
		}()
	}
	return s.Run(ctx, add, synced)
}

// synced notes that a source has delivered, and closes all if it was the last.
func (c *Controller[K]) synced(source int, all chan<- struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.unsynced[source] {
		return
	}
	c.unsynced[source] = false
	if !slices.Contains(c.unsynced, true) {
		close(all)
	}
}

// waitSynced reports whether all sources have delivered; if not, ctx has ended.
func (c *Controller[K]) waitSynced(ctx context.Context, all <-chan struct{}, fail context.CancelCauseFunc) bool {
	var late <-chan time.Time // never, without a limit
	if d := c.options.SyncTimeout; d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		late = timer.C
	}
	began, pause := time.Now(), report.Next(0)
	impatient := time.NewTimer(pause)
	defer impatient.Stop()
	for said := false; ; {
		select {
		case <-all:
			if said && ctx.Err() == nil {
				c.log.Logger().Info(fmt.Sprintf("%v: workers start after %v", c, time.Since(began).Round(time.Second)))
			}
		case <-ctx.Done():
		case <-late:
			fail(&SyncError{Controller: c.name, After: c.options.SyncTimeout, Unsynced: c.Status().Unsynced})
		case <-impatient.C:
			if c.options.OnError == nil {
				said = true
				c.log.Logger().Info(fmt.Sprintf("%v: workers wait for sources", c), "since", began, "sources", join(c.Status().Unsynced))
			}
			pause = report.Next(pause)
			impatient.Reset(pause)
			continue
		}
		return ctx.Err() == nil
	}
}

func (c *Controller[K]) setState(s State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.status.State = s
}
