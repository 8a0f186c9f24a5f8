// The wait until all sources have delivered what existed at the start.

package controller

import (
	"context"
	"fmt"
	"time"

	"github.com/bowline-go/bowline/internal/report"
)

// waitSynced waits for all sources. It returns true when they have delivered, and false if ctx has ended.
func (c *Controller[K]) waitSynced(ctx context.Context, all <-chan struct{}, fail context.CancelCauseFunc) bool {
	var late <-chan time.Time // never fires without a limit
	if d := c.options.SyncTimeout; d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		late = timer.C
	}
	began, pause := time.Now(), report.Next(0)
	impatient := time.NewTimer(pause)
	defer impatient.Stop()
	for said := false; ; {
		select {
		case <-all:
			if said && ctx.Err() == nil {
				c.log.Logger().Info(fmt.Sprintf("%v: sources have delivered after %v", c, time.Since(began).Round(time.Second)))
			}
		case <-ctx.Done():
		case <-late:
			fail(fmt.Errorf("sources have not delivered within Options.SyncTimeout (%v): %w",
				c.options.SyncTimeout, several(c.unsynced(false))))
		case <-impatient.C:
			if c.options.OnError == nil {
				said = true
				c.log.Logger().Info(fmt.Sprintf("%v: workers wait for sources, nothing is reconciled", c),
					"since", began, "sources", several(c.unsynced(false)).Error())
			}
			pause = report.Next(pause)
			impatient.Reset(pause)
			continue
		}
		return ctx.Err() == nil
	}
}
