// Keys that wait aside for a source: for all that it delivers, or for the namespaces that it lacks.

package controller

import (
	"context"
	"math"

	"github.com/bowline-go/bowline/workqueue"
)

// sourceGate puts a key aside that must wait for a source.
//
// A key that waits for a source is held in the queue, and is listed in held of its feed. It is held in the queue before
// it is listed. So the code that takes it from the list, because the source has delivered or is removed, can release
// it.
type sourceGate[K comparable] struct {
	c     *Controller[K]
	queue *workqueue.Queue[K]
}

func (g sourceGate[K]) enter(ctx context.Context, v *visit[K]) (context.Context, func(), bool) {
	return ctx, nil, g.c.set.awaited.Load() == 0 || !g.holds(v.key)
}

// holds reports whether key must wait for a source. If so, holds has put it aside.
func (g sourceGate[K]) holds(key K) bool {
	c := g.c
	c.set.mu.Lock()
	var all []awaitedFeed[K]
	for _, f := range c.set.feeds {
		if f.covers != nil && f.blocks() || f.partial != nil {
			all = append(all, awaitedFeed[K]{f, f.partial, f.blocks(), f.unsynced, f.releases})
		}
	}
	c.set.mu.Unlock()
	for _, one := range all {
		f := one.feed
		if f.covers != nil && !f.covers(key) || !one.all && !waits(one.partial, key, one.unsynced) {
			continue
		}
		g.queue.Hold(key, math.MaxInt64)
		c.set.mu.Lock()
		// Since the gate looked, the source may have delivered, or may lack fewer namespaces.
		held := !f.removed && (f.blocks() || !one.all && f.releases == one.releases)
		if held {
			f.held = append(f.held, key)
		}
		c.set.mu.Unlock()
		if !held {
			g.queue.Release(key) // the gate then checks it again for the other sources
		}
		return true
	}
	return false
}

// awaitedFeed is a feed that key may have to wait for, in its state at one moment.
type awaitedFeed[K comparable] struct {
	feed     *feed[K]
	partial  partial
	all      bool // all keys wait for it
	unsynced bool
	releases int
}

// free notes that a feed is no longer unsynced, and returns the keys that have waited for it. The caller holds
// sourceSet.mu.
func (c *Controller[K]) free(f *feed[K]) []K {
	waited := f.unsynced && f.covers != nil
	f.unsynced, f.partly = false, false
	if c.set.intake == nil {
		return nil
	}
	if waited {
		c.set.awaited.Add(-1)
	}
	held := f.held
	f.held = nil
	f.releases++
	return held
}

// releaseHeld gives the keys that wait for a source back to the queue. Those that must still wait are held again.
func (c *Controller[K]) releaseHeld(in *intake[K], f *feed[K]) {
	c.set.mu.Lock()
	var held []K
	if c.set.intake == in && !f.blocks() {
		held, f.held = f.held, nil
		f.releases++
	}
	c.set.mu.Unlock()
	for _, k := range held {
		in.release(k)
	}
}
