package cache

import (
	"iter"

	"github.com/bowline-go/bowline/client/meta"
)

// NewLabelIndex indexes the objects of r by their value of one label, as [NewIndex] does; an object without the label has
// no value. [Select] uses it. T must have a method GetLabels, as every struct has that embeds [meta.ObjectMeta] or
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

// Select loops over the objects of r whose labels match the selector, in no particular order. Each loop runs over the
// objects that exist when it starts, without holding a lock.
//
// If the selector requires a label to equal a value, or one of several, and there is a [NewLabelIndex] of that label,
// Select looks only at the objects that the index finds. If there are several such labels, it uses the one with the fewest
// objects. Otherwise it looks at all objects.
//
// T must have a method GetLabels, as every struct has that embeds [meta.ObjectMeta] or [meta.LabelMeta]. Select is a
// function for this reason: a method could not refuse a type without labels, and would match nothing.
func Select[T meta.Labelled](r Reader[T], sel meta.Selector) iter.Seq[T] {
	var wanted []meta.Requirement // an index can answer these
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

// viewSelected returns views of one moment. Together they have every object that meets all wanted requirements, and no
// object twice.
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
		// The values of a requirement are distinct, and an object has at most one of them.
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
