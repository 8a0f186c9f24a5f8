// The workers of a run, and the context of their reconciles.

package controller

import (
	"context"
	"errors"
	"sync"

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
	reconciling, release := c.workContext(taking)
	defer release(nil)
	draining, endDrain := context.WithCancel(context.WithoutCancel(leading))
	defer endDrain()

	c.setState(Running)
	c.log.Logger().V(1).Info("sources have delivered, workers start", "controller", c.name)
	crew := &crew[K]{c: c, queue: s.queue, ended: make(chan struct{})}
	for range c.options.workers() {
		crew.start(taking, draining, reconciling)
	}
	<-taking.Done()

	c.setState(Stopping)
	lost := ctx.Err() == nil && outer.Err() == nil // leading may come from outer, and end a moment before ctx
	e := ending{drain: c.options.Drain, grace: c.options.Grace, endDrain: endDrain, release: func() { release(context.Cause(taking)) }}
	switch {
	case lost:
		e.drain, e.grace = 0, 0
	case outer.Err() == nil: // the controller has failed
		e.drain = 0
	}
	crew.drains = e.drain > 0
	close(crew.ended)
	c.end(&crew.workers, e)
	if lost {
		c.setState(Standby)
	}
	return failure(ctx, outer)
}

// crew are the workers of one call of work.
type crew[K comparable] struct {
	c       *Controller[K]
	queue   *workqueue.Queue[K]
	workers sync.WaitGroup
	// ended is closed when the workers are to take no more keys, unless drains is set.
	ended  chan struct{}
	drains bool
}

// start runs a worker, and starts another if a reconcile ends the goroutine (runtime.Goexit, as t.FailNow of a test does).
// The queue has counted that as a failure of the key by then.
func (w *crew[K]) start(taking, draining, reconciling context.Context) {
	w.workers.Go(func() {
		var left *ReconcileError // of the reconcile that has ended the worker
		exited := true
		defer func() {
			if exited { // or it panics, and the program ends
				w.workers.Go(func() {
					w.start(taking, draining, reconciling)
					if left != nil {
						w.c.failed(ReconcileEnd{Outcome: Failed}, left)
					}
				})
			}
		}()
		reconcile := func(_ context.Context, key K) error {
			returned := false
			defer func() {
				if !returned {
					left = w.c.exited(w.queue, key)
				}
			}()
			err := w.c.reconcile(reconciling, w.queue, key)
			returned = true
			return err
		}
		_ = w.queue.Work(taking, reconcile)
		if <-w.ended; w.drains {
			_ = w.queue.Drain(draining, reconcile)
		}
		exited = false
	})
}

// workContext returns the context of the reconciles, and a function that ends it. The context also ends with ctx, unless
// reconciles may go on after that.
func (c *Controller[K]) workContext(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	if c.options.Grace > 0 || c.options.Drain > 0 {
		ctx = context.WithoutCancel(ctx)
	}
	return context.WithCancelCause(ctx)
}
