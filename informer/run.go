package informer

import (
	"context"
	"sync"
)

// Runner is something that runs until its context ends: an informer, a controller, a server. Run returns nil when ctx ends,
// or why it could not go on, after everything that it started has returned.
type Runner interface {
	Run(ctx context.Context) error
}

// RunnerFunc makes a function a Runner.
type RunnerFunc func(ctx context.Context) error

// Run calls f.
func (f RunnerFunc) Run(ctx context.Context) error { return f(ctx) }

// Run runs all of rs at the same time and waits for all of them. When one returns an error, the context of the others ends,
// with that error as its cause, and Run returns it: the first one wins. One that returns nil does not end the others.
func Run(ctx context.Context, rs ...Runner) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		wg    sync.WaitGroup
		once  sync.Once
		first error
	)
	for _, r := range rs {
		wg.Go(func() {
			if err := r.Run(ctx); err != nil {
				once.Do(func() {
					first = err
					cancel(err)
				})
			}
		})
	}
	wg.Wait()
	return first
}
