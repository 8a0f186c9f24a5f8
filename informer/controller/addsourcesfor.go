// Sources that only some keys need, and that may be away or fail without affecting the others.

package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bowline-go/bowline/internal/report"
)

// AddSourcesFor adds sources as AddSource does, all at the same time, for the keys for which covers returns true, such
// as the keys of one cluster or tenant. Only these keys depend on the sources:
//
//   - A reconcile of such a key does not start before all of the sources have delivered what existed at their start.
//     Until then the key waits aside and occupies no worker. Other keys do not wait for these sources, neither at the
//     start of Run nor later, and Options.SyncTimeout does not count for them. If an informer lacks some of several
//     namespaces, keys of the other namespaces do not wait for those: see the documentation of the package.
//   - If one of the sources or an informer that it needs fails, Run goes on, and Options.OnError receives an error that
//     names the source. From then on the keys wait aside until the sources are removed, because changes would be
//     missed. In the next Run the sources start anew. An informer whose server is away or refuses it does not fail: it
//     tries again.
//
// Status shows sources that have not delivered or have failed, and why. The controller runs the informers that the
// sources need, also if informer.Run runs the controller.
//
// covers must be quick, always return the same for a key, and be safe for use by several goroutines at once. A call
// without sources makes no key wait and names no keys; use it to add a cluster that has no sources of its own.
//
// AddSourcesFor returns an error, and adds nothing, if covers or a source is nil, or if a source conflicts with
// Options.Shards, as Run reports for the sources of New. With Shards by uid there must be a [Watch] among the sources,
// whose cache says which uid a key has. It may be missing if the sources of New and of AddSource include a Watch that
// is not within a [MapKeys], or if these sources name no keys.
func (c *Controller[K]) AddSourcesFor(covers func(key K) bool, from ...Source[K]) (*AddedSource, error) {
	if covers == nil {
		return nil, errors.New("controller.AddSourcesFor: covers must not be nil")
	}
	for i, s := range from {
		if s == nil {
			return nil, fmt.Errorf("controller.AddSourcesFor: from[%d] must not be nil", i)
		}
	}
	if err := c.checkAdded("controller.AddSourcesFor", from, true); err != nil {
		return nil, err
	}
	return c.addSources(covers, slices.Clone(from)), nil
}

// sourcing is the key of the topic of sources that have failed.
const sourcing = "source"

// sourceFailed ends the run by a call of fail, or stops only the keys that depend on the source.
func (c *Controller[K]) sourceFailed(in *intake[K], f *feed[K], err error, fail context.CancelCauseFunc) {
	if f.covers == nil {
		fail(fmt.Errorf("%s: %w", nameOf(f.source), err))
		return
	}
	c.set.mu.Lock()
	mine := c.set.intake == in && f.failed == nil && !f.removed
	if mine {
		c.setFailed(f, err)
	}
	c.set.mu.Unlock()
	if mine {
		c.reportSource(f, err)
	}
}

// setFailed notes the failure of a feed with covers, and ends it. The caller holds sourceSet.mu.
func (c *Controller[K]) setFailed(f *feed[K], err error) {
	f.failed, f.partly = err, false
	if !f.unsynced {
		f.unsynced = true
		c.set.awaited.Add(1)
	}
	f.stop()
	f.change()
}

// needFailed ends the run, or stops only the keys that depend on the sources that need n.
func (c *Controller[K]) needFailed(in *intake[K], n *need, err error, fail context.CancelCauseFunc) {
	c.set.mu.Lock()
	var failed []*feed[K]
	all := false
	for _, f := range c.set.feeds {
		switch {
		case c.set.intake != in || !slices.Contains(f.needs, n):
		case f.covers == nil:
			all = true
		case f.failed == nil:
			failed = append(failed, f)
		}
	}
	if !all {
		for _, f := range failed {
			c.setFailed(f, err)
		}
	}
	c.set.mu.Unlock()
	if all {
		fail(err)
		return
	}
	for _, f := range failed {
		c.reportSource(f, err)
	}
}

func (c *Controller[K]) reportSource(f *feed[K], err error) {
	name := nameOf(f.source)
	if c.options.OnError != nil {
		c.options.OnError(fmt.Errorf("run source %s of controller %q: its keys wait until it is removed: %w",
			name, c.name, err))
		return
	}
	topic := report.Topic{Key: sourcing, Fails: c.String() + ": a source has failed, its keys wait until it is removed"}
	c.log.Failed(topic, err, nil, "controller", c.name, "source", name)
}
