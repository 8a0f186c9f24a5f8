// Sources whose caches lack some namespaces.

package controller

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/filler"
)

// partlyAfter is how long the workers wait for missing namespaces once the first one of a cache has been listed. They
// do not wait for namespaces that the server refuses.
const partlyAfter = 10 * time.Second

// partial is a source that can name the keys of some namespaces while it lacks others.
type partial interface {
	// isPartial reports whether it follows a cache of several namespaces.
	isPartial() bool
	// waitsIn reports whether a key of a namespace needs a missing one; the empty name stands for a key that does not
	// tell its namespace. all says that the source has not delivered everything in this Run, so keys may need all
	// namespaces.
	waitsIn(namespace string, all bool) bool
}

// asPartial returns a source as one that can name only some of its keys at first; nil if it cannot.
func asPartial(source any) partial {
	if p, ok := source.(partial); ok && p.isPartial() {
		return p
	}
	return nil
}

// waits reports whether a key needs a namespace that a source lacks.
func waits[K comparable](p partial, k K, all bool) bool {
	if r, ok := p.(interface{ waits(k K, all bool) bool }); ok {
		return r.waits(k, all)
	}
	ns, _ := namespaceOf(k)
	return p.waitsIn(ns, all)
}

// asByNamespace returns a cache that may have some namespaces and lack others, such as an informer with
// Options.Namespaces; nil for any other cache.
func asByNamespace(of any) filler.Filler {
	if c := filler.Of(of); c != nil && c.Namespaces().Changed != nil {
		return c
	}
	return nil
}

// lacks reports whether a key of a namespace needs a namespace that a cache lacks. A key that does not tell its
// namespace needs all of them. So does a key whose namespace the cache does not follow, unless the source names only
// keys in the namespaces of its objects (inside). If all is false, such keys need none: the missing namespace was added
// later, and these keys have been reconciled without it.
func lacks(of any, namespace string, inside, all bool) bool {
	c := filler.Of(of)
	if c == nil {
		return false
	}
	listed, followed := c.ListedIn(namespace)
	return !listed && (followed || all && (!inside || namespace == ""))
}

// supply is a cache that a source waits for.
type supply struct {
	cache any
	// whole returns when the cache is complete. handled returns a channel that is closed when the source has named the
	// keys of what the cache has now; it is nil if the source names nothing.
	whole   func(ctx context.Context) error
	handled func() <-chan struct{}
}

// await waits until the caches are complete, and then tells the controller. If some namespaces are missing, it tells
// the controller that keys of the others can be reconciled, and returns; it then goes on waiting, and failed receives
// the reason if it can never succeed. begun is called before the controller is told. The caller must call stop, which
// ends everything that await has started.
func await[K comparable](ctx context.Context, to sink[K], begun func(), all ...supply) (failed <-chan error, stop func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	stop = func() {
		cancel()
		running.Wait()
	}
	complete := true
	for _, s := range all {
		c := asByNamespace(s.cache)
		if c == nil || to.partly == nil {
			if err := s.whole(ctx); err != nil {
				return nil, stop, err
			}
			continue
		}
		is, err := s.beginPartly(ctx, c)
		if err != nil {
			return nil, stop, err
		}
		complete = complete && is
		running.Go(func() { tellArrivals(ctx, c, to.arrived) })
	}
	begun()
	if complete {
		to.synced()
		return nil, stop, nil
	}
	to.partly()
	wrong := make(chan error, 1)
	running.Go(func() {
		for _, s := range all {
			if err := s.whole(ctx); err != nil {
				wrong <- err
				return
			}
		}
		to.synced()
	})
	return wrong, stop, nil
}

// beginPartly waits until a cache is complete, or until it has some of its namespaces and need not wait for the others.
func (s supply) beginPartly(ctx context.Context, c filler.Filler) (complete bool, err error) {
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- s.whole(waiting) }() // received below in every case
	late := time.NewTimer(partlyAfter)
	late.Stop()
	defer late.Stop()
	for some, isLate := false, false; ; {
		n := c.Namespaces()
		if len(n.Listed) > 0 && len(n.Missing) > 0 {
			if !some {
				some = true
				late.Reset(partlyAfter)
			}
			if isLate || areRefused(n.Missing) {
				if s.handled != nil {
					select {
					case err := <-done:
						return err == nil, err
					case <-s.handled():
					}
				}
				cancel()
				if err := <-done; err == nil || ctx.Err() != nil {
					return err == nil, err
				}
				n.Partly()
				return false, nil
			}
		}
		select {
		case err := <-done:
			return err == nil, err
		case <-n.Changed:
		case <-late.C:
			isLate = true
		}
	}
}

// areRefused reports whether the server refuses all of the missing namespaces, so that they will not come soon.
func areRefused(missing map[string]error) bool {
	for _, err := range missing {
		if !errors.Is(err, apierrors.Forbidden) && !errors.Is(err, apierrors.NotFound) {
			return false
		}
	}
	return true
}

// tellArrivals calls arrived when a namespace is no longer missing, until ctx ends. It also calls it once at first,
// because a namespace may have arrived since the controller last looked.
func tellArrivals(ctx context.Context, c filler.Filler, arrived func()) {
	n := c.Namespaces()
	arrived()
	for {
		before := n.Missing
		select {
		case <-n.Changed:
		case <-ctx.Done():
			return
		}
		n = c.Namespaces()
		for ns := range before {
			if _, missing := n.Missing[ns]; !missing {
				arrived()
				break
			}
		}
	}
}

// allOf returns the objects of a cache, in the namespaces that have been listed.
func allOf[T meta.Object](r cache.Reader[T]) iter.Seq[T] {
	c := asByNamespace(fillerOf(r))
	if c == nil {
		return r.All()
	}
	n := c.Namespaces()
	if len(n.Missing) == 0 {
		return r.All()
	}
	return func(yield func(T) bool) {
		for _, ns := range n.Listed {
			for obj := range r.Namespace(ns) {
				if !yield(obj) {
					return
				}
			}
		}
	}
}

// partly notes that a source lacks some namespaces, and has named the keys of the others.
func (c *Controller[K]) partly(in *intake[K], f *feed[K]) {
	c.set.mu.Lock()
	mine := f.unsynced && f.failed == nil && c.set.intake == in
	if mine {
		f.partly = true
		c.checkSynced()
	}
	c.set.mu.Unlock()
	if mine && c.options.OnError == nil {
		c.log.Logger().Info(fmt.Sprintf("%v: namespaces are missing; their keys wait, and those of the others are reconciled", c),
			"source", nameOf(f.source), "missing", fmt.Sprint(whyUnsynced(f.source)))
	}
	if mine {
		c.releaseHeld(in, f)
	}
}
