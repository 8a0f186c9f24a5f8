// When the workers of a run work, and the context of their reconciles.

package controller

import (
	"context"
	"errors"
	"sync"
)

// shift runs the workers of one run during calls of work.
type shift[K comparable] struct {
	c     *Controller[K]
	epoch *epoch[K] // of the run or, if prepare is set, of the term; then it is valid only during a call of work
	// prepare begins a term, and finish ends it; ok is false if the term or the run ended before that. prepare is nil
	// if the sources run all the time.
	prepare func(leading context.Context) (finish func(), ok bool)

	mu       sync.Mutex // guards the fields below
	over     bool       // the run ends, and workers must not start any more
	working  bool
	finished sync.WaitGroup // counts the call of work; work adds to it with mu held, and not when over
}

// begin notes that a call of work begins. It returns an error if one is in progress, or if lead has returned.
func (s *shift[K]) begin() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.over:
		return errors.New("controller.RunLed: lead must not call work after it has returned")
	case s.working:
		return errors.New("controller.RunLed: lead must not call work before the last call has returned")
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

// end ends the context of the run, and with it a call of work that lead has not waited for. It waits for that call.
func (s *shift[K]) end(fail context.CancelCauseFunc) {
	s.mu.Lock()
	s.over = true
	s.mu.Unlock()
	fail(nil)
	s.finished.Wait()
}

// work runs the workers until leading or ctx ends. outer or a failure ends ctx.
func (s *shift[K]) work(ctx, outer, leading context.Context) error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.stop()
	c := s.c
	if s.prepare != nil {
		finish, ok := s.prepare(leading)
		defer finish()
		if !ok {
			return failure(ctx, outer)
		}
	}
	taking, stop := context.WithCancelCause(leading)
	defer stop(nil)
	defer context.AfterFunc(ctx, func() { stop(context.Cause(ctx)) })()
	reconciling, release := c.workContext(taking)
	defer release(nil)
	draining, endDrain := context.WithCancel(context.WithoutCancel(leading))
	defer endDrain()

	c.setState(Running)
	c.log.Logger().V(1).Info("sources have delivered, workers start", "controller", c.name)
	j := &job[K]{epoch: s.epoch, taking: taking, draining: draining, reconciling: reconciling, ended: make(chan struct{})}
	c.crew.begin(j)
	c.attend(taking)

	c.crew.end(endDrain)
	c.setState(Stopping)
	lost := ctx.Err() == nil && outer.Err() == nil // leading may be derived from outer, and end a moment before ctx
	e := ending{drain: c.options.Drain, grace: c.options.Grace, endDrain: endDrain, release: func() { release(context.Cause(taking)) }}
	switch {
	case lost:
		e.drain, e.grace = 0, 0
	case outer.Err() == nil: // the controller has failed
		e.drain = 0
	}
	j.drains = e.drain > 0
	close(j.ended)
	c.end(&j.finished, e)
	if lost {
		c.setState(Standby)
	}
	return failure(ctx, outer)
}

// workContext returns the context of the reconciles, and a function that ends it. The context also ends with ctx,
// unless reconciles may go on after that.
func (c *Controller[K]) workContext(ctx context.Context) (context.Context, context.CancelCauseFunc) {
	if c.options.Grace > 0 || c.options.Drain > 0 {
		ctx = context.WithoutCancel(ctx)
	}
	return context.WithCancelCause(ctx)
}
