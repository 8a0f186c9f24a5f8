package patch

import (
	"fmt"
	"strings"
)

// shape is what is known of one kind of value. A shape may lead back to itself. Nil knows nothing.
type shape struct {
	members map[string]field // of an object with members of its own
	values  *shape           // of every value of a map
	items   *shape           // of every item of a list
}

// field is how a member is changed.
type field struct {
	shape    *shape
	merge    bool   // a list is merged, not replaced
	replace  bool   // an object is replaced, not merged
	retain   bool   // a patch of it says which members stay
	mergeKey string // the member that tells the items of a list apart; empty where they are no objects
}

// member returns how a member is changed. What is not known is plain JSON.
func (s *shape) member(name []byte) field {
	if s == nil {
		return field{}
	}
	if f, ok := s.members[string(name)]; ok {
		return f
	}
	return field{shape: s.values}
}

// item is the shape of the items of the list that s is. A server takes a list where the schema has an object for a list of such.
func (s *shape) item() *shape {
	if s == nil || s.items == nil {
		return s
	}
	return s.items
}

// strategies sets how a member is changed from the text of a tag or an extension: merge, replace or retainKeys, or one of the
// first two and retainKeys, with a comma.
func (f *field) strategies(text string) error {
	words := strings.Split(text, ",")
	seen := 0
	for _, word := range words {
		switch word {
		case "retainKeys":
			f.retain = true
			continue
		case "merge":
			f.merge = true
		case "replace":
			f.replace = true
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

// at returns how the member at a path is changed, and whether that is known. The path goes through lists without a step.
func (s *shape) at(path []string) (found field, ok bool) {
	for _, name := range path {
		for s != nil && s.items != nil {
			s = s.items
		}
		if s == nil {
			return field{}, false
		}
		f, ok := s.members[name]
		if !ok && s.values == nil {
			return field{}, false
		} else if !ok {
			f = field{shape: s.values}
		}
		s, found = f.shape, f
	}
	return found, len(path) > 0
}
