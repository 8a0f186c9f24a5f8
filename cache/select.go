package cache

import (
	"iter"

	"github.com/bowline-go/bowline/client/meta"
)

// NewLabelIndex indexes the objects of r by their value of one label, as [NewIndex] does; an object without the label is
// under none. [Select] uses it. T must have a method GetLabels, as every struct has that embeds [meta.ObjectMeta] or
// [meta.LabelMeta].
func NewLabelIndex[T meta.Labelled](r Reader[T], label string) *Index[string, T] {
	ix := &Index[string, T]{s: r.s, label: label, by: func(obj T, values []string) []string {
		if value, found := obj.GetLabels()[label]; found {
			values = append(values, value)
		}
		return values
	}}
	if r.s == nil {
		return ix
	}
	r.s.write.Lock()
	defer r.s.unlock()
	ix.fill()
	r.s.indexes = append(r.s.indexes, ix)
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.s.labelled = append(r.s.labelled, ix)
	return ix
}

// Select loops over the objects of r whose labels the selector matches, in no particular order. Each loop runs over the objects
// that are there when it starts, without holding a lock.
//
// Where the selector wants a label to be equal to a value, or to one of several, and there is a [NewLabelIndex] of that
// label, only the objects that it names are looked at; of several such labels, those of the one with the fewest. Otherwise
// all objects are.
//
// T must have a method GetLabels, as every struct has that embeds [meta.ObjectMeta] or [meta.LabelMeta]. That is why Select is a
// function: a method could not refuse a type without labels, and would match nothing.
func Select[T meta.Labelled](r Reader[T], sel meta.Selector) iter.Seq[T] {
	var wanted []meta.Requirement // those that an index can answer
	for _, req := range sel.Requirements() {
		if req.Operator == meta.OpIn {
			wanted = append(wanted, req)
		}
	}
	return func(yield func(T) bool) {
		views := r.viewSelected(wanted)
		for i := range views {
			if !views[i].each(func(obj T) bool { return !sel.Matches(obj.GetLabels()) || yield(obj) }) {
				return
			}
		}
	}
}

// viewSelected returns views, of one moment, that no object is in twice and every object is in that meets all wanted.
func (r Reader[T]) viewSelected(wanted []meta.Requirement) []view[T] {
	if r.s == nil {
		return nil
	}
	r.s.reading("Select", meta.Key{})
	r.s.mu.RLock()
	defer r.s.mu.RUnlock()
	r.s.touch()
	all := r.s.all.view()
	var best []rowSet
	fewest := r.s.all.n + 1
	for _, req := range wanted {
		ix := r.s.labelIndex(req.Key)
		if ix == nil {
			continue
		}
		// The values of a requirement are distinct, and an object has one of them at most.
		sets, n := make([]rowSet, len(req.Values)), 0
		for i, value := range req.Values {
			sets[i] = ix.buckets.rows(value)
			n += sets[i].len()
		}
		if n < fewest {
			best, fewest = sets, n
		}
	}
	if fewest > r.s.all.n {
		return []view[T]{all}
	}
	views := make([]view[T], len(best))
	for i, set := range best {
		views[i] = all.only(set)
	}
	return views
}

// labelIndex returns an index of label, or nil. The caller holds mu.
func (s *Store[T]) labelIndex(label string) *Index[string, T] {
	for _, ix := range s.labelled {
		if ix.label == label {
			return ix
		}
	}
	return nil
}
