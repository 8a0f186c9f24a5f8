// Sources of keys.

package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/internal/runners"
)

// Source names keys that need work. This package has [Watch], [Map] and [Owns] for the objects of a cache, and [Every],
// [EveryObject], [Chan] and [Reads]; [Changed] leaves out updates of objects. Any other type with this method can be a
// source too.
type Source[K comparable] interface {
	// Run calls add for every key that needs work until ctx ends. It calls synced once it has named all keys that
	// needed work when it started: no reconcile runs before that. A source without initial keys calls synced at once.
	//
	// It returns nil when ctx ends. If it returns nil earlier, the source has no more keys and counts as synced. If it
	// returns an error earlier, the controller ends with that error. When it has returned, all its goroutines have
	// ended, and it does not call add or synced again. Both may be called from any goroutine and do not block.
	//
	// A source may have further methods:
	//
	//	RunWith(ctx context.Context, add func(k K, o workqueue.AddOptions), synced func()) error
	//		replaces Run, for a source whose keys have priorities or delays; zero AddOptions act like Run's add
	//	String() string
	//		its name in errors and in the status
	//	Unsynced() error
	//		why it has not called synced yet, for the status and for errors; nil if there is no reason to give
	//	Runners() []cache.Runner
	//		the runners that it needs, such as an informer; informer.Run runs them with the controller
	Run(ctx context.Context, add func(K), synced func()) error
}

func nameOf[K comparable](s Source[K]) string {
	if named, ok := s.(fmt.Stringer); ok {
		return named.String()
	}
	return fmt.Sprintf("%T", s)
}

// runner is a Runner that a source needs.
type runner = cache.Runner

// Reads declares that the reconcile function reads caches that the controller does not watch. It names no key. The
// workers wait until each cache holds a complete list, and informer.Run runs the caches, as it runs those that are
// watched.
//
//	controller.New("sites", controller.Options{}, reconcile,
//		controller.Watch(sites),
//		controller.Reads[meta.Key](certificates))
//
// An *informer.Informer is such a cache. Reads ends the controller with an error if a cache ends before it has a list.
func Reads[K comparable](caches ...Cache) Source[K] {
	r := newReads[K]("Reads", caches)
	return &r
}

func newReads[K comparable](constructor string, caches []Cache) reads[K] {
	names := make([]any, len(caches))
	for i, c := range caches {
		names[i] = cacheName(c)
	}
	return reads[K]{caches: slices.Clone(caches), name: describe(constructor, names...)}
}

func cacheName(c Cache) string {
	if named, ok := c.(fmt.Stringer); ok && !runners.IsNil(c) {
		return named.String()
	}
	return fmt.Sprintf("%T", c)
}

// Cache becomes complete some time after it starts to run, as an informer does.
type Cache interface {
	// Run fills the cache until ctx ends.
	Run(ctx context.Context) error
	// WaitSynced returns nil when the cache is complete. It returns an error if ctx ends first or the cache cannot
	// become complete.
	WaitSynced(ctx context.Context) error
}

type reads[K comparable] struct {
	caches []Cache
	name   string
}

func (r *reads[K]) String() string { return r.name }

func (*reads[K]) namesNone() bool { return true }

func (r *reads[K]) Runners() []runner {
	var all []runner
	for _, c := range r.caches {
		if !runners.IsNil(c) {
			all = append(all, c)
		}
	}
	return all
}

func (r *reads[K]) Unsynced() error {
	var missing []error
	for _, c := range r.caches {
		if runners.IsNil(c) {
			continue
		}
		if err := whyUnsynced(c); err != nil {
			missing = append(missing, err)
		}
	}
	return errors.Join(missing...)
}

func (r *reads[K]) isPartial() bool {
	return slices.ContainsFunc(r.caches, func(c Cache) bool { return asByNamespace(c) != nil })
}

func (r *reads[K]) waitsIn(namespace string, all bool) bool {
	return slices.ContainsFunc(r.caches, func(c Cache) bool { return lacks(c, namespace, false, all) })
}

func (r *reads[K]) Run(ctx context.Context, add func(K), synced func()) error {
	return r.run(ctx, plain(add, synced))
}

func (r *reads[K]) run(ctx context.Context, to sink[K]) error {
	var all []supply
	for i, c := range r.caches {
		if runners.IsNil(c) {
			return fmt.Errorf("caches[%d] must not be nil", i)
		}
		all = append(all, supply{cache: c, whole: c.WaitSynced})
	}
	failed, stop, err := await(ctx, to, func() {}, all...)
	defer stop()
	if err == nil {
		select {
		case err = <-failed:
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// whyUnsynced returns why a value is not synced, if it has a method that says so.
func whyUnsynced(what any) error {
	if u, ok := what.(interface{ Unsynced() error }); ok {
		return u.Unsynced()
	}
	return nil
}

// Every names keys when it starts, and again after each period, so that they are reconciled even without a known
// change. [EveryObject] does so for the objects of a cache. Run returns an error if the period is 0 or less.
func Every[K comparable](period time.Duration, keys ...K) Source[K] {
	return every[K]{period, slices.Clone(keys)}
}

type every[K comparable] struct {
	period time.Duration
	keys   []K
}

func (e every[K]) String() string { return fmt.Sprintf("Every(%v)", e.period) }

func (e every[K]) Run(ctx context.Context, add func(K), synced func()) error {
	if e.period <= 0 {
		return fmt.Errorf("the period must be above 0, got %v", e.period)
	}
	ticker := time.NewTicker(e.period)
	defer ticker.Stop()
	for {
		for _, k := range e.keys {
			add(k)
		}
		synced()
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// Chan names the keys that it receives, until keys is closed. It has no initial keys. Keys that are sent while no
// controller runs wait in the channel.
func Chan[K comparable](keys <-chan K) Source[K] { return channel[K](keys) }

type channel[K comparable] <-chan K

func (channel[K]) String() string { return "Chan" }

func (c channel[K]) Run(ctx context.Context, add func(K), synced func()) error {
	synced()
	for {
		select {
		case k, open := <-c:
			if !open {
				return nil
			}
			add(k)
		case <-ctx.Done():
			return nil
		}
	}
}

// describe names a source of this package after its constructor and arguments.
func describe(constructor string, of ...any) string {
	parts := make([]string, len(of))
	for i, o := range of {
		parts[i] = fmt.Sprint(o)
	}
	return constructor + "(" + strings.Join(parts, ", ") + ")"
}
