package patch

import (
	"bytes"
	"fmt"

	"github.com/bowline-go/bowline/internal/patch/tree"
)

// ApplyMerge applies a JSON merge patch to doc, exactly as RFC 7386 says, and returns the new document: null removes a
// member, a list replaces the whole list, with its nulls, and a patch that is not an object replaces the document. It
// is an error if either is not JSON, or is beyond the bounds of this package.
//
// Members stay in their place, and new ones follow them. Everything that stays is written as it was, without white
// space.
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

// merge changes target, if it is an object, or returns its replacement.
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
