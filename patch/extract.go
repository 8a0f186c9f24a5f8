package patch

import (
	"encoding/json"
	"fmt"

	"github.com/bowline-go/bowline/internal/fieldset"
)

// Extract returns the configuration that the manager has applied to an object, with the values that the object has now: with
// apiVersion, kind, name and namespace, ready to be changed and applied again. If the manager has applied nothing, there is
// nothing else in it. obj is the object as the server sent it: any value that encodes to it, with its metadata.managedFields.
//
// No schema is needed: what the server noted tells how the fields are owned. Elements come in the object's order. Two things are
// not noted. A zero that the server does not write, such as false for hostNetwork, is not given back. And an object that was applied
// empty, and that the server has filled since with defaults, looks like one that is owned whole, and is given back as it is now
// unless somebody else owns a part of it.
//
// It is an error if obj has no managedFields, and if the manager has applied in another version of the API than obj is of.
func Extract(obj any, m FieldManager) (json.RawMessage, error) {
	out, err := extract(obj, m)
	if err != nil {
		return nil, fmt.Errorf("patch.Extract: %w", err)
	}
	return out, nil
}

// whichObject is where an object says what it is, and which.
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
		s, err := fieldsOf(e)
		switch version := textAt(root, "apiVersion"); {
		case !m.owns(e):
			if err == nil { // what cannot be read says nothing about what is the manager's
				others.Add(s)
			}
		case err != nil:
			return nil, err
		case e.APIVersion != version:
			return nil, fmt.Errorf("the manager has applied it as %s, and the object was read as %s; read it as it was applied",
				quote(e.APIVersion), quote(version))
		default:
			own.Add(s)
		}
	}
	out := node{branch: &branch{}}
	for _, names := range whichObject {
		if at, _ := locate(root, names); at != nil && !isZero(at) {
			put(&out, names, *at)
		}
	}
	if part, ok := (&namings{}).owned(root, own, others); ok {
		out = combine(out, part)
	}
	return out.appendTo(nil, 0)
}

// combine adds the members of one object to another.
func combine(to, from node) node {
	for _, m := range from.branch.members {
		at := to.branch.find(string(m.name))
		if at >= 0 && m.value.branch != nil && to.branch.members[at].value.branch != nil {
			combine(to.branch.members[at].value, m.value)
		} else {
			to.branch.set(string(m.name), m.value)
		}
	}
	return to
}

// owned returns the parts of a value that are in a set, and whether there are any. others is what everybody else owns there.
func (k *namings) owned(n *node, s *fieldset.Set, others *fieldset.Set) (part node, found bool) {
	switch {
	case s == nil:
		return node{}, false
	case len(s.Children) > 0:
		switch b := n.open(); {
		case b == nil:
			return node{}, false // it was an object or a list when it was applied
		case b.list:
			return k.ownedElements(b, s, others)
		default:
			return k.ownedMembers(b, s, others)
		}
	case n.kind() == '{' && hasParts(others):
		return node{branch: &branch{}}, s.Self // it is not owned whole, and so was empty
	}
	return *n, s.Self
}

func (k *namings) ownedMembers(b *branch, s *fieldset.Set, others *fieldset.Set) (part node, found bool) {
	out := &branch{}
	for i := range b.members {
		m := b.members[i]
		if m.gone {
			continue
		}
		key := fieldset.Field(string(m.name))
		if m.value, found = k.owned(&m.value, s.Child(key), others.Child(key)); found {
			out.members = append(out.members, m)
		}
	}
	return node{branch: out}, s.Self || len(out.members) > 0
}

func (k *namings) ownedElements(b *branch, s *fieldset.Set, others *fieldset.Set) (part node, found bool) {
	out := &branch{list: true}
	names := k.in(s, others)
	for i := range b.items {
		item := &b.items[i]
		e := names.find(item, i)
		if e == nil {
			continue
		}
		part, found := k.owned(item, e.own, e.others)
		if !found {
			continue
		}
		if e.addKey && part.kind() == '{' {
			part = withKey(part, item, e.members)
		}
		out.items = append(out.items, part)
	}
	return node{branch: out}, s.Self || len(out.items) > 0
}

// withKey adds the members that make up an element's key, without which there is no such element.
func withKey(part node, item *node, key map[string]any) node {
	from := item.open()
	out := &branch{}
	for i := range from.members { // in the order of the element
		m := from.members[i]
		if _, ok := key[string(m.name)]; ok && !m.gone {
			out.members = append(out.members, m)
		}
	}
	return combine(node{branch: out}, part)
}

// hasParts reports whether a set has anything within the place that it is about.
func hasParts(s *fieldset.Set) bool { return s != nil && len(s.Children) > 0 }

// decoded returns a value as a decoder has it, with numbers as json.Number.
func decoded(n *node) any {
	switch n.kind() {
	case '"':
		return string(n.unquoted())
	case '0':
		return json.Number(n.text())
	case 't':
		return true
	case 'f':
		return false
	case 'n':
		return nil
	}
	v, _ := parse("it", n.text())
	return v
}
