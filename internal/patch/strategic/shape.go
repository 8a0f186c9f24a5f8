package strategic

import (
	"fmt"
	"strings"
)

// Shape describes one kind of value. A shape may contain itself. Nil means that nothing is known about the value.
type Shape struct {
	members map[string]Field // of an object with known members
	values  *Shape           // of every value of a map
	items   *Shape           // the shape of every item of a list
}

// Field says how a member is changed.
type Field struct {
	Shape    *Shape
	Merge    bool   // a list is merged, not replaced
	Replace  bool   // an object is replaced, not merged
	Retain   bool   // a patch lists the members that stay
	MergeKey string // the member that distinguishes the items of a list; empty if they are not objects
}

// member returns how a member is changed. An unknown member is plain JSON.
func (s *Shape) member(name []byte) Field {
	if s == nil {
		return Field{}
	}
	if f, ok := s.members[string(name)]; ok {
		return f
	}
	return Field{Shape: s.values}
}

// item returns the shape of the items of the list s. If the schema says that s is an object, a server treats a list
// there as a list of such objects.
func (s *Shape) item() *Shape {
	if s == nil || s.items == nil {
		return s
	}
	return s.items
}

// strategies sets how a member is changed from the text of a tag or an extension: merge, replace or retainKeys, or one
// of the first two and retainKeys, separated by a comma.
func (f *Field) strategies(text string) error {
	words := strings.Split(text, ",")
	seen := 0
	for _, word := range words {
		switch word {
		case "retainKeys":
			f.Retain = true
			continue
		case "merge":
			f.Merge = true
		case "replace":
			f.Replace = true
		case "":
		default:
			return fmt.Errorf("patch strategy %q must be merge, replace or retainKeys, or retainKeys and one of the others", text)
		}
		seen++
	}
	if seen > 1 || len(words) > 2 {
		return fmt.Errorf("patch strategy %q must be merge, replace or retainKeys, or retainKeys and one of the others", text)
	}
	return nil
}

// At returns how the member at a path is changed, and whether that is known. The path has no step for a list.
func (s *Shape) At(path []string) (found Field, ok bool) {
	for _, name := range path {
		for s != nil && s.items != nil {
			s = s.items
		}
		if s == nil {
			return Field{}, false
		}
		f, ok := s.members[name]
		if !ok && s.values == nil {
			return Field{}, false
		} else if !ok {
			f = Field{Shape: s.values}
		}
		s, found = f.Shape, f
	}
	return found, len(path) > 0
}
