// Sources whose keys are converted to another type.

package controller

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/workqueue"
)

// MapKeys returns s with keys of another type: where s names key, it names to(key). With it, sources of objects of
// several clusters or kinds feed one controller, whose keys name their cluster or kind; package informer/clusters does
// that for clusters. Everything else stays as it is: priorities, the informers that s needs, and the effects of
// [CancelDeleted], [Fresh] and Hooks.Named.
//
// The name, unless it is empty, precedes that of s in errors and in the status. from is the inverse of to, and returns
// false for keys that s cannot name. It is used for Options.Shards by uid, and for a source that lacks namespaces; it
// may be nil without Shards. Both functions must be quick, always return the same for a key, and be safe for use by
// several goroutines at once. MapKeys returns nil if s is nil.
func MapKeys[K, J comparable](name string, s Source[J], to func(J) K, from func(K) (J, bool)) Source[K] {
	if s == nil {
		return nil
	}
	return &rekeyed[K, J]{name: name, of: s, to: to, from: from}
}

type rekeyed[K, J comparable] struct {
	name string
	of   Source[J]
	to   func(J) K
	from func(K) (J, bool)
}

func (r *rekeyed[K, J]) String() string {
	if r.name == "" {
		return nameOf(r.of)
	}
	return r.name + ": " + nameOf(r.of)
}

func (r *rekeyed[K, J]) isPartial() bool { return asPartial(r.of) != nil }

func (r *rekeyed[K, J]) waitsIn(namespace string, all bool) bool {
	return r.of.(partial).waitsIn(namespace, all)
}

func (r *rekeyed[K, J]) waits(k K, all bool) bool {
	if r.from == nil {
		ns, _ := namespaceOf(k)
		return r.waitsIn(ns, all)
	}
	j, ok := r.from(k)
	return ok && waits(r.of.(partial), j, all)
}

func (r *rekeyed[K, J]) Unsynced() error { return whyUnsynced(r.of) }

func (r *rekeyed[K, J]) Runners() []runner {
	if n, ok := r.of.(needy); ok {
		return n.Runners()
	}
	return nil
}

func (r *rekeyed[K, J]) fresh() []Cache { return freshOf(r.of) }

var errNoKeyFunction = errors.New("controller.MapKeys: to must not be nil")

func (r *rekeyed[K, J]) owns() bool      { return ownsOf(r.of) }
func (r *rekeyed[K, J]) namesNone() bool { return namesNone(r.of) }

// narrow marks a source that may look up some of the controller's keys only.
func (r *rekeyed[K, J]) narrow() {}

func (r *rekeyed[K, J]) Run(ctx context.Context, add func(K), synced func()) error {
	if r.to == nil {
		return errNoKeyFunction
	}
	return r.of.Run(ctx, func(j J) { add(r.to(j)) }, synced)
}

func (r *rekeyed[K, J]) run(ctx context.Context, to sink[K]) error {
	if r.to == nil {
		return errNoKeyFunction
	}
	inner := sink[J]{
		add: func(j J) { to.add(r.to(j)) }, low: func(j J) { to.low(r.to(j)) },
		with:   func(j J, o workqueue.AddOptions) { to.with(r.to(j), o) },
		synced: to.synced, partly: to.partly, arrived: to.arrived, watchDeletions: to.watchDeletions, calls: to.calls,
	}
	if to.deleted != nil {
		inner.deleted = func(j J) { to.deleted(r.to(j)) }
	}
	if to.gone != nil {
		inner.gone = func(j J, obj meta.Object) { to.gone(r.to(j), obj) }
	}
	if to.named != nil {
		inner.named = func(j J, object meta.Key, version, previous string) { to.named(r.to(j), object, version, previous) }
	}
	return runOf(ctx, r.of, inner)
}

// runOf runs a source by its most expressive method.
func runOf[K comparable](ctx context.Context, s Source[K], to sink[K]) error {
	if s, ok := s.(fed[K]); ok {
		return s.run(ctx, to)
	}
	to.enter() // its Run is a function of the program
	defer to.leave()
	switch s := s.(type) {
	case prioritised[K]:
		return s.RunWith(ctx, to.with, to.synced)
	}
	return s.Run(ctx, to.add, to.synced)
}

func (r *rekeyed[K, J]) lookup(by meta.ShardBy) error {
	p, ok := r.of.(primary[J])
	if !ok {
		return fmt.Errorf("%T must look up objects, as a source Watch does", r.of)
	}
	if r.from == nil {
		return errors.New("controller.MapKeys: from must not be nil")
	}
	return p.lookup(by)
}

func (r *rekeyed[K, J]) find(k K) meta.Object {
	if j, ok := r.from(k); ok {
		return r.of.(primary[J]).find(j)
	}
	return nil
}

func (r *rekeyed[K, J]) each() iter.Seq2[K, meta.Object] {
	return func(yield func(K, meta.Object) bool) {
		for j, obj := range r.of.(primary[J]).each() {
			if !yield(r.to(j), obj) {
				return
			}
		}
	}
}
