package ownership

import (
	"strings"

	"github.com/bowline-go/bowline/internal/fieldset"
)

// unowned returns the fields for which no owner is recorded.
func unowned() *fieldset.Set {
	set := &fieldset.Set{}
	set.Insert("f:apiVersion")
	set.Insert("f:kind")
	set.Insert("f:metadata")
	for _, name := range []string{
		"name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation", "managedFields", "resourceVersion",
	} {
		set.Insert("f:metadata", fieldset.Field(name))
	}
	return set
}

// Part returns the fields of a set that one request can write.
type Part func(*fieldset.Set) *fieldset.Set

// All is the part that contains every field.
func All(s *fieldset.Set) *fieldset.Set { return s }

// Keep returns the part below a path of members.
func Keep(path string) Part {
	return func(s *fieldset.Set) *fieldset.Set {
		var inside func(s *fieldset.Set, names []string) *fieldset.Set
		inside = func(s *fieldset.Set, names []string) *fieldset.Set {
			if len(names) == 0 {
				return s
			}
			key := fieldset.Field(names[0])
			out := &fieldset.Set{}
			if c := inside(s.Child(key), names[1:]); !c.IsEmpty() {
				out.Children = map[string]*fieldset.Set{key: c}
			}
			return out
		}
		return inside(s, strings.Split(path, "."))
	}
}

// Drop returns the part without the fields below paths of members.
func Drop(paths ...string) Part {
	var inside func(s *fieldset.Set, names []string) *fieldset.Set
	inside = func(s *fieldset.Set, names []string) *fieldset.Set {
		if s == nil || len(names) == 0 {
			return nil
		}
		out := &fieldset.Set{Self: s.Self, Children: make(map[string]*fieldset.Set, len(s.Children))}
		for key, c := range s.Children {
			if key == fieldset.Field(names[0]) {
				if c = inside(c, names[1:]); c.IsEmpty() {
					continue
				}
			}
			out.Children[key] = c
		}
		return out
	}
	return func(s *fieldset.Set) *fieldset.Set {
		for _, path := range paths {
			s = inside(s, strings.Split(path, "."))
		}
		return s
	}
}
