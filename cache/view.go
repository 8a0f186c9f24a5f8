package cache

import "iter"

// Where returns the view of the objects for which match returns true; a nil match selects all.
//
// match must not change the object, and should depend on the object alone. It should be fast, because it is called
// often:
//
//   - Each read calls it, in the goroutine of the reader, for the objects that the read looks at. So an object leaves
//     the view as soon as its new state is in the cache. A panic goes to the caller.
//   - Each subscription calls it in its own goroutine before the handler is called: at most once for each state, and
//     perhaps never for a state that was replaced before its delivery. It is called again only when the object
//     changes. If it panics, the object does not match, and the panic is reported like that of a handler, with "match"
//     as the operation.
//
// The condition of a view of a view is that both match.
func (r Reader[T]) Where(match func(T) bool) Reader[T] {
	switch outer := r.view; {
	case match == nil:
	case outer == nil:
		r.view = &view[T]{match}
	default:
		r.view = &view[T]{func(obj T) bool { return outer.match(obj) && match(obj) }}
	}
	return r
}

// view is a condition. Readers have a pointer to it, so that they can be compared.
type view[T any] struct{ match func(T) bool }

// IsWhole reports whether r has all objects of the cache, that is, whether r is not a view.
func (r Reader[T]) IsWhole() bool { return r.view == nil }

func (r Reader[T]) has(obj T) bool { return r.view == nil || r.view.match(obj) }

// only filters the sequence all: it leaves out the objects that are not in the view.
func (r Reader[T]) only(all iter.Seq[T]) iter.Seq[T] {
	if r.view == nil {
		return all
	}
	return func(yield func(T) bool) {
		for obj := range all {
			if r.has(obj) && !yield(obj) {
				return
			}
		}
	}
}
