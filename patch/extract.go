package patch

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

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
	if part, ok := owned(root, own, others); ok {
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
func owned(n *node, s *fieldset.Set, others *fieldset.Set) (part node, found bool) {
	switch {
	case s == nil:
		return node{}, false
	case len(s.Children) > 0:
		switch b := n.open(); {
		case b == nil:
			return node{}, false // it was an object or a list when it was applied
		case b.list:
			return ownedElements(b, s, others)
		default:
			return ownedMembers(b, s, others)
		}
	case n.kind() == '{' && hasParts(others):
		return node{branch: &branch{}}, s.Self // it is not owned whole, and so was empty
	}
	return *n, s.Self
}

func ownedMembers(b *branch, s *fieldset.Set, others *fieldset.Set) (part node, found bool) {
	out := &branch{}
	for i := range b.members {
		m := b.members[i]
		if m.gone {
			continue
		}
		key := fieldset.Field(string(m.name))
		if m.value, found = owned(&m.value, s.Child(key), others.Child(key)); found {
			out.members = append(out.members, m)
		}
	}
	return node{branch: out}, s.Self || len(out.members) > 0
}

func ownedElements(b *branch, s *fieldset.Set, others *fieldset.Set) (part node, found bool) {
	out := &branch{list: true}
	names := namesIn(s)
	for i := range b.items {
		item := &b.items[i]
		key, c := names.find(s, item, i)
		part, found := owned(item, c, others.Child(key))
		if !found {
			continue
		}
		if members, keyed := fieldset.Members(key); keyed && part.kind() == '{' {
			part = withKey(part, item, members, c)
		}
		out.items = append(out.items, part)
	}
	return node{branch: out}, s.Self || len(out.items) > 0
}

// withKey adds the members that make up an element's key, without which there is no such element. Where the element was applied
// with some of them, the others are defaults.
func withKey(part node, item *node, key map[string]any, s *fieldset.Set) node {
	for name := range key {
		if s.Self && s.Has(fieldset.Field(name)) {
			return part
		}
	}
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

// naming is how a set names the elements of a list.
type naming struct {
	keys   []string          // by the values of the members with these names, as far as they have them
	filled map[string]string // the key of what was applied of a key, where the rest of it is a default
	value  bool              // by what they are
	index  bool              // by where they are
}

func namesIn(s *fieldset.Set) naming {
	n := naming{filled: make(map[string]string)}
	names := make(map[string]bool)
	for key, c := range s.Children {
		switch key[:2] {
		case "v:":
			n.value = true
		case "i:":
			n.index = true
		case "k:":
			members, _ := fieldset.Members(key)
			for name := range members {
				names[name] = true
				if c.Self && !c.Has(fieldset.Field(name)) {
					delete(members, name)
				}
			}
			if applied, err := fieldset.Key(members); err == nil && applied != key {
				n.filled[applied] = max(key, n.filled[applied])
			}
		}
	}
	n.keys = slices.Sorted(maps.Keys(names))
	return n
}

// find returns what a set has within an element of a list, and the element's key in it; nil if it has nothing.
func (n naming) find(s *fieldset.Set, item *node, i int) (string, *fieldset.Set) {
	if n.value {
		if key, err := fieldset.Value(decoded(item)); err == nil && s.Child(key) != nil {
			return key, s.Child(key)
		}
	}
	if len(n.keys) > 0 && item.kind() == '{' {
		key := n.keyOf(item.open())
		if s.Child(key) == nil {
			key = n.filled[key]
		}
		if c := s.Child(key); c != nil {
			return key, c
		}
	}
	if n.index {
		return fieldset.Index(i), s.Child(fieldset.Index(i))
	}
	return "", nil
}

// keyOf returns the key that an element of a list has by itself, empty if it has none.
func (n naming) keyOf(item *branch) string {
	members := make(map[string]any, len(n.keys))
	for _, name := range n.keys {
		if at := item.find(name); at >= 0 {
			members[name] = decoded(&item.members[at].value)
		}
	}
	key, err := fieldset.Key(members)
	if err != nil {
		return ""
	}
	return key
}

// decoded returns a value as a decoder has it, with numbers as json.Number.
func decoded(n *node) any {
	switch n.kind() {
	case '"':
		return string(n.from.string(n.at))
	case '0':
		return json.Number(n.text())
	case 't':
		return true
	case 'f':
		return false
	case 'n':
		return nil
	}
	text, err := n.appendTo(nil, 0)
	if err != nil {
		return nil
	}
	v, _ := parse("it", text)
	return v
}
