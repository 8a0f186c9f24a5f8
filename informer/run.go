package informer

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
)

// Runner is something that runs until its context ends: an informer, a controller, a server. Run returns nil when ctx
// ends, or the reason why it could not go on, after everything that it started has returned.
//
// A Runner may have a method
//
//	Runners() []interface{ Run(ctx context.Context) error }
//
// that returns the runners it needs, as a controller does for the informers that it watches: [Run] runs those too. A type
// that wraps a controller should have the method as well.
type Runner interface {
	Run(ctx context.Context) error
}

// RunnerFunc makes a function a Runner.
type RunnerFunc func(ctx context.Context) error

// Run calls f.
func (f RunnerFunc) Run(ctx context.Context) error { return f(ctx) }

// needy is a Runner that needs others to run.
type needy interface {
	Runners() []interface {
		Run(ctx context.Context) error
	}
}

// Run runs all of rs at the same time and waits for all of them. When one returns an error, the context of the others
// ends, with that error as its cause, and Run returns it: the first error wins. One that returns nil does not end the
// others.
//
// Run also runs the runners that rs need: the informers that a controller watches or reads. Each runs once, however often
// it is named and needed. Informers, and all other needed runners, stop after everything else has returned, so that a
// controller that is finishing its work still has a current cache.
//
// An informer that already runs elsewhere is not run a second time. If the other Run ends first, this one takes over. Run
// does not run the [Factory] of a [Shared]: name it in rs.
func Run(ctx context.Context, rs ...Runner) error {
	outer := ctx
	ctx, cancel := context.WithCancelCause(outer)
	defer cancel(nil)
	// A needed informer has the values of ctx, and outlives it.
	needed, release := context.WithCancelCause(context.WithoutCancel(outer))
	defer release(nil)

	first, last, only := order(rs)
	end := ending{cancel: cancel}
	var top, named, rest sync.WaitGroup
	for _, r := range only {
		rest.Go(func() { end.after(outer, r, func() error { return join(needed, r) }) })
	}
	for _, r := range last {
		named.Go(func() { end.after(outer, r, func() error { return join(needed, r) }) })
	}
	for _, r := range first {
		top.Go(func() { end.after(outer, r, func() error { return r.Run(ctx) }) })
	}
	top.Wait()
	// Named informers run until ctx ends, or until each has ended by itself.
	ended := make(chan struct{})
	go func() {
		named.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
	release(context.Cause(ctx))
	<-ended
	rest.Wait()
	return end.err
}

// order sorts the runners: those named that nobody needs, then informers and needed runners that are named, then needed
// runners that are not named. Each needed runner and informer appears once.
func order(rs []Runner) (first, last, only []Runner) {
	var needed []Runner
	var visit func(r Runner)
	visit = func(r Runner) {
		n, ok := r.(needy)
		if !ok {
			return
		}
		for _, need := range n.Runners() {
			if need != nil && !contains(needed, need) {
				needed = append(needed, need)
				visit(need)
			}
		}
	}
	for _, r := range rs {
		visit(r)
	}
	for _, r := range rs {
		switch informs := isInformer(r) || contains(needed, r); {
		case informs && !contains(last, r):
			last = append(last, r)
		case !informs:
			first = append(first, r)
		}
	}
	for _, r := range needed {
		if !contains(last, r) {
			only = append(only, r)
		}
	}
	return first, last, only
}

// isInformer reports whether r must outlive its users.
func isInformer(r Runner) bool {
	if _, ok := r.(*Factory); ok {
		return true
	}
	_, ok := r.(interface {
		WaitSynced(ctx context.Context) error
	})
	return ok
}

// contains reports whether rs has r. A Runner that cannot be compared, such as a function, is never found.
func contains(rs []Runner, r Runner) bool {
	return r != nil && reflect.ValueOf(r).Comparable() && slices.Contains(rs, r)
}

// ending is the end of a Run: the first error, which ends the others.
type ending struct {
	cancel context.CancelCauseFunc
	once   sync.Once
	err    error // read after all have returned
}

// after calls f, which runs r, and notes how it ended.
func (e *ending) after(outer context.Context, r Runner, f func() error) {
	err := fmt.Errorf("run %T: %w", r, errExited) // stays if f calls Goexit; if it panics nobody reads it
	defer func() {
		if err == nil || errors.Is(err, errFactoryStopped) && outer.Err() != nil {
			return // a Factory that runs elsewhere has ended with the context that we share
		}
		e.once.Do(func() {
			e.err = err
			e.cancel(err)
		})
	}()
	err = f()
}

// errExited reports a goroutine that ended without returning.
var errExited = errors.New("it has ended its goroutine (runtime.Goexit)")

// join runs s, or waits while another Run of it goes on, until ctx ends.
func join(ctx context.Context, s Runner) error {
	for {
		err := s.Run(ctx)
		elsewhere := (*runningError)(nil)
		if !errors.As(err, &elsewhere) {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-elsewhere.ended:
		}
		if ctx.Err() != nil {
			return nil
		}
	}
}

// runningError says that something cannot be run because it is running already.
type runningError struct {
	what  fmt.Stringer
	ended <-chan struct{} // closed when the other Run has ended
}

func (e *runningError) Error() string { return fmt.Sprintf("run %v: it is running already", e.what) }
