// Groups of keys, which share the workers.

package controller

import (
	"errors"

	"github.com/bowline-go/bowline/workqueue"
)

// GroupBy makes groups of keys share the workers fairly, from the next Run on: the keys of one namespace, tenant or
// cluster do not keep those of others waiting. group returns the group of a key; weight, unless it is nil, returns the
// weight of a group. They are Group and Weight of workqueue.Options; the documentation of that package states the
// guarantees. A nil group ends the grouping. GroupBy returns an error, and changes nothing, while Run is in progress,
// or if there is a weight without a group.
//
//	err := ctl.GroupBy(func(k meta.Key) string { return k.Namespace }, nil)
//
// This is a method and not an option, because [Options] do not know the type of keys.
func (c *Controller[K]) GroupBy(group func(key K) string, weight func(group string) int) error {
	if group == nil && weight != nil {
		return errors.New("controller.GroupBy: group must not be nil if weight is set")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.isIdle() {
		return errors.New("controller.GroupBy: must not be called during Run")
	}
	c.group, c.weight = group, weight
	return nil
}

// Groups returns the groups that have keys ready or in progress in the current Run, or had them at the end of the last
// one, by name. It is empty without GroupBy.
func (c *Controller[K]) Groups() []workqueue.GroupStats {
	if queue := c.queueNow(); queue != nil {
		return queue.Groups()
	}
	return nil
}
