// Sources that come and go while a controller runs.

package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bowline-go/bowline/internal/clustering"
	"github.com/bowline-go/bowline/internal/runners"
)

// AddedSource is the result of [Controller.AddSource] or [Controller.AddSourcesFor]: the source, or the sources, that
// the call has added.
type AddedSource struct {
	door

	remove     func()
	waitSynced func(ctx context.Context) error
	unsynced   func() error
}

// door leads to the part of an added source that package clusters needs. It is an alias, so that its fields are not
// visible to users.
type door = clustering.Added

// AddSource adds a source to those of [New]: at once if the controller runs, and otherwise to the next Run and those
// after it. Use it for resources that become known only while the program runs, such as those of custom resource
// definitions. It may be called from a reconcile.
//
//	added, err := ctl.AddSource(controller.Watch(informer.New(sites, informer.Options{})))
//
// The controller also runs the informers that the source needs, until the source is removed or the Run ends; they
// outlive the workers. An informer that already runs elsewhere is not run a second time; if the other Run ends first,
// the controller takes over. Sources that need the same informer share its Run.
//
// If the workers have not started yet, they wait for the added source too; workers that run already go on. If the
// source or an informer that it needs fails, the Run of the controller ends with that error, as it does for a source of
// New. Use [Controller.AddSourcesFor] for sources that may be away, or fail, without affecting the others.
//
// AddSource returns an error, and adds nothing, if the source is nil or conflicts with Options.Shards; Run reports the
// same conflict for the sources of New.
func (c *Controller[K]) AddSource(s Source[K]) (*AddedSource, error) {
	if s == nil {
		return nil, errors.New("controller.AddSource: the source must not be nil")
	}
	from := []Source[K]{s}
	if err := c.checkAdded("controller.AddSource", from, false); err != nil {
		return nil, err
	}
	return c.addSources(nil, from), nil
}

// addSources adds sources at the same time. covers is nil if all keys wait for them.
func (c *Controller[K]) addSources(covers func(K) bool, from []Source[K]) *AddedSource {
	feeds := make([]*feed[K], len(from))
	for i, s := range from {
		feeds[i] = newFeed(s)
		feeds[i].needy, feeds[i].covers = runners.Needs[runner](nil, s), covers
	}
	c.set.mu.Lock()
	defer c.set.mu.Unlock()
	c.set.feeds = append(c.set.feeds, feeds...)
	c.set.feedings++
	if c.set.intake != nil {
		for _, f := range feeds {
			f.await(&c.set.calls, f.needy)
		}
		for _, f := range feeds {
			c.set.intake.start(f)
		}
	}
	return &AddedSource{
		remove: func() { c.removeSources(feeds) },
		waitSynced: func(ctx context.Context) error {
			for _, f := range feeds {
				if err := c.waitSource(ctx, f); err != nil {
					return err
				}
			}
			return nil
		},
		unsynced: func() error {
			var missing []error
			for _, f := range feeds {
				missing = append(missing, c.whyUndelivered(f))
			}
			return errors.Join(missing...)
		},
		door: door{Holds: func(key any) bool {
			k, ok := key.(K)
			return ok && slices.ContainsFunc(feeds, func(f *feed[K]) bool { return c.holds(f, k) })
		}},
	}
}

// holds reports whether a key waits for a source that has not delivered what the key needs.
func (c *Controller[K]) holds(f *feed[K], k K) bool {
	c.set.mu.Lock()
	all, partial, unsynced := f.blocks() || f.stop == nil, f.partial, f.unsynced
	c.set.mu.Unlock()
	return all || partial != nil && waits(partial, k, unsynced)
}

// Remove ends the source and waits until it has returned, and until the informers that run for it alone have returned.
// Keys that it has named are still reconciled. Remove may be called from a reconcile, but not from a function that the
// source calls. Removing it again does nothing.
func (a *AddedSource) Remove() { a.remove() }

// WaitSynced returns nil when the source has delivered everything that existed when it started in the present Run, in
// all namespaces. It waits for a Run if there is none. It returns an error with the reason if ctx ends first, if the
// source is removed, or if the source has failed.
func (a *AddedSource) WaitSynced(ctx context.Context) error { return a.waitSynced(ctx) }

