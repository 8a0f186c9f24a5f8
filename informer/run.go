package informer

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/bowline-go/bowline/cache"
)

// Runner is something that runs until its context ends: an informer, a controller, a server. Run returns nil when ctx
// ends, or the reason why it could not go on, after everything that it started has returned.
//
// A Runner may have a method
//
//	Runners() []informer.Runner
//
// that returns the runners it needs, as a controller does for the informers that it watches: [Run] runs those too. A type
// that wraps a controller should have the method as well. Runner is an alias of [cache.Runner], so that a package need not import this one for it.
type Runner = cache.Runner

// RunnerFunc makes a function a Runner.
type RunnerFunc func(ctx context.Context) error

// Run calls f.
func (f RunnerFunc) Run(ctx context.Context) error { return f(ctx) }

// needy is a Runner that needs others to run.
type needy interface{ Runners() []Runner }

// Run runs all of rs at the same time and waits for all of them, as a [Group] of Runners does. When one returns an error,
// the context of the others ends, with that error as its cause, and Run returns it: the first error wins. One that returns
// nil does not end the others.
//
// Run also runs the runners that rs need: the informers that a controller watches or reads. Each runs once, however often
// it is named and needed. Informers, and all other needed runners, stop after everything else has returned, so that a
// controller that is finishing its work still has a current cache.
//
// An informer that already runs elsewhere is not run a second time. If the other Run ends first, this one takes over. Run
// does not run the [Factory] of a shared informer: name it in rs.
//
// Run waits for a runner that does not return when its context ends, and says in the log which one that is. Use
// Group.StopTimeout for a bound.
func Run(ctx context.Context, rs ...Runner) error { return (&Group{Runners: rs}).Run(ctx) }

// order returns the caches among rs, which are informers and what others need, and the needed runners that are not named.
// Each appears once.
func order(rs []Runner) (named, only []Runner) {
	needed := needs(rs)
	for _, r := range rs {
		if (isInformer(r) || contains(needed, r)) && !contains(named, r) {
			named = append(named, r)
		}
	}
	for _, r := range needed {
		if !contains(named, r) {
			only = append(only, r)
		}
	}
	return named, only
}

// needs returns the runners that rs need, each once.
func needs(rs []Runner) (needed []Runner) {
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
	return needed
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
	what  string
	ended <-chan struct{} // closed when the other Run has ended
}

// Ended is for package controller, which also waits for a Run elsewhere.
func (e *runningError) Ended() <-chan struct{} { return e.ended }

func (e *runningError) Error() string { return fmt.Sprintf("run %s: it is running already", e.what) }
