// The workers of a controller, whose number may change at any time.

package controller

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// crew are the workers of a controller.
type crew[K comparable] struct {
	mu      sync.Mutex // guards the rest; whenever it is free, as many workers take keys as are wanted
	size    int        // how many workers there are to be
	paused  bool
	changed chan struct{} // closed and replaced when paused changes
	job     *job[K]       // nil while no workers are to run
	workers []*worker     // of job; of those that are leaving, the last was sent away last
	// endDrain makes the last workers take no more keys; nil before there was a job that ended.
	endDrain context.CancelFunc
}

// job is what the workers of one call of work do.
type job[K comparable] struct {
	epoch *epoch[K]
	// taking ends when no more keys are taken, draining when none are drained, and reconciling is the context of
	// reconciles.
	taking, draining, reconciling context.Context
	// ended is closed after taking has ended; drains then says whether the workers drain the queue.
	ended    chan struct{}
	drains   bool
	finished sync.WaitGroup // of the workers; it is added to with crew.mu held while this is crew.job, and by workers
}

// worker is one worker.
type worker struct {
	busy atomic.Bool // it reconciles

	// crew.mu guards the rest.
	leaving bool            // it is one too many, and ends after its reconcile
	taking  context.Context // ends when it is leaving, or with that of the job
	leave   context.CancelFunc
}

// SetWorkers changes how many keys the controller reconciles at a time, at once and for later Runs. It may be called
// from any goroutine at any time, also from a reconcile. If there are more workers than n, the surplus ones end after
// the reconciles that they are in. While the controller drains (Options.Drain), the number stays as it is, and n is for
// later Runs. n below 1 is an error and changes nothing; [Controller.Pause] stops all workers.
func (c *Controller[K]) SetWorkers(n int) error {
	if n < 1 {
		return fmt.Errorf("controller.SetWorkers: n must be 1 or more, got %d; Pause stops all workers", n)
	}
	c.crew.mu.Lock()
	defer c.crew.mu.Unlock()
	c.crew.size = n
	c.crew.fit()
	return nil
}

// state returns how many workers there are to be, and whether they pause.
func (c *crew[K]) state() (size int, paused bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.size, c.paused
}

// begin starts the workers. The caller ends them by the context taking, end, and closing ended.
func (c *crew[K]) begin(j *job[K]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.job, c.endDrain = j, nil
	c.fit()
}

// end makes the present workers the last ones. They still have to return. Those that drain the queue stop at a call of
// endDrain, which a pause makes.
func (c *crew[K]) end(endDrain context.CancelFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.job, c.workers, c.endDrain = nil, nil, endDrain
}

// fit makes as many workers take keys as are wanted. More of them start only if no reconcile of a leaving worker is in
// progress: that worker stays instead, so raising the number again never makes too many reconciles at a time. The
// worker that was the last to be sent away is the first to stay, so that the reconciles of the others come to their
// end. Idle workers leave first.
func (c *crew[K]) fit() {
	if c.job == nil {
		return
	}
	missing := c.size
	if c.paused {
		missing = 0
	}
	for _, w := range c.workers {
		if !w.leaving {
			missing--
		}
	}
	for _, w := range slices.Backward(c.workers) {
		if missing > 0 && w.leaving {
			c.hire(w)
			missing--
		}
	}
	for ; missing > 0; missing-- {
		w := &worker{}
		c.hire(w)
		c.workers = append(c.workers, w)
		c.start(c.job, w)
	}
	for _, idle := range []bool{true, false} { // then any of them: a reconcile may have ended since the first look
		for _, w := range slices.Clone(c.workers) {
			if missing < 0 && !w.leaving && (!idle || !w.busy.Load()) {
				c.dismiss(w)
				missing++
			}
		}
	}
}

func (c *crew[K]) hire(w *worker) {
	w.leaving = false
	w.taking, w.leave = context.WithCancel(c.job.taking)
}

func (c *crew[K]) dismiss(w *worker) {
	w.leaving = true
	w.leave()
	c.remove(w)
	c.workers = append(c.workers, w)
}

func (c *crew[K]) remove(w *worker) {
	c.workers = slices.DeleteFunc(c.workers, func(other *worker) bool { return other == w })
}

// stays returns the context with which w takes keys of j. It returns false if w is to end, and forgets it.
func (c *crew[K]) stays(w *worker) (taking context.Context, _ bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w.leaving {
		c.remove(w)
	}
	return w.taking, !w.leaving
}

// start runs a worker, and starts another in its place if a reconcile ends the goroutine (runtime.Goexit, as t.FailNow
// of a test does). The queue has counted that as a failure of the key by then.
func (c *crew[K]) start(j *job[K], w *worker) {
	j.finished.Go(func() {
		var left *ReconcileError // of the reconcile that has ended the worker
		exited := true
		defer func() {
			if exited { // or it panics, and the program ends
				j.finished.Go(func() {
					c.start(j, w)
					if left != nil {
						j.epoch.c.failed(ReconcileEnd{Outcome: Failed}, left)
					}
				})
			}
		}()
		c.work(j, w, func(_ context.Context, key K) error {
			returned := false
			w.busy.Store(true)
			defer func() {
				w.busy.Store(false)
				if !returned {
					left = j.epoch.exited(key)
				}
			}()
			err := j.epoch.reconcile(j.reconciling, key)
			returned = true
			return err
		})
		exited = false
	})
}

// work is what a worker does: it takes keys until it is one too many, or until the job ends.
func (c *crew[K]) work(j *job[K], w *worker, reconcile func(ctx context.Context, key K) error) {
	for j.taking.Err() == nil {
		taking, stays := c.stays(w)
		if !stays {
			return
		}
		_ = j.epoch.queue.Work(taking, reconcile)
	}
	if <-j.ended; !j.drains {
		return
	}
	if _, stays := c.stays(w); stays {
		_ = j.epoch.queue.Drain(j.draining, reconcile)
	}
}
