package jsonpath

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
)

// filter finds the elements of lists for which the operator holds between the left and the right value. Without an
// operator, it finds the elements that have a left value.
type filter struct {
	left, right steps
	operator    string
}

func (f filter) find(s *search, in []any) (out []any, _ error) {
	for _, v := range in {
		list, ok := v.([]any)
		if !ok {
			return in, notListError{v}
		}
		for _, e := range list {
			if f.operator == "" {
				// As on the server, an error does not matter.
				if found, _ := f.left.find(s, []any{e}); len(found) > 0 {
					out = append(out, e)
				}
				continue
			}
			left, found, err := single(s, f.left, e)
			var right any
			if found {
				right, found, err = single(s, f.right, e)
			}
			if err != nil {
				return in, err
			}
			if !found {
				continue
			}
			fits, err := compare(left, f.operator, right)
			if err != nil {
				return in, err
			}
			if fits {
				out = append(out, e)
			}
		}
	}
	return out, nil
}

// single returns the value that a path finds, if there is one.
func single(s *search, path steps, v any) (is any, found bool, _ error) {
	values, err := path.find(s, []any{v})
	switch {
	case err != nil || len(values) == 0:
		return nil, false, err
	case len(values) > 1:
		return nil, false, errors.New("can only compare one element at a time")
	}
	return values[0], true, nil
}

// notListError prints the value only if somebody reads the error.
type notListError struct{ value any }

func (e notListError) Error() string {
	return fmt.Sprintf("%v is not array or slice and cannot be filtered", jsontree.GoValue(e.value))
}

// operators say for which orders of two values each operator holds.
var operators = map[string]func(order int) bool{
	"==": func(order int) bool { return order == 0 },
	"!=": func(order int) bool { return order != 0 },
	"<":  func(order int) bool { return order < 0 },
	"<=": func(order int) bool { return order <= 0 },
	">":  func(order int) bool { return order > 0 },
	">=": func(order int) bool { return order >= 0 },
}

var (
	errIncomparable = errors.New("invalid type for comparison")
	errIncompatible = errors.New("incompatible types for comparison")
)

// compare compares scalars of the same type; an integer and a floating-point number have different types.
func compare(left any, operator string, right any) (bool, error) {
	fits := operators[operator]
	if fits == nil {
		return false, fmt.Errorf("unrecognized filter operator %s", operator)
	}
	left, right = operand(left), operand(right)
	if left == nil || right == nil {
		return false, errIncomparable
	}
	order, same := 0, false
	switch l := left.(type) {
	case int64:
		order, same = ordered(l, right)
	case float64:
		order, same = ordered(l, right)
	case string:
		order, same = ordered(l, right)
	case bool:
		if _, same = right.(bool); same && operator != "==" && operator != "!=" {
			return false, errIncomparable
		}
		if l != right {
			order = 1
		}
	}
	if !same {
		return false, errIncompatible
	}
	return fits(order), nil
}

// ordered returns the order of two values if the second has the type of the first.
func ordered[T cmp.Ordered](left T, right any) (order int, same bool) {
	r, same := right.(T)
	return cmp.Compare(left, r), same
}

// operand returns a scalar with its numbers as int64 or float64, and nil for null, lists and objects.
func operand(v any) any {
	switch v := v.(type) {
	case byte:
		return int64(v)
	case int:
		return int64(v)
	case []any, jsontree.Object:
		return nil
	}
	return jsontree.GoValue(v)
}
