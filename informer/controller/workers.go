// The workers of a run, and the context of their reconciles.

package controller

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/bowline-go/bowline/workqueue"
)

// shift calls the workers of one run to work.
type shift[K comparable] struct {
	c     *Controller[K]
	queue *workqueue.Queue[K]

	mu       sync.Mutex // guards the rest
	over     bool       // the run ends, and nobody works any more
	working  bool
	finished sync.WaitGroup // of the call of work; it is added to with mu held, and not when over
}

// begin notes that the workers work.
func (s *shift[K]) begin() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.over:
		return errors.New("work: the call of lead has returned")
	case s.working:
		return errors.New("work: it is working already")
	}
	s.working = true
	s.finished.Add(1)
	return nil
}

func (s *shift[K]) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.working = false
	s.finished.Done()
}

// end ends the run of the workers, if lead has not waited for it, and the context of the run.
func (s *shift[K]) end(fail context.CancelCauseFunc) {
	s.mu.Lock()
	s.over = true
	s.mu.Unlock()
	fail(nil)
	s.finished.Wait()
}

// work runs the workers until leading ends, or until ctx does, which outer or a failure ends.
func (s *shift[K]) work(ctx, outer, leading context.Context) error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.stop()
	c := s.c
	taking, stop := context.WithCancelCause(leading)
	defer stop(nil)
	defer context.AfterFunc(ctx, func() { stop(context.Cause(ctx)) })()
	work, release := c.workContext(taking)
	defer release(nil)

	c.setState(Running)
	c.log.Logger().V(1).Info("sources have delivered, workers start", "controller", c.name)
	var workers sync.WaitGroup
	for range c.options.workers() {
		c.startWorker(taking, work, &workers, s.queue)
	}
	<-taking.Done()

	c.setState(Stopping)
	lost := ctx.Err() == nil && outer.Err() == nil // leading may come from outer, and end a moment before ctx
	switch end := func() { release(context.Cause(taking)) }; {
	case lost:
		end()
	case c.options.Grace > 0:
		timer := time.AfterFunc(c.options.Grace, end)
		defer timer.Stop()
	}
	workers.Wait()
	if lost {
		c.setState(Standby)
	}
	return failure(ctx, outer)
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
						c.failed(ReconcileEnd{Outcome: Failed}, left)
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
func (c *Controller[K]) workContext(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	if c.options.Grace > 0 {
		ctx = context.WithoutCancel(ctx)
	}
	return context.WithCancelCause(ctx)
}
