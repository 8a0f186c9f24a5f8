// Terms that begin with what exists then: Options.StartAtTerm.

package controller

import (
	"context"
	"fmt"

	"github.com/bowline-go/bowline/internal/runners"
)

// waitCaches waits for the caches of the sources of New. It returns true when they are complete, and false if ctx has
// ended. No source runs yet.
func (c *Controller[K]) waitCaches(ctx context.Context, fail context.CancelCauseFunc) bool {
	type needed struct {
		feed   *feed[K]
		caches []Cache
	}
	var all []needed
	for _, f := range c.allFeeds() {
		if f.needy != nil || f.covers != nil { // an added source: the controller runs its needs during terms
			continue
		}
		var caches []Cache
		for _, r := range runners.Needs[runner](nil, f.source) {
			if one, ok := r.(Cache); ok {
				caches = append(caches, one)
			}
		}
		all = append(all, needed{f, caches})
	}
	c.set.mu.Lock()
	for _, n := range all {
		n.feed.unsynced = true
	}
	c.set.mu.Unlock()
	complete, returned := make(chan struct{}), make(chan struct{})
	go func() { // it ends with ctx, and waitCaches waits for it
		defer close(returned)
		for _, n := range all {
			for _, one := range n.caches {
				if err := c.waitCache(ctx, one); err != nil {
					if ctx.Err() == nil {
						fail(fmt.Errorf("%s: %w", nameOf(n.feed.source), err))
					}
					return
				}
			}
			c.set.mu.Lock()
			n.feed.unsynced = false
			c.set.mu.Unlock()
		}
		close(complete)
	}()
	ok := c.waitSynced(ctx, complete, fail)
	<-returned
	return ok
}

// waitCache waits until a cache is complete, or lacks only namespaces that need not be waited for.
func (c *Controller[K]) waitCache(ctx context.Context, one Cache) error {
	p := asByNamespace(one)
	if p == nil || c.options.AllNamespaces {
		return one.WaitSynced(ctx)
	}
	_, err := supply{cache: one, whole: one.WaitSynced}.beginPartly(ctx, p)
	return err
}

// startTerm starts the sources for a term, with its own queue, and waits until they have delivered; ok is false if
// the term or the run has ended before. finish stops the sources; it must be called in any case.
func (c *Controller[K]) startTerm(
	ctx, leading context.Context, s *shift[K], info RunInfo, fail context.CancelCauseFunc,
) (finish func(), ok bool) {
	c.setState(Syncing)
	e := c.beginEpoch(ctx, info)
	s.epoch = e
	term, end := context.WithCancelCause(ctx)
	unlink := context.AfterFunc(leading, func() { end(context.Cause(leading)) })
	sources := c.startSources(term, e.queue, fail)
	finish = func() {
		unlink()
		end(nil)
		c.stopSources(sources)
		c.set.mu.Lock()
		for _, f := range c.set.feeds { // no feed is waited for until the next term
			f.unsynced, f.partly = false, false
		}
		c.set.mu.Unlock()
		e.over()
		c.log.GivenUp(reconciling) // the next term begins without these failures
		if ctx.Err() == nil {
			c.setState(Standby)
		}
	}
	return finish, c.waitSynced(term, sources.all, fail)
}
