package strategic

import (
	"bytes"

	"github.com/bowline-go/bowline/internal/patch/tree"
)

// checkNulls returns an error if an object in new that old does not have has a member that is null. A merge patch with
// it leaves the member out, although the members of a map, and of an object of which nothing is known, are there with
// null. A member that the shape knows is the same to a server whether it is null or absent, and so is the zero time as
// Go programs write it.
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
