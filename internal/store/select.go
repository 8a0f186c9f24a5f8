package store

import (
	"iter"

	"github.com/bowline-go/bowline/client/meta"
)

// OpenLabel is [Index.Open] for the values of a label. Select uses the index.
func OpenLabel[T meta.Labelled](ix *Index[string, T], s *Store[T], label string) {
	ix.Open(s, func(obj T, values []string) []string {
		if value, found := obj.GetLabels()[label]; found {
			values = append(values, value)
		}
		return values
	})
	if s == nil {
		return
	}
	s.write.Lock()
	defer s.unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	ix.label = label
	s.labelled = append(s.labelled, ix)
}

// Select is cache.Select.
func Select[T meta.Labelled](s *Store[T], sel meta.Selector) iter.Seq[T] {
	var wanted []meta.Requirement // an index can answer these
	for _, req := range sel.Requirements() {
		if req.Operator == meta.OpIn {
			wanted = append(wanted, req)
		}
	}
	return func(yield func(T) bool) {
		views := s.viewSelected(wanted)
		for i := range views {
			if !views[i].each(func(obj T) bool { return !sel.Matches(obj.GetLabels()) || yield(obj) }) {
				return
			}
		}
	}
}

// viewSelected returns views of one moment. Together they have every object that meets all wanted requirements, and no
// object twice.
func (s *Store[T]) viewSelected(wanted []meta.Requirement) []view[T] {
	if s == nil {
		return nil
	}
	s.reading("Select", meta.Key{})
	s.mu.RLock()
	defer s.mu.RUnlock()
	s.touch()
	all := s.viewAll()
	var best []rowSet
	fewest := s.all.n + 1
	for _, req := range wanted {
		ix := s.labelIndex(req.Key)
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
	if fewest > s.all.n {
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
