// Sources that come and go while a controller runs.

package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// AddedSource is a source that [Controller.AddSource] has added.
type AddedSource struct {
	remove     func()
	waitSynced func(ctx context.Context) error
}

// AddSource adds a source to those of [New]: at once if the controller runs, and otherwise to the next Run and those after
// it. Use it for resources that are known only while the program runs, such as those of custom resource definitions; it may
// be called from a reconcile.
//
//	added, err := ctl.AddSource(controller.Watch(informer.New(sites, informer.Options{})))
//
// The controller also runs the informers that the source needs, from then on until the source is removed or the Run ends,
// after the workers. An informer that already runs elsewhere is not run a second time; if the other Run ends first, the
// controller takes over. Sources that need the same informer share its Run.
//
// A source that is added before the workers start is one of those that they wait for; workers that run already go on. If
// the source fails, or an informer that it needs, the Run of the controller ends with that error, as it does for a source
// of New.
func (c *Controller[K]) AddSource(s Source[K]) (*AddedSource, error) {
	if s == nil {
		return nil, errors.New("controller.AddSource: the source must not be nil")
	}
	f := newFeed(s)
	f.needy = withNeeds(nil, s)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.feeds = append(c.feeds, f)
	if c.intake != nil {
		c.intake.start(f)
	}
	return &AddedSource{
		remove:     func() { c.removeSource(f) },
		waitSynced: func(ctx context.Context) error { return c.waitSource(ctx, f) },
	}, nil
}

// Remove ends the source and waits until it has returned, and until the informers have returned that run for it alone.
// Keys that it has named are reconciled all the same. Remove may be called from a reconcile, but not from a function that
// the source calls. Removing it again does nothing.
func (a *AddedSource) Remove() { a.remove() }

// WaitSynced returns nil when the source has delivered what existed when it started in the present Run. It waits for a Run
// if there is none. It returns an error with the reason if ctx ends first, and another if the source is removed.
func (a *AddedSource) WaitSynced(ctx context.Context) error { return a.waitSynced(ctx) }

func (c *Controller[K]) removeSource(f *feed[K]) {
	c.mu.Lock()
	c.feeds = slices.DeleteFunc(c.feeds, func(other *feed[K]) bool { return other == f })
	in, returned := c.intake, f.returned
	if !f.removed {
		f.removed = true
		f.change()
		c.checkSynced()
	}
	if f.stop != nil {
		f.stop()
	}
	if returned != nil {
		c.removing = append(c.removing, f)
	}
	c.mu.Unlock()
	if returned == nil {
		return
	}
	<-returned
	c.mu.Lock()
	c.removing = slices.DeleteFunc(c.removing, func(other *feed[K]) bool { return other == f })
	needs := f.needs
	f.needs = nil
	c.mu.Unlock()
	if in != nil { // otherwise the end of the run does so
		in.needs.release(needs)
	}
}

// waitSource waits until a feed is synced.
func (c *Controller[K]) waitSource(ctx context.Context, f *feed[K]) error {
	for {
		c.mu.Lock()
		removed, runs, unsynced, changed := f.removed, f.stop != nil, f.unsynced, f.changed
		c.mu.Unlock()
		switch {
		case removed:
			return fmt.Errorf("wait for %s: it has been removed", nameOf(f.source))
		case runs && !unsynced:
			return nil
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
