package schema

import (
	"maps"
	"slices"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
)

// Written returns an object with the members that a compiled-in type always writes.
func (s *Shape) Written(m jsontree.Object) jsontree.Object {
	if m == nil || s == nil {
		return m
	}
	out := edited{is: m}
	for name, empty := range s.always {
		if _, found := m[name]; !found {
			out.set(name, empty)
		}
	}
	return out.is
}

// edited is an object that is copied when it changes. Most objects do not change.
type edited struct {
	is     jsontree.Object
	copied bool
}

func (e *edited) own() {
	if !e.copied {
		e.is, e.copied = maps.Clone(e.is), true
	}
}

func (e *edited) set(name string, v any) {
	e.own()
	e.is[name] = v
}

// Filled returns a value with the members that its type, and the types in it, always write.
func (s *Shape) Filled(v any) any {
	v, _ = s.filled(v)
	return v
}

// filled also reports whether the result is another value than v.
func (s *Shape) filled(v any) (_ any, changed bool) {
	if s == nil {
		return v, false
	}
	switch v := v.(type) {
	case jsontree.Object:
		out := edited{is: v}
		for name, empty := range s.always {
			if _, found := v[name]; !found {
				out.set(name, jsontree.Clone(empty)) // the shape keeps its own
			}
		}
		for name, e := range out.is {
			inner, _ := s.Field(name)
			if is, changed := inner.filled(e); changed {
				out.set(name, is)
			}
		}
		return out.is, out.copied
	case []any:
		return eachElement(v, s.Item().filled)
	}
	return v, false
}

// eachElement returns a list with its elements replaced, or the list itself if none changes.
func eachElement(list []any, replace func(any) (any, bool)) (_ []any, changed bool) {
	for i, e := range list {
		is, differs := replace(e)
		if differs && !changed {
			list, changed = slices.Clone(list), true
		}
		if differs {
			list[i] = is
		}
	}
	return list, changed
}

// Complete adds the absent members for which the schema has a default.
func (s *Shape) Complete(v any) {
	if s == nil {
		return
	}
	if m, ok := v.(jsontree.Object); ok {
		for name, value := range s.defaults {
			if was, found := m[name]; !found || was == nil && s.members[name].notNull {
				m[name] = jsontree.Clone(value) // the members of the default are added below
			}
		}
	}
	s.Each(v, (*Shape).Complete)
}

// DropNulls removes null members, which a compiled-in type does not keep. A null in a map or a list becomes the empty
// value.
func (s *Shape) DropNulls(v any) {
	switch v := v.(type) {
	case jsontree.Object:
		for name, m := range v {
			switch inner, named := s.Field(name); {
			case m != nil:
			case named:
				delete(v, name)
			default:
				v[name] = inner.empty()
			}
		}
	case []any:
		for i, e := range v {
			if e == nil {
				v[i] = s.Item().empty()
			}
		}
	}
	s.Each(v, (*Shape).DropNulls)
}

// WithoutNulls returns a value without members that are lists or maps and null.
func (s *Shape) WithoutNulls(v any) any {
	v, _ = s.withoutNulls(v)
	return v
}

func (s *Shape) withoutNulls(v any) (_ any, changed bool) {
	switch v := v.(type) {
	case jsontree.Object:
		out := edited{is: v}
		for name, e := range v {
			inner, _ := s.Field(name)
			if e == nil && inner != nil && inner.elements != nil {
				out.own()
				delete(out.is, name)
			} else if is, changed := inner.withoutNulls(e); changed {
				out.set(name, is)
			}
		}
		return out.is, out.copied
	case []any:
		return eachElement(v, s.Item().withoutNulls)
	}
	return v, false
}

// Keyed reports whether each element of a list that is merged by keys has its key.
func (s *Shape) Keyed(v any) bool {
	keyed := true
	if list, ok := v.([]any); ok && s != nil && s.list == listMap {
		for _, e := range list {
			keyed = keyed && s.hasKey(e)
		}
	}
	s.Each(v, func(inner *Shape, e any) { keyed = keyed && inner.Keyed(e) })
	return keyed
}

// hasKey reports whether an element of a list that is merged by keys has one.
func (s *Shape) hasKey(element any) bool {
	m, ok := element.(jsontree.Object)
	return ok && slices.ContainsFunc(s.keys, func(name string) bool {
		_, found := m[name]
		return found || s.elements != nil && s.elements.defaults[name] != nil
	})
}

// empty returns the value that replaces null where a compiled-in type must have a value.
func (s *Shape) empty() any {
	switch {
	case s != nil && s.typ == "string":
		return ""
	case s != nil && s.typ == "object" && s.members != nil:
		return jsontree.Object{}
	}
	return nil
}

// Prune removes the members that an object cannot have.
func (s *Shape) Prune(v any) {
	if s == nil {
		return
	}
	switch v := v.(type) {
	case jsontree.Object:
		for k, e := range v {
			member, known := s.member(k)
			if !known || e == nil && member != nil && member.notNull {
				delete(v, k)
			} else {
				member.Prune(e)
			}
		}
	case []any:
		for _, e := range v {
			s.elements.Prune(e)
		}
	}
}

// Knows reports whether the schema knows all members of a value.
func (s *Shape) Knows(v any) bool {
	if s == nil {
		return true
	}
	switch v := v.(type) {
	case jsontree.Object:
		for k, e := range v {
			if member, known := s.member(k); !known || !member.Knows(e) {
				return false
			}
		}
	case []any:
		for _, e := range v {
			if !s.elements.Knows(e) {
				return false
			}
		}
	}
	return true
}
