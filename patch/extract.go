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
	var own *fieldset.Set
	var others []*fieldset.Set
	for i := range entries {
		e := &entries[i]
		s, err := fieldsOf(e)
		switch version := textAt(root, "apiVersion"); {
		case !m.owns(e):
			if err == nil { // what cannot be read says nothing about what is the manager's
				others = append(others, s)
			}
		case err != nil:
			return nil, err
		case e.APIVersion != version:
			return nil, fmt.Errorf("the manager has applied it as %s, and the object was read as %s; read it as it was applied",
				quote(e.APIVersion), quote(version))
		default:
			own = own.Union(s)
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

// owned returns the parts of a value that are in a set, and whether there are any. others are the sets of everybody else.
func owned(n *node, s *fieldset.Set, others []*fieldset.Set) (part node, found bool) {
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

func ownedMembers(b *branch, s *fieldset.Set, others []*fieldset.Set) (part node, found bool) {
	out := &branch{}
	for i := range b.members {
		m := b.members[i]
		if m.gone {
			continue
		}
		key := fieldset.Field(string(m.name))
		if m.value, found = owned(&m.value, s.Child(key), parts(others, key)); found {
			out.members = append(out.members, m)
		}
	}
	return node{branch: out}, s.Self || len(out.members) > 0
}

func ownedElements(b *branch, s *fieldset.Set, others []*fieldset.Set) (part node, found bool) {
	out := &branch{list: true}
	names := namesIn(s)
	for i := range b.items {
		item := &b.items[i]
		key, c := names.find(s, item, i)
		part, found := owned(item, c, parts(others, key))
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

// withKey adds the members that make up an element's key, if the part of it that is owned has none of them. Where it has some,
// the others are defaults.
func withKey(part node, item *node, key map[string]any, s *fieldset.Set) node {
	for name := range key {
		if s.Has(fieldset.Field(name)) || part.open().find(name) >= 0 {
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

// hasParts reports whether one of the sets has anything within the place that they are about.
func hasParts(sets []*fieldset.Set) bool {
	for _, s := range sets {
		if len(s.Children) > 0 {
			return true
		}
	}
	return false
}

// parts returns what the sets have within a field.
func parts(sets []*fieldset.Set, key string) []*fieldset.Set {
	var within []*fieldset.Set
	for _, s := range sets {
		if c := s.Child(key); c != nil {
			within = append(within, c)
		}
	}
	return within
}

// naming is how a set names the elements of a list.
type naming struct {
	keys  [][]string // by the values of the members with each of these names
	value bool       // by what they are
	index bool       // by where they are
}

func namesIn(s *fieldset.Set) naming {
	var n naming
	seen := make(map[string]bool)
	for key := range s.Children {
		switch key[:2] {
		case "v:":
			n.value = true
		case "i:":
			n.index = true
		case "k:":
			members, _ := fieldset.Members(key)
			names := slices.Sorted(maps.Keys(members))
			if id := fmt.Sprintf("%q", names); !seen[id] {
				seen[id] = true
				n.keys = append(n.keys, names)
			}
		}
	}
	return n
}

// find returns what a set has within an element of a list, and the element's key in it; nil if it has nothing.
func (n naming) find(s *fieldset.Set, item *node, i int) (string, *fieldset.Set) {
	if n.value {
		if key, err := fieldset.Value(decoded(item)); err == nil && s.Child(key) != nil {
			return key, s.Child(key)
		}
	}
	for _, names := range n.keys {
		if key, ok := keyOf(item, names); ok && s.Child(key) != nil {
			return key, s.Child(key)
		}
	}
	if n.index {
		return fieldset.Index(i), s.Child(fieldset.Index(i))
	}
	return "", nil
}

// keyOf returns the key of an element of a list whose elements are told apart by these members, all of which it must have.
func keyOf(item *node, names []string) (string, bool) {
	if item.kind() != '{' {
		return "", false
	}
	b := item.open()
	members := make(map[string]any, len(names))
	for _, name := range names {
		at := b.find(name)
		if at < 0 {
			return "", false
		}
		members[name] = decoded(&b.members[at].value)
	}
	key, err := fieldset.Key(members)
	return key, err == nil
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
