// Reconciles that do not start before the caches have seen the writes of earlier ones.

package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bowline-go/bowline/internal/filler"
	"github.com/bowline-go/bowline/internal/follow"
	"github.com/bowline-go/bowline/internal/fresh"
	"github.com/bowline-go/bowline/internal/report"
	"github.com/bowline-go/bowline/internal/runners"
	"github.com/bowline-go/bowline/workqueue"
)

// Fresh declares, like [Reads], that the reconcile function reads caches, and that it must find its own writes there: a
// reconcile of a key does not start while one of these caches has not seen what earlier reconciles of that key wrote.
// So no reconcile acts on a state from before its own write, creates an object twice, or fails with a conflict with
// itself.
//
//	controller.New("sites", controller.Options{}, reconcile,
//		controller.Watch(sites), controller.Owns(pods, Sites), controller.Fresh[meta.Key](sites, pods))
//
// The controller notes a write automatically if the function makes it through package client with its context, or with
// a context derived from it. A write concerns the caches of the same server (client.Config.Server), group, resource and
// namespace. The version of the API and the type of the objects do not matter, so a cache of metadata alone counts too.
// The controller waits for no other writes. A cache has seen a write when one of these is true:
//
//   - It holds the object in the written state, or in a later one.
//   - Its own version has passed that of the write: then the write took the object out of the selector, or the object
//     was deleted since.
//   - The write leaves the object outside the selector, and the cache does not hold the object.
//   - The write is a deletion, and the cache does not hold the object; another object under its name does not count. If
//     the server has reported the version of the deletion, as it does from Kubernetes 1.38 on, a cache that has passed
//     that version has seen the deletion too.
//   - Resource versions have no order. Then the cache cannot tell, and the controller does not wait.
//   - The informer has ended, or no longer follows the namespace.
//
// A key that is not fresh waits aside: it occupies no worker and has not failed. If a source names it during the wait,
// the reconcile after the wait serves that request too. The key becomes ready when the caches have seen the writes, or
// after Options.FreshTimeout; then the reconcile goes ahead with the caches as they are. [Status] counts both, and
// Hooks.Waited receives each.
//
// The controller does not wait for writes of others, of other keys, of a dry run, or by DeleteCollection. Nor does it
// wait for a write whose answer was lost, because it is unknown whether the server stored it. Memory is needed only for
// writes that have not been seen, and for deletions of the latest Options.FreshTimeout.
//
// An *informer.Informer is such a cache, and so is a type that embeds one. Another cache does not know when it has seen
// a write: the controller ends with an error that names it.
func Fresh[K comparable](caches ...Cache) Source[K] {
	return &freshReads[K]{newReads[K]("Fresh", caches)}
}

type freshReads[K comparable] struct{ reads[K] }

func (f *freshReads[K]) fresh() []Cache { return f.caches }

func (f *freshReads[K]) Run(ctx context.Context, add func(K), synced func()) error {
	return f.run(ctx, plain(add, synced))
}

func (f *freshReads[K]) run(ctx context.Context, to sink[K]) error {
	for i, c := range f.caches {
		if !runners.IsNil(c) && filler.Of(c) == nil {
			return fmt.Errorf("caches[%d] must be an informer, because no other cache knows when it has seen a write; got %s",
				i, cacheName(c))
		}
	}
	return f.reads.run(ctx, to)
}

// freshOf returns the caches that a source declares as fresh; nil if it declares none.
func freshOf(source any) []Cache {
	if s, ok := source.(interface{ fresh() []Cache }); ok {
		return s.fresh()
	}
	return nil
}

// WaitInfo describes how a key waited for caches; see [Fresh].
type WaitInfo struct {
	// Controller is the name of the controller.
	Controller string
	// Key is the key; its type is the controller's type of keys.
	Key any
	// Waited is how long the key waited aside.
	Waited time.Duration
	// Err is nil if the caches have seen everything. If the reconcile goes ahead before that, Err names the caches and
	// the writes.
	Err error
}

// stale is the key of the topic of waits that have not ended in time.
const stale = "fresh"

// freshGate puts a key aside until the caches have seen what its last reconciles wrote.
type freshGate[K comparable] struct {
	c     *Controller[K]
	waits *fresh.Waits[K]
}

func newFreshGate[K comparable](c *Controller[K], queue *workqueue.Queue[K]) *freshGate[K] {
	return &freshGate[K]{c, fresh.New(queue, cmp.Or(c.options.FreshTimeout, 10*time.Second))}
}

func (g *freshGate[K]) enter(ctx context.Context, v *visit[K]) (context.Context, func(), bool) {
	a := g.waits.Admit(v.key)
	if a.OK && a.Waited {
		w := WaitInfo{Controller: g.c.name, Key: v.key, Waited: a.After}
		if len(a.Late) > 0 {
			w.Err = staleError(a)
		}
		g.c.waited(ctx, w)
	}
	return ctx, nil, a.OK
}

// staleError returns the error of a wait that has taken too long. It names the first of the writes.
func staleError(a fresh.Admission) error {
	const most = 3
	var text strings.Builder
	fmt.Fprintf(&text, "caches are behind after %v", a.After)
	before := ": "
	for i, late := range a.Late {
		if i == most {
			fmt.Fprintf(&text, ", and %d more", len(a.Late)-i)
			break
		}
		what := "version " + late.Write.ResourceVersion + " of"
		if late.Write.ResourceVersion == "" {
			what = "the deletion of"
		}
		fmt.Fprintf(&text, "%s%s has not seen %s %s %q",
			before, runners.Name(late.Cache), what, late.Write.Resource.Resource, late.Write.Key)
		before = ", "
	}
	return errors.New(text.String())
}

func (g *freshGate[K]) listen(v *visit[K]) func(follow.Write) {
	if !g.isDeclared() {
		return nil
	}
	return func(w follow.Write) { g.waits.Wrote(v.key, g.caches(v.key), w) }
}

// isDeclared reports whether there is a source [Fresh].
func (g *freshGate[K]) isDeclared() bool {
	g.c.set.mu.Lock()
	defer g.c.set.mu.Unlock()
	return slices.ContainsFunc(g.c.set.feeds, func(f *feed[K]) bool { return freshOf(f.source) != nil })
}

// caches returns the caches that [Fresh] declares at present, of the sources that the key waits for.
func (g *freshGate[K]) caches(key K) (all []fresh.Place) {
	for _, f := range g.c.allFeeds() {
		if f.covers != nil && !f.covers(key) {
			continue
		}
		for i, one := range freshOf(f.source) {
			if cache := filler.Of(one); cache != nil {
				all = append(all, fresh.Place{Cache: cache, By: f, Index: i})
			}
		}
	}
	return all
}

// waited counts and reports the end of a wait.
func (c *Controller[K]) waited(ctx context.Context, w WaitInfo) {
	c.mu.Lock()
	c.status.Waits++
	c.status.Waited += w.Waited
	if w.Err != nil {
		c.status.WentAhead++
	}
	c.mu.Unlock()
	if c.hooks.Waited != nil {
		c.hooks.Waited(ctx, w)
	}
	switch {
	case w.Err == nil:
		c.log.Works(stale)
	case c.options.OnError == nil:
		topic := report.Topic{
			Key:   stale,
			Fails: c.String() + ": a reconcile went ahead, although caches had not seen what the last one wrote",
			Works: c.String() + ": caches see writes in time again",
		}
		c.log.Failed(topic, w.Err, []string{fmt.Sprint(w.Key)}, "controller", c.name, "key", w.Key)
	}
}
