// The informers that added sources need. Each runs once.

package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/bowline-go/bowline/internal/filler"
	"github.com/bowline-go/bowline/internal/guard"
	"github.com/bowline-go/bowline/internal/runners"
)

// need is a runner that runs for added sources.
type need struct {
	runner   runner
	sources  int  // how many sources need it; guarded by needs.mu
	failed   bool // it has ended with an error, and the next source that needs it runs it again; guarded by needs.mu
	stop     context.CancelFunc
	returned chan struct{}
}

// needs are the runners that run for added sources.
type needs struct {
	run func(n *need) // set by start
	all context.CancelFunc

	mu   sync.Mutex // guards list
	list []*need
}

// start sets how runners are run: until ctx ends, or needs.end is called. fail is called for a runner that ends with an
// error.
func (n *needs) start(ctx context.Context, fail func(one *need, err error)) {
	ctx, n.all = context.WithCancel(ctx)
	n.run = func(one *need) {
		ctx, stop := context.WithCancel(ctx)
		one.stop, one.returned = stop, make(chan struct{})
		go func() { // needs.release or needs.end waits for it
			defer close(one.returned)
			defer stop()
			err := fmt.Errorf("run %s: %w", runners.Name(one.runner), guard.ErrExited) // remains if Run calls Goexit
			defer func() {
				if err != nil && ctx.Err() == nil {
					n.mu.Lock()
					one.failed = true
					n.mu.Unlock()
					fail(one, err)
				}
			}()
			err = runners.Join(ctx, one.runner.Run)
		}()
	}
}

// acquire notes that one more source needs rs, and runs those that are not running.
func (n *needs) acquire(rs []runner) []*need {
	n.mu.Lock()
	defer n.mu.Unlock()
	var all []*need
	for _, r := range rs {
		i := slices.IndexFunc(n.list, func(other *need) bool { return !other.failed && runners.Has([]runner{other.runner}, r) })
		if i < 0 {
			i = len(n.list)
			n.list = append(n.list, &need{runner: r})
			n.run(n.list[i])
		}
		n.list[i].sources++
		all = append(all, n.list[i])
	}
	return all
}

// release notes that one source fewer needs these, and ends those that no other source needs.
func (n *needs) release(some []*need) {
	n.mu.Lock()
	var idle []*need
	for _, one := range some {
		if one.sources--; one.sources == 0 {
			idle = append(idle, one)
			n.list = slices.DeleteFunc(n.list, func(other *need) bool { return other == one })
		}
	}
	n.mu.Unlock()
	for _, one := range idle {
		one.stop()
	}
	for _, one := range idle {
		<-one.returned
	}
}

// end ends all runners, and waits until they have returned.
func (n *needs) end() {
	n.all()
	n.mu.Lock()
	list := slices.Clone(n.list)
	n.mu.Unlock()
	for _, one := range list {
		<-one.returned
	}
}

// Stale returns an error if a cache that an added source needs is stale, such as one of a cluster; see
// informer.Options.StaleAfter. A Group checks all other caches itself.
func (c *Controller[K]) Stale() error {
	var errs []error
	var seen []runner
	for _, f := range c.allFeeds() {
		for _, r := range f.needy {
			s, ok := filler.As[interface{ Stale() error }](r)
			if !ok || runners.Has(seen, r) {
				continue
			}
			seen = append(seen, r)
			if err := s.Stale(); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", runners.Name(r), err))
			}
		}
	}
	return errors.Join(errs...)
}

// hanging returns the names of the runners that have not returned.
func (n *needs) hanging() (names []string) {
	n.mu.Lock()
	list := slices.Clone(n.list)
	n.mu.Unlock()
	for _, one := range list {
		select {
		case <-one.returned:
		default:
			names = append(names, runners.Name(one.runner))
		}
	}
	return names
}
