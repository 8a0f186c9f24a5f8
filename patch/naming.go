package patch

import (
	"maps"

	"github.com/bowline-go/bowline/internal/fieldset"
	"github.com/bowline-go/bowline/internal/patch/tree"
)

// This file finds the elements of lists by the names that the server has recorded for them. Any client that may write
// an object controls its content and its managedFields. So the cost of each step must be proportional to the text that
// it reads, and no step goes through a whole set once for each element of a list.

// namings keeps how each set names the elements of its list. If many elements of a list have the same key, the lists
// within these elements share one set.
type namings struct {
	known map[*fieldset.Set]*naming
	looks int // how many names and members were looked up; for a test
}

// naming is how a set names the elements of a list.
type naming struct {
	all      *namings
	elements map[string]*namedElement // the elements by their keys
	applied  map[string]*namedElement // by the applied part of the key, if the other members of the key are defaults
	names    map[string]bool          // the names of the members that are in keys
	value    bool                     // elements are named by their value
	index    bool                     // elements are named by their index
}

// namedElement is an element of a list, as a set names it.
type namedElement struct {
	own, others *fieldset.Set  // the fields within the element: of the set, and of other owners
	members     map[string]any // the members of its key
	// addKey says that the set has none of the key's members as fields, so Extract must add them. If the set has some
	// of them, the others are defaults, which Extract need not add.
	addKey bool
}

// in returns how a set names the elements of its list. others has the fields in the same list that other owners own;
// it is always the same for one set.
func (k *namings) in(s, others *fieldset.Set) *naming {
	if n := k.known[s]; n != nil {
		return n
	}
	n := &naming{
		all: k, elements: make(map[string]*namedElement, len(s.Children)), applied: make(map[string]*namedElement),
		names: make(map[string]bool),
	}
	filled := make(map[string]string) // the key of the element in applied
	for key, c := range s.Children {
		e := &namedElement{own: c, others: others.Child(key)}
		n.elements[key] = e
		switch key[:2] {
		case "v:":
			n.value = true
		case "i:":
			n.index = true
		case "k:":
			e.members, _ = fieldset.Members(key)
			e.addKey = true
			applied := maps.Clone(e.members)
			for name := range e.members {
				k.looks++
				n.names[name] = true
				switch has := c.Has(fieldset.Field(name)); {
				case c.Self && has:
					e.addKey = false
				case c.Self:
					delete(applied, name)
				}
			}
			if short, err := fieldset.Key(applied); err == nil && short != key && key > filled[short] {
				filled[short], n.applied[short] = key, e
			}
		}
	}
	if k.known == nil {
		k.known = make(map[*fieldset.Set]*naming)
	}
	k.known[s] = n
	return n
}

// shortElement is the maximal size, in bytes, of an object or list that is named by its value. A longer one would be
// decoded once for each list around it. Servers use such names only for scalars.
const shortElement = 256

// find returns the element of the set for an item of a list, or nil if the set has none.
func (n *naming) find(item *tree.Node, i int) *namedElement {
	kind := item.Kind()
	if n.value && (kind != '{' && kind != '[' || item.From != nil && len(item.Text()) <= shortElement) {
		if key, err := fieldset.Value(decoded(item)); err == nil && n.elements[key] != nil {
			return n.elements[key]
		}
	}
	if len(n.names) > 0 && kind == '{' {
		key := n.keyOf(item.Open())
		if e := n.elements[key]; e != nil {
			return e
		}
		if e := n.applied[key]; e != nil {
			return e
		}
	}
	if n.index {
		return n.elements[fieldset.Index(i)]
	}
	return nil
}

// keyOf returns the key that the item of a list has, or "" if it has none.
func (n *naming) keyOf(item *tree.Branch) string {
	var key []*tree.Member
	if len(n.names) > len(item.Members) {
		for m := range item.Each {
			n.all.looks++
			if n.names[string(m.Name)] {
				key = append(key, m)
			}
		}
	} else {
		for name := range n.names {
			n.all.looks++
			if at := item.Find(name); at >= 0 {
				key = append(key, &item.Members[at])
			}
		}
	}
	if len(key) > fieldset.MaxKeyMembers {
		return ""
	}
	members := make(map[string]any, len(key))
	for _, m := range key {
		if kind := m.Value.Kind(); kind == '{' || kind == '[' {
			return ""
		}
		members[string(m.Name)] = decoded(&m.Value)
	}
	text, err := fieldset.Key(members)
	if err != nil {
		return ""
	}
	return text
}
