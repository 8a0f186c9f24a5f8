// Package jsonpath finds values in JSON trees by the paths that the columns of custom resources have:
//
//	.spec.name  ['name']            a member; a backslash escapes the next character of its name
//	.*  [*]                         all members or elements
//	..                              a value and all values below it, except empty ones, numbers and booleans
//	[1]  [-1]  [1:3]  [::2]  [0,2]  elements of a list
//	[?(@.type=="Ready")]            the elements of a list that fit; also !=, <, <=, >, >=, and [?(@.type)]
//	"text"  12  1.5  true           constants
//
// The syntax, the results and the words of the errors are those of k8s.io/client-go/util/jsonpath v0.37 with missing
// keys allowed, which kube-apiserver uses. There are three differences: members of objects are found in the order of
// their names; a search ends with an error after a million steps; and "range" is an error. On the server, a path with
// "range" works for the first object at most, because it changes the path.
package jsonpath

import "errors"

// Path is a parsed path. Its methods may be called concurrently.
type Path struct {
	parts []steps
}

// Parse reads a path, without the braces around it.
func Parse(path string) (*Path, error) {
	parts, err := parse(path)
	if err != nil {
		return nil, err
	}
	return &Path{parts}, nil
}

// Find returns the values that the path finds in a tree of package jsontree. A missing member is not an error. The
// numbers that the path itself contains are of type int or float64, and a wildcard finds the bytes of a string.
//
// A path that has closing and opening braces within it, such as ".a}{.b", has several parts. Find returns the values
// of the first part, as a column shows them, and the error of any part.
func (p *Path) Find(v any) ([]any, error) {
	s := &search{left: 1 << 20}
	var first []any
	for i, part := range p.parts {
		out, err := part.find(s, []any{v})
		if err != nil {
			return nil, err
		}
		if i == 0 {
			first = out
		}
	}
	return first, s.spend(0)
}

// search bounds the work of one Find: each ".." or union may multiply the results of the one before.
type search struct {
	left int
}

var errTooMuch = errors.New("the path finds too many values")

func (s *search) spend(n int) error {
	s.left -= n
	if s.left < 0 {
		return errTooMuch
	}
	return nil
}