// Unsynced returns nil if the source has delivered everything that existed when it started in the present Run.
// Otherwise it returns why it has not: that the controller does not run, the last error of the server, or the error
// with which the source has failed. While namespaces are missing, the result is not nil, although keys of the other
// namespaces are reconciled. It does not wait.
func (a *AddedSource) Unsynced() error { return a.unsynced() }

func (c *Controller[K]) removeSources(feeds []*feed[K]) {
	c.set.mu.Lock()
	c.set.feeds = slices.DeleteFunc(c.set.feeds, func(other *feed[K]) bool { return slices.Contains(feeds, other) })
	c.set.feedings++
	in := c.set.intake
	var free []K
	var running []*feed[K]
	for _, f := range feeds {
		if !f.removed {
			f.removed = true
			if f.partial != nil && in != nil {
				c.set.awaited.Add(-1)
			}
			f.partial = nil
			free = append(free, c.free(f)...)
			f.change()
		}
		if f.stop != nil {
			f.stop()
		}
		if f.returned != nil {
			running = append(running, f)
		}
	}
	c.checkSynced()
	c.set.removing = append(c.set.removing, running...)
	healed := !slices.ContainsFunc(c.set.feeds, func(f *feed[K]) bool { return f.failed != nil })
	c.set.mu.Unlock()
	if healed {
		c.log.GivenUp(sourcing)
	}
	if in != nil {
		for _, k := range free {
			in.release(k)
		}
	}
	for _, f := range running {
		<-f.returned
	}
	c.set.mu.Lock()
	c.set.removing = slices.DeleteFunc(c.set.removing, func(other *feed[K]) bool { return slices.Contains(running, other) })
	var needs []*need
	for _, f := range running {
		needs = append(needs, f.needs...)
		f.needs = nil
	}
	c.set.mu.Unlock()
	if in != nil { // otherwise the end of the run releases them
		in.needs.release(needs)
	}
}

// waitSource waits until a feed is synced.
func (c *Controller[K]) waitSource(ctx context.Context, f *feed[K]) error {
	for {
		c.set.mu.Lock()
		removed, runs, unsynced, failed, changed := f.removed, f.stop != nil, f.unsynced, f.failed, f.changed
		c.set.mu.Unlock()
		switch {
		case removed:
			return fmt.Errorf("wait for %s: the source has been removed", nameOf(f.source))
		case runs && !unsynced:
			return nil
		case runs && failed != nil:
			return fmt.Errorf("wait for %s: the source has failed: %w", nameOf(f.source), failed)
		}
		select {
		case <-changed:
			continue
		case <-ctx.Done():
		}
		why := whyUnsynced(f.source)
		switch {
		case !runs:
			why = fmt.Errorf("%v does not run", c)
		case why == nil:
			return fmt.Errorf("wait for %s: %w", nameOf(f.source), context.Cause(ctx))
		}
		return fmt.Errorf("wait for %s: %w, while %w", nameOf(f.source), context.Cause(ctx), why)
	}
}

// whyUndelivered returns why a feed is not synced; nil if it is.
func (c *Controller[K]) whyUndelivered(f *feed[K]) error {
	c.set.mu.Lock()
	removed, runs, unsynced, failed := f.removed, f.stop != nil, f.unsynced, f.failed
	c.set.mu.Unlock()
	switch why := failed; {
	case removed:
		return fmt.Errorf("%s: the source has been removed", nameOf(f.source))
	case !runs:
		return fmt.Errorf("%s: %v does not run", nameOf(f.source), c)
	case !unsynced:
		return nil
	case why != nil:
		return fmt.Errorf("%s: the source has failed: %w", nameOf(f.source), why)
	}
	if why := whyUnsynced(f.source); why != nil {
		return fmt.Errorf("%s: %w", nameOf(f.source), why)
	}
	return fmt.Errorf("%s: the source has not delivered its initial keys yet", nameOf(f.source))
}
