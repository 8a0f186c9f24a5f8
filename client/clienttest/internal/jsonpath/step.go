package jsonpath

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
)

// step finds values in the values of the step before it. A step that fails may also return values: a filter without an
// operator counts them.
type step interface {
	find(s *search, in []any) ([]any, error)
}

// steps are taken one after another.
type steps []step

func (list steps) find(s *search, in []any) ([]any, error) {
	for _, next := range list {
		out, err := next.find(s, in)
		if err == nil {
			err = s.spend(1 + len(in) + len(out))
		}
		if err != nil {
			return out, err
		}
		in = out
	}
	return in, nil
}

// member finds the members of a name.
type member string

func (m member) find(_ *search, in []any) (out []any, _ error) {
	for _, v := range in {
		if o, ok := v.(jsontree.Object); ok {
			if e, found := o[string(m)]; found {
				out = append(out, e)
			}
		}
	}
	return out, nil
}

// wildcard finds all members and elements, and the bytes of strings.
type wildcard struct{}

func (wildcard) find(_ *search, in []any) (out []any, _ error) {
	for _, v := range in {
		if text, ok := v.(string); ok {
			for i := range len(text) {
				out = append(out, text[i])
			}
		}
		out = append(out, inner(v)...)
	}
	return out, nil
}

// inner returns the members of an object, ordered by name, or the elements of a list.
func inner(v any) []any {
	switch v := v.(type) {
	case jsontree.Object:
		out := make([]any, 0, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out = append(out, v[name])
		}
		return out
	case []any:
		return v
	}
	return nil
}

// descent finds the values themselves and all below them: objects, lists and strings that are not empty.
type descent struct{}

func (d descent) find(s *search, in []any) (out []any, err error) {
	for _, v := range in {
		if out, err = d.add(s, out, v); err != nil {
			return out, err
		}
	}
	return out, nil
}

func (d descent) add(s *search, out []any, v any) ([]any, error) {
	below := inner(v)
	if text, _ := v.(string); text == "" && len(below) == 0 {
		return out, nil
	}
	out = append(out, v)
	if err := s.spend(1 + len(below)); err != nil {
		return out, err
	}
	for _, e := range below {
		var err error
		if out, err = d.add(s, out, e); err != nil {
			return out, err
		}
	}
	return out, nil
}

// union finds the values that any of several paths finds.
type union []steps

func (u union) find(s *search, in []any) (out []any, _ error) {
	for _, path := range u {
		found, err := path.find(s, in)
		if err != nil {
			return in, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// part finds elements of lists. If index is true, it finds the element at position from. Otherwise it finds the
// elements from there up to, but not including, position to. Negative positions count from the end.
type part struct {
	index        bool
	from         int
	to, distance *int // nil if they are not given
}

func (p part) find(_ *search, in []any) (out []any, _ error) {
	for _, v := range in {
		if v == nil {
			continue
		}
		list, ok := v.([]any)
		if !ok {
			return in, fmt.Errorf("%T is not array or slice", jsontree.GoValue(v))
		}
		n := len(list)
		from, to, distance := p.from, n, 1
		if p.index {
			to = from + 1
		} else if p.to != nil {
			to = *p.to
		}
		if from < 0 {
			from += n
		}
		if to < 0 || to == 0 && p.index {
			to += n
		}
		if p.distance != nil {
			distance = *p.distance
		}
		switch {
		case from == to:
			return out, nil // as the server, which ignores the other lists
		case from >= n || from < 0:
			return in, fmt.Errorf("array index out of bounds: index %d, length %d", from, n)
		case to > n || to < 0:
			return in, fmt.Errorf("array index out of bounds: index %d, length %d", to-1, n)
		case from > to:
			return in, fmt.Errorf("starting index %d is greater than ending index %d", from, to)
		case distance <= 0:
			return in, errors.New("step must be > 0")
		}
		list = list[from:to]
		for i := 0; i < len(list); i += distance {
			out = append(out, list[i])
		}
	}
	return out, nil
}

// text is one value, no matter how many values the step before it has found.
type text string

func (t text) find(*search, []any) ([]any, error) { return []any{string(t)}, nil }

// constant is a number or a boolean in place of each value.
type constant struct{ value any }

func (c constant) find(_ *search, in []any) ([]any, error) {
	return slices.Repeat([]any{c.value}, len(in)), nil
}

// word is a word that has a meaning only for kubectl, or that is unknown.
type word string

func (w word) find(_ *search, in []any) ([]any, error) {
	if w == "end" {
		return nil, errors.New("not in range, nothing to end")
	}
	return in, fmt.Errorf("unrecognized identifier %v", string(w))
}
