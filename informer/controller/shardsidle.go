// A controller logs that its Shards give it no ranges.

package controller

import (
	"fmt"
	"time"

	"github.com/bowline-go/bowline/internal/report"
)

// idleLook is how often a controller asks why its Shards give it no ranges. It is the first interval of package report.
const idleLook = 5 * time.Second

// whyIdle returns why this replica has no ranges; nil if it has some, or if the Shards do not say.
func (s *sharding[K]) whyIdle() error {
	if i, ok := s.Shards.(interface{ WhyIdle() error }); ok {
		return i.WhyIdle()
	}
	return nil
}

// idleness is what has been logged about Shards that give no ranges. The zero value is for Shards that give some.
type idleness struct {
	since, due time.Time // when it began, and when it is logged next
	pause      time.Duration
	said       bool
}

// lookIdle logs that there are no ranges, and when there are some again, as waitSynced does for sources.
func (c *Controller[K]) lookIdle(i *idleness) {
	why, now := c.sharding.whyIdle(), time.Now()
	if why == nil {
		if i.said {
			c.log.Logger().Info(fmt.Sprintf("%v: Shards work again after %v", c, now.Sub(i.since).Round(time.Second)))
		}
		*i = idleness{}
		return
	}
	switch {
	case i.since.IsZero():
		i.since = now
	case now.Before(i.due):
		return
	case c.options.OnError == nil:
		i.said = true
		c.log.Logger().Info(fmt.Sprintf("%v: Shards give this replica no ranges, nothing is reconciled", c), "since", i.since, "reason", why.Error())
	}
	i.pause = report.Next(i.pause)
	i.due = now.Add(i.pause)
}
