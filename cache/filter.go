package cache

import (
	"iter"

	"github.com/bowline-go/bowline/client/meta"
)

// Filtered is the view of the objects of a cache that meet a condition. It reads like a [Reader], and has subscribers like one. It is a
// small value, made by [Reader.Where]; copies are the same view. The zero Filtered has no objects.
type Filtered[T meta.Object] struct {
	r     Reader[T]
	match func(T) bool
}

// Where returns the view of the objects for which match returns true; a nil match selects all.
//
// match must not change the object, and should depend on the object alone. It should be fast, because it is called often:
//
//   - A read calls it in the goroutine of the reader, for the objects that the read looks at, each time. So a read sees an object
//     leave the view at the moment at which its new state is in the cache. A panic goes to the caller.
//   - Subscriptions call it, each in its goroutine, before the handler is called: at most once for each state, and not
//     for all states that were replaced before. It is called again only when the object changes. If it panics, the object does not match,
//     and the panic is reported like that of a handler, with "match" as the operation.
//
// A view has no indexes of its own: let the function of [NewIndex] return no value for an object that does not match.
func (r Reader[T]) Where(match func(T) bool) Filtered[T] { return Filtered[T]{r, match} }

// Where returns the view of the objects of f for which match returns true too.
func (f Filtered[T]) Where(match func(T) bool) Filtered[T] {
	if f.match == nil || match == nil {
		if match == nil {
			match = f.match
		}
		return Filtered[T]{f.r, match}
	}
	outer := f.match
	return Filtered[T]{f.r, func(obj T) bool { return outer(obj) && match(obj) }}
}

// IsWhole reports whether the view has all objects of the cache, because its condition is nil.
func (f Filtered[T]) IsWhole() bool { return f.match == nil }

// Get returns the object at k if it is in the view, and whether it is. The object is shared: use [meta.Clone] before changing it.
func (f Filtered[T]) Get(k meta.Key) (obj T, found bool) {
	if obj, found = f.r.Get(k); found && !f.has(obj) {
		var none T
		return none, false
	}
	return obj, found
}

// All loops over the objects of the view, as [Reader.All] does over all; it looks at all of them.
func (f Filtered[T]) All() iter.Seq[T] { return f.only(f.r.All()) }

// Namespace loops over the objects of one namespace that are in the view; see [Reader.Namespace].
func (f Filtered[T]) Namespace(ns string) iter.Seq[T] { return f.only(f.r.Namespace(ns)) }

// Sorted loops over the objects of the view in the order of their keys; see [Reader.Sorted].
func (f Filtered[T]) Sorted() iter.Seq[T] { return f.only(f.r.Sorted()) }

// Len returns how many objects are in the view. It looks at all objects of the cache.
func (f Filtered[T]) Len() (n int) {
	if f.match == nil {
		return f.r.Len()
	}
	for range f.All() {
		n++
	}
	return n
}

// ResourceVersion returns the version that the cache is current to; see [Reader.ResourceVersion].
func (f Filtered[T]) ResourceVersion() string { return f.r.ResourceVersion() }

// Objects is what a [Reader] and a view of it ([Filtered]) have in common, for functions that read either.
type Objects[T meta.Object] interface {
	Get(k meta.Key) (obj T, found bool)
	All() iter.Seq[T]
	Namespace(ns string) iter.Seq[T]
	Sorted() iter.Seq[T]
	Len() int
	ResourceVersion() string
	Subscribe(h Handler[T]) *Subscription
	Runner() Runner
}

func (f Filtered[T]) has(obj T) bool { return f.match == nil || f.match(obj) }

// only returns the objects of all that are in the view.
func (f Filtered[T]) only(all iter.Seq[T]) iter.Seq[T] {
	return func(yield func(T) bool) {
		for obj := range all {
			if f.has(obj) && !yield(obj) {
				return
			}
		}
	}
}

// Subscribe registers h for the objects that match and their changes, as [Reader.Subscribe] does for all objects. An
// object that begins to match arrives as OnAdd, and one that ceases to match as OnDelete. The guarantees of the package
// hold for the objects that match; so the old object of an OnUpdate is the one that h received last, which matched.
//
// OnDelete receives the newest known state of the object: the final one if it was deleted, and the one that no longer
// matches if it still exists.
//
// Objects that do not match pass through the subscription too: Backlog counts them until match has been called. A change
// of one costs about a tenth of a delivery. A filtered subscription remembers the objects that its handler knows, at
// about 20 bytes each.
func (f Filtered[T]) Subscribe(h Handler[T]) *Subscription {
	if h == nil {
		h = HandlerFuncs[T]{}
	}
	return &Subscription{f.r.Behind().Subscribe(h, f.match)}
}

// Runner returns what fills the cache, or nil if the reader of the view does not know.
func (f Filtered[T]) Runner() Runner { return f.r.Runner() }
