package strategy

import (
	"fmt"
	"slices"
	"strings"
)

// names are strings that must be unique.
type names struct {
	all   []string
	empty bool // the empty string must not repeat either
}

// add adds a string, or reports it if it was added before.
func (n *names) add(v value) {
	if slices.Contains(n.all, v.text()) {
		v.duplicate()
	} else if v.text() != "" || n.empty {
		n.all = append(n.all, v.text())
	}
}

// has reports whether a string was added.
func (n *names) has(s string) bool { return slices.Contains(n.all, s) }

// namesOf returns the names of the elements of a list.
func namesOf(list value) names {
	var n names
	for _, e := range list.items() {
		n.all = append(n.all, e.at("name").text())
	}
	return n
}

// as returns the value with the field path of another value, under which a real server reports it.
func (v value) as(other value) value {
	v.path = other.path
	return v
}

// item returns an element of a list. If the list does not have it, item returns an absent value at its place.
func (v value) item(i int) value {
	if list := v.items(); i < len(list) {
		return list[i]
	}
	v.path, v.is, v.was = fmt.Sprintf("%s[%d]", v.path, i), nil, nil
	return v
}

// lowered returns a text in lower case.
func lowered(s string) string { return strings.ToLower(s) }
