package cache

import (
	"iter"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/store"
)

// Index finds the objects of a cache by a value: pods by node, objects by owner, certificates by the secrets that they
// name. The cache updates it in the same step as the objects, so the two never disagree.
//
// It costs 14 bytes per object and value, plus about 80 for each value; an object with several values costs about 60
// more. An update that changes no value of an object does not touch the index. All methods may be called from any
// goroutine. The zero Index is empty and stays empty.
type Index[K comparable, T meta.Object] struct {
	index store.Index[K, T]
}

// NewIndex indexes the objects of r by the values that by returns for each: none, one or several; duplicates count
// once. The index covers the objects that exist when it returns, and all later changes until [Index.Close].
//
// The index of a view has the objects that match; the same rules apply to the view's condition.
//
// The cache calls by in the middle of a write, once for each state of an object. by must not change the object, call
// Subscribe, NewIndex or Close, or block. Its result is copied. A value that is not equal to itself, such as a
// floating-point NaN, is not indexed, because no lookup could find it. If by panics, the write panics too, and the
// cache does not change.
//
// [NewValueIndex] is simpler and faster where each object has one value.
func NewIndex[K comparable, T meta.Object](r Reader[T], by func(T) []K) *Index[K, T] {
	ix := new(Index[K, T])
	ix.index.Open(r.Behind(), func(obj T, values []K) []K {
		if !r.has(obj) {
			return values
		}
		return append(values, by(obj)...)
	})
	return ix
}

// NewValueIndex indexes the objects of r by one value of each: pods by node, with unscheduled pods under "". Every
// object of r is under the one value that by returns for it, which may be the zero K. The other rules are those of
// [NewIndex]. An update that does not change the value allocates nothing, unless by does.
func NewValueIndex[K comparable, T meta.Object](r Reader[T], by func(T) K) *Index[K, T] {
	ix := new(Index[K, T])
	ix.index.Open(r.Behind(), func(obj T, values []K) []K {
		if !r.has(obj) {
			return values
		}
		return append(values, by(obj))
	})
	return ix
}

// NewLabelIndex indexes the objects of r by their value of one label, as [NewIndex] does; an object without the label
// has no value. [Select] uses it, unless r is a view. T must have a method GetLabels; every struct that embeds
// [meta.ObjectMeta] or [meta.LabelMeta] has one.
func NewLabelIndex[T meta.Labelled](r Reader[T], label string) *Index[string, T] {
	if r.view != nil {
		return NewIndex(r, func(obj T) []string {
			if value, found := obj.GetLabels()[label]; found {
				return []string{value}
			}
			return nil
		})
	}
	ix := new(Index[string, T])
	store.OpenLabel(&ix.index, r.Behind(), label)
	return ix
}

// Close ends the index: it is no longer updated, and reads of it are empty. A loop in progress continues over the
// objects that existed when it started. Close may be called at any time, also from a handler and from the body of a
// loop, but not from an index function. A second Close does nothing.
func (ix *Index[K, T]) Close() { ix.index.Close() }

// Get loops over the objects with the value k, in no particular order. Each loop runs over the objects that have the
// value when the loop starts, without holding a lock.
func (ix *Index[K, T]) Get(k K) iter.Seq[T] { return ix.index.Get(k) }

// Len returns how many objects have the value k.
func (ix *Index[K, T]) Len(k K) int { return ix.index.Len(k) }

// Keys loops over the values that at least one object has, in no particular order. Each loop runs over a copy of them.
func (ix *Index[K, T]) Keys() iter.Seq[K] { return ix.index.Keys() }

// Select loops over the objects of r whose labels match the selector, in no particular order. Each loop runs over the
// objects that exist when it starts, without holding a lock.
//
// If the selector requires a label to equal a value, or one of several, and there is a [NewLabelIndex] of that label,
// Select looks only at the objects that the index finds. If there are several such labels, it uses the one with the
// fewest objects. Otherwise it looks at all objects.
//
// T must have a method GetLabels; every struct that embeds [meta.ObjectMeta] or [meta.LabelMeta] has one. Select is a
// function for this reason: a method could not refuse a type without labels, and would match nothing.
func Select[T meta.Labelled](r Reader[T], sel meta.Selector) iter.Seq[T] {
	return r.only(store.Select(r.Behind(), sel))
}
