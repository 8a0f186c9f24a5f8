package informer

import (
	"context"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/internal/runners"
)

// Runner is something that runs until its context ends: an informer, a controller, a server. Run returns nil when ctx
// ends, or the reason why it could not go on, after everything that it started has returned.
//
// A Runner may have a method
//
//	Runners() []informer.Runner
//
// that returns the runners it needs, as a controller does for the informers that it watches: [Run] runs those too. A
// type that wraps a controller should have the method as well. Runner is an alias of [cache.Runner], so that a package
// need not import this one for it.
type Runner = cache.Runner

// RunnerFunc makes a function a Runner.
type RunnerFunc func(ctx context.Context) error

// Run calls f.
func (f RunnerFunc) Run(ctx context.Context) error { return f(ctx) }

// needy is a Runner that needs other Runners to run too.
type needy = runners.Needy[Runner]

// Run runs all of rs at the same time and waits for all of them, as a [Group] of Runners does. When one returns an
// error, the context of the others ends, with that error as its cause, and Run returns it: the first error wins. A
// runner that returns nil does not end the others.
//
// Run also runs the runners that rs need: the informers that a controller watches or reads. Each runs once, however
// often it is named and needed. Informers, and all other needed runners, stop after everything else has returned, so
// that a controller that is finishing its work still has a current cache.
//
// An informer that already runs elsewhere is not run a second time. If the other Run ends first, this one takes over.
// Run does not run the [Factory] of a shared informer: name it in rs.
//
// Run waits for a runner that does not return when its context ends, and names it in the log. Use Group.StopTimeout to
// limit that wait.
func Run(ctx context.Context, rs ...Runner) error { return (&Group{Runners: rs}).Run(ctx) }

// order returns two lists: named has the caches among rs, which are informers and runners that others need; only has
// the needed runners that are not in rs. Each appears once.
func order(rs []Runner) (named, only []Runner) {
	needed := needs(rs)
	for _, r := range rs {
		if (isInformer(r) || runners.Has(needed, r)) && !runners.Has(named, r) {
			named = append(named, r)
		}
	}
	for _, r := range needed {
		if !runners.Has(named, r) {
			only = append(only, r)
		}
	}
	return named, only
}

// needs returns the runners that rs need, each once.
func needs(rs []Runner) (needed []Runner) {
	for _, r := range rs {
		needed = runners.Needs(needed, r)
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
