// A run: the sources start first. The workers start when all sources have delivered and the process leads. The run
// waits for all of them.

package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/bowline-go/bowline/internal/hooks"
)

// Run runs the sources until ctx ends; then it returns nil. It starts the workers once all sources have delivered what
// existed at the start. It returns an error at once if an argument of New is invalid or another Run of this controller
// is in progress. It returns an error later if a source fails, or if the sources have not delivered within
// Options.SyncTimeout. However it ends, everything that it started has returned. Run may then be called again; it
// starts from the beginning.
func (c *Controller[K]) Run(ctx context.Context) error {
	return c.runLed(ctx, func(ctx context.Context, work func(ctx context.Context) error) error { return work(ctx) })
}

// RunLed is Run for a program that runs in several replicas, only one of which works at a time. The sources run, and
// fill the queue, before this replica leads, so that its workers can start at once when it does: RunLed calls lead once
// all sources have delivered, and the workers run only while lead calls work. Package client/leader has the election:
//
//	err := ctl.RunLed(ctx, func(ctx context.Context, work func(context.Context) error) error {
//		return elector.Run(ctx, work)
//	})
//
// The contexts of reconciles have the values of the context that lead passes to work, and end with it. work returns
// when the reconciles in progress have returned: nil if its context or ctx has ended, and otherwise the error of the
// controller. If ctx has ended, the reconciles in progress have Options.Grace; if only the context of work has ended,
// this replica no longer leads, and their contexts end at once. work may be called again, but not while another call of
// it is in progress.
//
// The queue collects keys while this replica does not lead, also between two calls of work. Its first reconciles
// therefore repeat what another leader has done. That costs time, and is correct for reconciles that compare the actual
// with the desired state. For work that is done once for a change, record on the object what has been done, and see
// Options.StartAtTerm.
//
// The context of lead ends when ctx ends or a source fails, and lead must return then. When it returns, RunLed ends the
// sources, and returns the error of the source, or else that of lead. When ctx has ended, RunLed returns nil, unless
// lead returns an error other than that of ctx.
//
// With Options.Shards RunLed returns an error: the two exclude each other. A replica that does not lead would get
// ranges and reconcile none of their objects.
func (c *Controller[K]) RunLed(
	ctx context.Context, lead func(ctx context.Context, work func(ctx context.Context) error) error,
) error {
	var err error
	switch {
	case lead == nil:
		err = errors.New("controller.RunLed: lead must not be nil")
	case c.options.Shards != nil:
		err = errors.New("controller.RunLed: an election and Options.Shards exclude each other: " +
			"a replica that does not lead would get ranges and reconcile none of their objects")
	default:
		return c.runLed(ctx, lead)
	}
	return fmt.Errorf("run controller %q: %w", c.name, err)
}

// runLed implements RunLed and Run.
func (c *Controller[K]) runLed(
	ctx context.Context, lead func(ctx context.Context, work func(ctx context.Context) error) error,
) error {
	err := c.validate()
	if err == nil {
		err = c.run(ctx, lead)
	}
	if err != nil {
		return fmt.Errorf("run controller %q: %w", c.name, err)
	}
	return nil
}

func (c *Controller[K]) run(
	outer context.Context, lead func(ctx context.Context, work func(ctx context.Context) error) error,
) error {
	if err := c.begin(); err != nil {
		return err
	}
	defer c.setState(Stopped)
	c.log.Start(outer)
	defer c.log.Stop()
	carried, _ := hooks.In[Hooks](outer)
	c.hooks = c.options.Hooks.and(carried)
	info := RunInfo{
		Name: c.name, Status: c.Status,
		ReadyByPriority: func() map[int]int { return c.queueNow().ReadyByPriority() },
		Keys:            c.keys,
		Groups:          c.Groups,
	}
	e := c.beginEpoch(outer, info)
	defer e.over()
	defer hooks.Run(outer, c.hooks.Run, info)()
	// ctx ends the sources and the workers; outer, a failure, or the end of lead ends ctx.
	ctx, fail := context.WithCancelCause(outer)
	c.holdShards()
	var sources *intake[K] // nil if they start with each term
	if !c.options.StartAtTerm {
		sources = c.startSources(ctx, e.queue, fail)
	}
	defer func() { // also if lead panics
		fail(nil)
		c.setState(Stopping)
		if sources != nil {
			c.stopSources(sources)
		}
		c.stopShards()
		c.log.Logger().V(1).Info("stopped", "controller", c.name)
	}()
	s := &shift[K]{c: c, epoch: e}
	if sources == nil {
		if !c.waitCaches(ctx, fail) {
			return failure(ctx, outer)
		}
		s.prepare = func(leading context.Context) (finish func(), ok bool) {
			return c.startTerm(ctx, leading, s, info, fail)
		}
	} else if !c.waitSynced(ctx, sources.all, fail) {
		return failure(ctx, outer)
	}

	c.startShards(ctx, e.queue)
	c.setState(Standby)
	defer s.end(fail)
	err := lead(ctx, func(leading context.Context) error { return s.work(ctx, outer, leading) })
	if outer.Err() == nil {
		return cmp.Or(failure(ctx, outer), err)
	}
	if errors.Is(err, outer.Err()) || errors.Is(err, context.Cause(outer)) {
		return nil
	}
	return err
}

// failure returns why the controller has ended ctx. It returns nil if the controller has not, or if outer, the parent
// of ctx, has ended.
func failure(ctx, outer context.Context) error {
	if outer.Err() != nil {
		return nil
	}
	return context.Cause(ctx)
}
