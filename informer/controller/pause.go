// A paused controller follows its sources, and reconciles nothing.

package controller

import (
	"context"
	"time"

	"github.com/bowline-go/bowline/internal/report"
)

// Pause makes the workers take no more keys, until Resume. It may be called from any goroutine at any time, including
// from a reconcile and before Run. It does not wait: a reconcile in progress goes on to its end.
//
// Everything else goes on. The sources run, and the keys that they name wait in the queue, each once. A replica that
// leads keeps its lease. With Options.Shards the replica keeps its ranges, and no replica reconciles the objects in
// them during the pause. A pause outlasts the end of Run.
//
// A controller that is paused when its context ends drains nothing (Options.Drain), and Pause ends a drain that is
// under way; Resume does not begin it again.
//
// [Status] says that the controller is paused. While Run would otherwise reconcile, the controller also logs the pause,
// at once and at growing intervals of up to a quarter of an hour, even if Options.OnError is set.
func (c *Controller[K]) Pause() { c.crew.pause(true) }

// Resume ends a pause. It does nothing if there is none.
func (c *Controller[K]) Resume() { c.crew.pause(false) }

func (c *crew[K]) pause(paused bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused == paused {
		return
	}
	c.paused = paused
	if paused && c.endDrain != nil {
		c.endDrain()
	}
	close(c.changed)
	c.changed = make(chan struct{})
	c.fit()
}

// pausing returns whether the crew pauses, and a channel that is closed when that changes.
func (c *crew[K]) pausing() (paused bool, changed <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.paused, c.changed
}

// attend waits until ctx ends, and logs when the controller pauses.
func (c *Controller[K]) attend(ctx context.Context) {
	for ctx.Err() == nil {
		paused, changed := c.crew.pausing()
		if paused {
			c.sayPaused(ctx, changed)
			continue
		}
		select {
		case <-ctx.Done():
		case <-changed:
		}
	}
}

// sayPaused logs that the controller pauses, at growing intervals, until changed is closed or ctx ends.
func (c *Controller[K]) sayPaused(ctx context.Context, changed <-chan struct{}) {
	began := time.Now()
	say := func(what string) {
		c.log.Logger().Info(c.String()+": "+what, "since", began, "ready", c.queueNow().Len())
	}
	say("paused, reconciles nothing")
	pause := report.Next(0)
	again := time.NewTimer(pause)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-changed:
			say("pause is over")
			return
		case <-again.C:
			say("still paused, reconciles nothing")
			pause = report.Next(pause)
			again.Reset(pause)
		}
	}
}
