package strategic

import (
	"bytes"

	"github.com/bowline-go/bowline/internal/patch/tree"
)

// checkNulls returns an error if new has an object that old lacks and a member of that object is null. A merge patch
// cannot set such a member, but in a map, or in an object without a known schema, a null member differs from an absent
// one. A server makes no such difference for a member that the shape knows, nor for the zero time as Go programs write
// it.
func checkNulls(old, new *tree.Node, s *Shape, at *place) error {
	if new.Kind() != '{' || new.Branch == nil && !bytes.Contains(new.Text(), []byte("null")) {
		return nil
	}
	object := new.Open()
	for i := range object.Members {
		m := &object.Members[i]
		if m.Gone {
			continue
		}
		known := false
		if s != nil {
			_, known = s.members[string(m.Name)]
		}
		var was *tree.Node
		if old != nil && old.Kind() == '{' {
			if j := old.Open().FindFrom(i, string(m.Name)); j >= 0 {
				was = &old.Open().Members[j].Value
			}
		} else if m.Value.Kind() == 'n' && !known && string(m.Name) != "creationTimestamp" {
			return at.member(m.Name).fault(theNew, tree.ErrNull, "it is null in an object that %s does not have, and no merge patch can set that", theOld)
		}
		if err := checkNulls(was, &m.Value, s.member(m.Name).Shape, at.member(m.Name)); err != nil {
			return err
		}
	}
	return nil
}
