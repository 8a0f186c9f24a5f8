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
	mu      sync.Mutex // guards the fields below; while it is free, exactly the wanted number of workers take keys
	size    int        // the wanted number of workers
	paused  bool
	changed chan struct{} // closed and replaced when paused changes
	job     *job[K]       // nil while no workers should run
	workers []*worker     // the workers of job; among those that are leaving, the last was told to leave last
	// endDrain makes the last workers take no more keys; nil until the first job has ended.
	endDrain context.CancelFunc
}

// job is one call of work, as its workers know it.
type job[K comparable] struct {
	epoch *epoch[K]
	// taking ends when the workers must take no more keys, draining when they must drain no more. reconciling is the
	// context of reconciles.
	taking, draining, reconciling context.Context
	// ended is closed after taking has ended; drains then says whether the workers drain the queue.
	ended  chan struct{}
	drains bool
	// finished counts the workers. The crew adds to it with crew.mu held, and only while this is crew.job. Workers add
	// to it too.
	finished sync.WaitGroup
}

// worker is one worker.
type worker struct {
	busy atomic.Bool // it is in a reconcile

	// crew.mu guards the fields below.
	leaving bool            // it is surplus, and ends after its reconcile
	taking  context.Context // ends when the worker leaves, or with taking of the job
	leave   context.CancelFunc
}

// SetWorkers changes how many keys the controller reconciles at a time, at once and for later Runs. It may be called
// from any goroutine at any time, including from a reconcile. If there are more workers than n, the surplus ones end
// after their current reconciles. While the controller drains (Options.Drain), the number stays as it is, and n applies
// to later Runs. If n is below 1, SetWorkers returns an error and changes nothing; use [Controller.Pause] to stop all
// workers.
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

// state returns the wanted number of workers, and whether they pause.
func (c *crew[K]) state() (size int, paused bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.size, c.paused
}

// begin starts the workers. To end them, the caller ends the context taking, calls end, and closes ended.
func (c *crew[K]) begin(j *job[K]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.job, c.endDrain = j, nil
	c.fit()
}

// end makes the present workers the last ones. It does not wait for them to return. Those that drain the queue stop
// when endDrain is called, which a pause does.
func (c *crew[K]) end(endDrain context.CancelFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.job, c.workers, c.endDrain = nil, nil, endDrain
}

// fit makes the wanted number of workers take keys. If more are wanted, leaving workers that are still in a reconcile
// stay, and new workers start only if that is not enough; so raising the number again never makes too many reconciles
// at a time. The worker that was told to leave last is the first that stays, so that the others can finish their
// reconciles and end. If fewer are wanted, idle workers leave first.
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
	// The first pass dismisses idle workers, and the second any: one may have ended its reconcile since the first pass.
	for _, idle := range []bool{true, false} {
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

// stays returns the context with which w takes keys of j. If w must end, stays forgets it and returns false.
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
		var left *ReconcileError // of the reconcile that ended the worker's goroutine
		exited := true
		defer func() {
			if exited { // otherwise it panics, and the program ends
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

// work is the loop of a worker: it takes keys until the worker is surplus, or until the job ends.
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
