// Updates that need no work.

package controller

import (
	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
)

// Changed returns s without the updates for which all of matters return false. Wrap it around the argument of a source:
//
//	controller.Watch(controller.Changed(sites, controller.GenerationChanged, controller.LabelsChanged))
//
// [GenerationChanged], [LabelsChanged], [AnnotationsChanged], [FinalizersChanged], [DeletionBegan] and [VersionChanged]
// are such functions. [And], [Or] and [Not] combine them.
//
// Objects that are added or deleted always pass. That includes objects that exist at the start, and both the deletion
// and the addition of an object that was deleted and created again under its name. An update for which one of matters
// panics also passes; the cache reports the panic.
//
// The old object is the state that was delivered before, even if matters did not let that one pass. At least one of
// matters must return true for an update that changes the keys that [Map] or [Owns] find for the object; otherwise the
// old keys are not named. The functions must depend only on the two objects, and must not change them. They are called
// from one goroutine at a time, in order, until one returns true. Nil functions are left out; without any function,
// every update passes.
func Changed[T meta.Object](s Subscriber[T], matters ...func(old, new T) bool) Subscriber[T] {
	if s == nil || len(withoutNil(matters)) == 0 {
		return s
	}
	return changed[T]{s, Or(matters...)}
}

type changed[T meta.Object] struct {
	Subscriber[T]
	matters func(old, new T) bool
}

func (c changed[T]) Subscribe(h cache.Handler[T]) *cache.Subscription {
	own := changedHandler[T]{h, c.matters}
	if d, ok := h.(deletionHandler[T]); ok {
		return c.Subscriber.Subscribe(changedDeletionHandler[T]{d, own})
	}
	return c.Subscriber.Subscribe(own)
}

// within returns the wrapped source.
func (c changed[T]) within() Subscriber[T] { return c.Subscriber }

// String returns the name of the wrapped source.
func (c changed[T]) String() string { return subject(c.Subscriber) }

// Runner returns the runner that supplies the objects, or nil.
func (c changed[T]) Runner() cache.Runner { return fillerOf(c.Subscriber) }

type changedHandler[T meta.Object] struct {
	cache.Handler[T]
	matters func(old, new T) bool
}

func (h changedHandler[T]) OnUpdate(old, new T) {
	matters := true
	defer func() { // also if matters panics: a needless reconcile is better than a lost update
		if matters {
			h.Handler.OnUpdate(old, new)
		}
	}()
	if a, ok := h.Handler.(interface{ asked(ask func() bool) bool }); ok {
		matters = a.asked(func() bool { return h.matters(old, new) })
		return
	}
	matters = h.matters(old, new)
}

// changedDeletionHandler lets deletions pass.
type changedDeletionHandler[T meta.Object] struct {
	deletionHandler[T]
	changed changedHandler[T]
}

func (h changedDeletionHandler[T]) OnUpdate(old, new T) { h.changed.OnUpdate(old, new) }
