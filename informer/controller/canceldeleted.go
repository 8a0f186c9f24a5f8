// Reconciles that end when their object is deleted.

package controller

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
)

// CancelDeleted returns s, extended so that the deletion of an object ends the contexts of the reconciles that are in
// progress for it. Wrap it around the argument of a source:
//
//	controller.Watch(controller.CancelDeleted(sites))
//
// Without it, a reconcile goes on even if it waits for something that will never come, or does work that is no longer
// needed.
//
// A deletion is the update in which the object gets its deletionTimestamp, or its disappearance, even if it has been
// created again under its name since. The reconciles are those of the keys that the source names for the object: its
// own key with [Watch], or any key with [Map] and [Owns]. The cause of their contexts names the key. A reconcile that
// then returns the error of its context is neither counted as a failure nor reported. The key is always reconciled once
// more.
//
// A reconcile may begin after the cache has the deletion, but before the source learns of it: its context ends too.
//
// CancelDeleted may be within [Changed], or around it. If it is within Changed, it sees every update, and Changed lets
// the update pass in which the deletion begins. T must have a method GetDeletionTimestamp, as every struct that embeds
// meta.ObjectMeta or meta.DeletionMeta has.
func CancelDeleted[T meta.Deletable[D], D meta.Timestamp](s Subscriber[T]) Subscriber[T] {
	if s == nil {
		return s
	}
	return cancelDeleted[T]{s, DeletionBegan[T, D]}
}

// deletedError is the cause of the context of a reconcile whose object has been deleted; see [CancelDeleted].
type deletedError struct{ key any }

func (e *deletedError) Error() string {
	return fmt.Sprintf("the object of %q has been deleted", fmt.Sprint(e.key))
}

// deleted reports whether a reconcile failed because its object was deleted.
func deleted(ctx context.Context, err error) bool {
	d, ok := errors.AsType[*deletedError](context.Cause(ctx))
	return ok && !isPanic(err) && (errors.Is(err, ctx.Err()) || errors.Is(err, d))
}

type cancelDeleted[T meta.Object] struct {
	Subscriber[T]
	began func(old, new T) bool
}

func (c cancelDeleted[T]) Subscribe(h cache.Handler[T]) *cache.Subscription {
	if d, ok := h.(deletionHandler[T]); ok {
		d.watchDeletions()
		h = cancelHandler[T]{d, c.began}
	}
	return c.Subscriber.Subscribe(h)
}

// within returns the wrapped source.
func (c cancelDeleted[T]) within() Subscriber[T] { return c.Subscriber }

// String returns the name of the wrapped source.
func (c cancelDeleted[T]) String() string { return subject(c.Subscriber) }

// Runner returns the runner that supplies the objects, or nil.
func (c cancelDeleted[T]) Runner() cache.Runner { return fillerOf(c.Subscriber) }

// deletionHandler is a handler that receives deletions.
type deletionHandler[T any] interface {
	cache.Handler[T]
	// TakeEveryState makes the cache call the handler for every state.
	TakeEveryState()
	// watchDeletions is called before any other method.
	watchDeletions()
	// asked calls ask, a function of the program, and returns its result.
	asked(ask func() bool) bool
	// onDeletionBegan replaces OnUpdate, and onGone OnDelete.
	onDeletionBegan(old, new T)
	onGone(obj T)
}

// cancelHandler passes deletions to the handler of a source.
type cancelHandler[T any] struct {
	deletionHandler[T]
	began func(old, new T) bool
}

func (h cancelHandler[T]) OnUpdate(old, new T) {
	if h.began(old, new) {
		h.onDeletionBegan(old, new)
	} else {
		h.deletionHandler.OnUpdate(old, new)
	}
}

func (h cancelHandler[T]) OnDelete(obj T) { h.onGone(obj) }

// deletions are the reconciles in progress that end when their object is deleted.
type deletions[K comparable] struct {
	watched atomic.Bool // a source reports deletions

	mu      sync.Mutex // guards running
	running map[K]context.CancelCauseFunc
}

// enter implements gate: the context of the reconcile ends when its object is deleted.
func (d *deletions[K]) enter(outer context.Context, v *visit[K]) (context.Context, func(), bool) {
	if !d.watched.Load() {
		return outer, nil, true
	}
	ctx, cancel := context.WithCancelCause(outer)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.running == nil {
		d.running = make(map[K]context.CancelCauseFunc)
	}
	d.running[v.key] = cancel
	return ctx, func() {
		d.mu.Lock()
		delete(d.running, v.key)
		d.mu.Unlock()
		v.interrupted = v.interrupted || deleted(ctx, v.end.Err) // the key has been added
		cancel(nil)
	}, true
}

// deleted ends the reconcile of key that is in progress, if any. The caller adds the key afterwards: if it did so
// before, a worker might take the key in between, and deleted would end a reconcile that has seen the deletion.
func (d *deletions[K]) deleted(key K) {
	d.mu.Lock()
	cancel := d.running[key]
	d.mu.Unlock()
	if cancel != nil {
		cancel(&deletedError{key})
	}
}
