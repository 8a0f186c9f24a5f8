package patch

import (
	"encoding/json"
	"fmt"

	"github.com/bowline-go/bowline/internal/fieldset"
	"github.com/bowline-go/bowline/internal/patch/tree"
)

// Extract returns the configuration that the manager has applied to an object, with the values that the object has
// now. The configuration has apiVersion, kind, name and namespace, so it can be changed and applied again. If the
// manager has applied nothing, it has only these. obj is the object as the server sent it: any value that encodes to
// it, with its metadata.managedFields.
//
// Extract needs no schema, because managedFields say how each field is owned. Elements come in the object's order. Two
// things are lost, because the server does not record them. First, Extract does not return a zero that the server does
// not write, such as false for hostNetwork. Second, if an object was applied empty and the server has filled in
// defaults since, it looks like an object that is owned whole: Extract returns it as it is now, unless another manager
// owns a part of it.
//
// It is an error if obj has no managedFields, or if the manager has applied in an API version other than that of obj.
func Extract(obj any, m FieldManager) (json.RawMessage, error) {
	out, err := extract(obj, m)
	if err != nil {
		return nil, fmt.Errorf("patch.Extract: %w", err)
	}
	return out, nil
}

// whichObject lists the members that identify an object.
var whichObject = [][]string{{"apiVersion"}, {"kind"}, {"metadata", "name"}, {"metadata", "namespace"}}

func extract(obj any, m FieldManager) (json.RawMessage, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	root, entries, err := readManaged(obj)
	if err != nil {
		return nil, err
	}
	if len(entries) == 0 {
		return nil, errUnmanaged
	}
	own, others := &fieldset.Set{}, &fieldset.Set{}
	for i := range entries {
		e := &entries[i]
		s, err := fieldset.Of(e)
		switch version := textAt(root, "apiVersion"); {
		case !m.owns(e):
			if err == nil { // an entry that cannot be read says nothing about the manager's fields
				others.Add(s)
			}
		case err != nil:
			return nil, err
		case e.APIVersion != version:
			return nil, fmt.Errorf("the manager applied the object as %s, but it was read as %s; read it in the applied version",
				tree.Quote(e.APIVersion), tree.Quote(version))
		default:
			own.Add(s)
		}
	}
	out := tree.Node{Branch: &tree.Branch{}}
	for _, names := range whichObject {
		if at, _ := locate(root, names); at != nil && !at.IsZero() {
			put(&out, names, *at)
		}
	}
	if part, ok := (&namings{}).owned(root, own, others); ok {
		out = combine(out, part)
	}
	return out.AppendTo(nil, 0)
}

// combine adds the members of one object to another.
func combine(to, from tree.Node) tree.Node {
	for _, m := range from.Branch.Members {
		at := to.Branch.Find(string(m.Name))
		if at >= 0 && m.Value.Branch != nil && to.Branch.Members[at].Value.Branch != nil {
			combine(to.Branch.Members[at].Value, m.Value)
		} else {
			to.Branch.Set(string(m.Name), m.Value)
		}
	}
	return to
}

// owned returns the parts of a value that are in a set, and whether there are any. others has the fields within the
// value that other owners own.
func (k *namings) owned(n *tree.Node, s *fieldset.Set, others *fieldset.Set) (part tree.Node, found bool) {
	switch {
	case s == nil:
		return tree.Node{}, false
	case len(s.Children) > 0:
		switch b := n.Open(); {
		case b == nil:
			return tree.Node{}, false // the value was an object or a list when it was applied
		case b.List:
			return k.ownedElements(b, s, others)
		default:
			return k.ownedMembers(b, s, others)
		}
	case n.Kind() == '{' && hasParts(others):
		return tree.Node{Branch: &tree.Branch{}}, s.Self // the object is not owned whole, so it was applied empty
	}
	return *n, s.Self
}

func (k *namings) ownedMembers(b *tree.Branch, s *fieldset.Set, others *fieldset.Set) (part tree.Node, found bool) {
	out := &tree.Branch{}
	for i := range b.Members {
		m := b.Members[i]
		if m.Gone {
			continue
		}
		key := fieldset.Field(string(m.Name))
		if m.Value, found = k.owned(&m.Value, s.Child(key), others.Child(key)); found {
			out.Members = append(out.Members, m)
		}
	}
	return tree.Node{Branch: out}, s.Self || len(out.Members) > 0
}

func (k *namings) ownedElements(b *tree.Branch, s *fieldset.Set, others *fieldset.Set) (part tree.Node, found bool) {
	out := &tree.Branch{List: true}
	names := k.in(s, others)
	for i := range b.Items {
		item := &b.Items[i]
		e := names.find(item, i)
		if e == nil {
			continue
		}
		part, found := k.owned(item, e.own, e.others)
		if !found {
			continue
		}
		if e.addKey && part.Kind() == '{' {
			part = withKey(part, item, e.members)
		}
		out.Items = append(out.Items, part)
	}
	return tree.Node{Branch: out}, s.Self || len(out.Items) > 0
}

// withKey adds the members of an element's key, because an element cannot exist without them.
func withKey(part tree.Node, item *tree.Node, key map[string]any) tree.Node {
	from := item.Open()
	out := &tree.Branch{}
	for i := range from.Members { // the key's members keep the order that they have in the element
		m := from.Members[i]
		if _, ok := key[string(m.Name)]; ok && !m.Gone {
			out.Members = append(out.Members, m)
		}
	}
	return combine(tree.Node{Branch: out}, part)
}

// hasParts reports whether a set has fields below the value that it is about.
func hasParts(s *fieldset.Set) bool { return s != nil && len(s.Children) > 0 }

// decoded returns a value as a decoder does, with numbers as json.Number.
func decoded(n *tree.Node) any {
	switch n.Kind() {
	case '"':
		return string(n.Unquoted())
	case '0':
		return json.Number(n.Text())
	case 't':
		return true
	case 'f':
		return false
	case 'n':
		return nil
	}
	v, _ := tree.Decode("it", n.Text())
	return v
}
