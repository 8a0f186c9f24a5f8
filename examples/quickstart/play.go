package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/compact"
)

// play makes the sources, starts the controller, waits until everything is mirrored, lets the storm rage, and waits
// again. With -debug it then waits for an interrupt. If play cannot remove something that it has made on a real cluster,
// left says why.
func play(parent context.Context, o options, p *progress) (_ *summary, left, err error) {
	began := time.Now()
	w, err := newWorld(o)
	if err != nil {
		return nil, nil, err
	}
	c, err := w.controllerClient(o)
	if err != nil {
		return nil, nil, err
	}
	ctx, fail := context.WithCancelCause(parent)
	defer fail(nil)
	cached := informer.Options{Namespaces: w.namespaces, OnError: func(err error) {
		// Every other error passes by itself, and the informer goes on.
		if errors.Is(err, apierrors.Forbidden) || errors.Is(err, apierrors.Unauthorized) {
			fail(err)
		}
	}}
	if o.compact {
		cached.Compact = compact.New()
	}
	m := NewMirrors(c, o.workers, cached)
	// This runs last: a controller that still ran would restore what is removed.
	defer func() { left = w.cleanUp(parent) }()
	var shown *page
	if o.debug != "" {
		if shown, err = newPage(o.debug, c); err != nil {
			return nil, nil, err
		}
		p.say("the page is at http://" + shown.listener.Addr().String())
	}
	running, stop := w.background(ctx, m, shown)
	defer func() {
		if stopErr := stop(); stopErr != nil {
			err = stopErr // the cause of the other errors
		}
	}()
	ctx, cancel := context.WithTimeout(running, o.timeout)
	defer cancel()
	if err := w.makeNamespaces(ctx); err != nil {
		return nil, nil, reason(ctx, err)
	}
	s := newStorm(w, o.seed)
	result, err := s.play(ctx, o, p)
	if err != nil {
		return nil, nil, reason(ctx, err)
	}
	result.count(m, int(w.conflicts.Load()), began)
	if shown != nil {
		p.say("the storm is over; the page stays until an interrupt")
		<-running.Done()
	}
	return result, nil, nil
}

func (s *storm) play(ctx context.Context, o options, p *progress) (*summary, error) {
	if err := s.seed(ctx, o.objects, p); err != nil {
		return nil, err
	}
	first, err := s.settle(ctx, "mirrored", p)
	if err != nil || len(first.problems) > 0 {
		return first, err
	}
	stormy, calm := context.WithCancel(ctx)
	var faults sync.WaitGroup
	faults.Go(func() { s.world.faults(stormy) })
	err = s.rage(ctx, p)
	calm()
	faults.Wait()
	if err != nil {
		return nil, err
	}
	return s.settle(ctx, "mirrored after the storm", p)
}

// reason returns err, or the cause of the end of ctx if ctx has ended: err is then only a consequence of that.
func reason(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	switch {
	case ctx.Err() == nil || cause == nil:
		return err
	case errors.Is(cause, context.DeadlineExceeded):
		return fmt.Errorf("not done within -timeout: %w", err)
	}
	return cause
}
