package definitions

import (
	"fmt"
	"maps"
	"slices"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
)

// A schema is a view of an openAPIV3Schema or of a schema in one.

// property is a schema in a map of schemas.
type property struct {
	name   string
	schema view
}

// properties returns the schemas of a member that is a map of schemas, ordered by name.
func (v view) properties(member string) (all []property) {
	m := v.in(member)
	for _, name := range slices.Sorted(maps.Keys(m)) {
		all = append(all, property{name, m.in(name)})
	}
	return all
}

// property returns the schema of one property.
func (v view) property(name string) (s view, found bool) {
	m := v.in("properties")
	_, found = m[name]
	return m.in(name), found
}

// isSet reports whether a member of a schema says something. A member that is null says nothing, and neither do "" and
// false if the server takes them for no value.
func (v view) isSet(name string) bool {
	switch v[name] {
	case nil:
		return false
	case "":
		return slices.Contains([]string{"$ref", "default", "example", "x-kubernetes-list-type", "x-kubernetes-map-type"}, name)
	case false:
		return slices.Contains([]string{
			"default", "example", "additionalProperties", "additionalItems", "x-kubernetes-preserve-unknown-fields",
		}, name)
	}
	return true
}

// plain returns a copy of a schema without members that say nothing.
func (v view) plain() jsontree.Object {
	out := jsontree.Object{}
	for name, e := range v {
		if !v.isSet(name) {
			continue
		}
		switch name {
		case "properties", "patternProperties", "definitions", "dependencies":
			m := jsontree.Object{}
			for _, p := range v.properties(name) {
				m[p.name] = p.schema.plain()
			}
			if e = m; len(m) == 0 {
				continue
			}
		case "items", "additionalProperties", "additionalItems", "not", "allOf", "anyOf", "oneOf":
			if s := v.in(name); s != nil {
				e = s.plain()
			} else if list, isList := e.([]any); isList {
				schemas := make([]any, len(list))
				for i, s := range v.list(name) {
					schemas[i] = s.plain()
				}
				e = schemas
			}
		}
		if list, isList := e.([]any); isList && len(list) == 0 && name != "default" && name != "example" && name != "items" {
			continue
		}
		out[name] = e
	}
	return out
}

// saysMore reports whether a structural schema has members besides those that are named.
func (v view) saysMore(besides ...string) bool {
	for name, e := range v {
		empty := false
		switch e := e.(type) {
		case []any:
			empty = len(e) == 0 && slices.Contains([]string{"enum", "allOf", "anyOf", "oneOf", "items"}, name)
		case jsontree.Object:
			empty = len(e) == 0 && slices.Contains([]string{"properties", "patternProperties", "definitions", "dependencies"}, name)
		case string:
			empty = e == "" && name == "$ref"
		}
		if v.isSet(name) && !empty && !slices.Contains(besides, name) {
			return true
		}
	}
	return false
}

// place is a schema and where it is.
type place struct {
	schema view
	at     string
}

// choices returns the schemas in some of the members not, allOf, anyOf and oneOf.
func (v view) choices(at string, members ...string) (all []place) {
	for _, member := range members {
		if s := v.in(member); s != nil {
			all = append(all, place{s, at + "." + member})
		}
		for i, s := range v.list(member) {
			all = append(all, place{s, fmt.Sprintf("%s.%s[%d]", at, member, i)})
		}
	}
	return all
}

// walk calls f with a schema and all schemas in it.
func (v view) walk(at string, f func(s view, at string)) {
	if v == nil {
		return
	}
	f(v, at)
	for _, member := range []string{"properties", "patternProperties", "definitions", "dependencies"} {
		for _, p := range v.properties(member) {
			p.schema.walk(fmt.Sprintf("%s.%s[%s]", at, member, p.name), f)
		}
	}
	for _, in := range v.choices(at, "items", "additionalProperties", "additionalItems", "not", "allOf", "anyOf", "oneOf") {
		in.schema.walk(in.at, f)
	}
}

// contains reports whether is returns true for a schema or for one in it.
func (v view) contains(is func(s view) bool) (found bool) {
	v.walk("", func(s view, _ string) { found = found || is(s) })
	return found
}
