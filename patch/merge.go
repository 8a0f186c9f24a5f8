package patch

import (
	"bytes"
	"fmt"

	"github.com/bowline-go/bowline/internal/patch/tree"
)

// ApplyMerge returns the document that doc becomes when the JSON merge patch is applied to it, exactly as RFC 7386 says:
// null removes a member, lists are replaced whole, with the nulls in them, and a patch that is no object replaces the
// document. It is an error if either is not JSON, or beyond the bounds of this package.
//
// Members stay where they are, and new ones follow them. Everything is written as it was, without the white space between.
func ApplyMerge(doc, mergePatch []byte) ([]byte, error) {
	target, change, err := readBoth(doc, "the merge patch", mergePatch)
	if err != nil {
		return nil, err
	}
	return merge(target.Root(), change.Root()).AppendTo(make([]byte, 0, len(doc)+len(mergePatch)), 0)
}

// readBoth reads a document and a patch.
func readBoth(doc []byte, what string, patch []byte) (target, change *tree.Source, err error) {
	if target, err = tree.Read("the document", doc); err == nil {
		if change, err = tree.Read(what, patch); err == nil {
			return target, change, nil
		}
	}
	return nil, nil, fmt.Errorf("patch: %w", err)
}

// merge changes target, if that is an object, or returns what replaces it.
func merge(target, change tree.Node) tree.Node {
	if change.Kind() != '{' {
		return change
	}
	if target.Kind() != '{' {
		if !bytes.Contains(change.Text(), []byte("null")) {
			return change
		}
		target = tree.Node{Branch: &tree.Branch{}}
	}
	object, changes := target.Open(), change.Open()
	for i := range changes.Members {
		m := &changes.Members[i]
		if m.Gone {
			continue
		}
		at := object.Find(string(m.Name))
		switch null := m.Value.Kind() == 'n'; {
		case at >= 0 && null:
			object.Remove(at)
		case at >= 0:
			object.Members[at].Value = merge(object.Members[at].Value, m.Value)
		case !null:
			object.Add(tree.Member{Name: m.Name, Raw: m.Raw, Value: merge(tree.Absent(), m.Value)})
		}
	}
	return target
}
