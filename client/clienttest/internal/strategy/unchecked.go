package strategy

import (
	_ "embed" // for unchecked.txt
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
)

// uncheckedText has a line for each field whose rules this package does not have, or not all of them: the kind and the
// path of the field, or the kind alone. A test in internal/proof/e2e compares it with a real server, and writes it.
//
//go:embed unchecked.txt
var uncheckedText string

// uncheckedFields reads unchecked.txt: the paths of the fields, by kind.
func uncheckedFields() map[string][][]string {
	fields := make(map[string][][]string)
	for line := range strings.Lines(uncheckedText) {
		kind, path, _ := strings.Cut(strings.TrimSpace(line), " ")
		fields[kind] = append(fields[kind], strings.FieldsFunc(path, func(r rune) bool { return r == '.' }))
	}
	return fields
}

// Unchecked returns the fields of an object whose rules are not checked, or not all of them, such as "Pod
// spec.resourceClaims". A kind without rules is itself in the list.
func (s *Strategy) Unchecked(kind string, object jsontree.Object) (fields []string) {
	for _, path := range s.unchecked[kind] {
		if has(object, path) {
			fields = append(fields, strings.TrimSpace(kind+" "+strings.Join(path, ".")))
		}
	}
	return fields
}

// has reports whether a value, or an element of a list, has the field at a path. A path does not have the keys of maps.
func has(v any, path []string) bool {
	switch v := v.(type) {
	case nil:
		return false
	case []any:
		for _, e := range v {
			if has(e, path) {
				return true
			}
		}
		return false
	case jsontree.Object:
		return len(path) == 0 || has(v[path[0]], path[1:])
	}
	return len(path) == 0
}
