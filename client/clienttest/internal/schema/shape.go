package schema

import (
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/internal/fieldset"
)

// Shape describes the values of a kind, as its OpenAPI schema does. A shape may contain itself. Nil means that nothing
// is known about the values.
type Shape struct {
	members  map[string]*Shape // of an object whose members are known; nil if it may have any
	elements *Shape            // of a list, or of the values of a map
	list     listType
	keys     []string       // the merge keys of a listMap, in the schema's order
	defaults map[string]any // the values of absent keys
	atomic   bool           // an object that is owned as a whole
	open     bool           // unknown members stay
	lax      bool           // an apply may have unknown members, because this or an outer shape is open
	notNull  bool           // null equals an absent value, and is dropped
	format   string         // such as int32
	name     string         // the schema's name, which ends in the Go type's

	always map[string]any // of a compiled-in type: members that it always writes, and their values when nothing is set
	typ    string         // object, array, string, integer, number or boolean; empty for any of them
}

// listType says how a list is owned and merged.
type listType int

const (
	listAtomic listType = iota // as a whole
	listSet                    // by its scalars
	listMap                    // by the merge keys of its objects
)

// identify adds the members that every top-level object has.
func (s *Shape) identify(metadata *Shape) {
	if s.members == nil {
		s.members = make(map[string]*Shape)
	}
	s.members["apiVersion"], s.members["kind"] = &Shape{}, &Shape{}
	s.members["metadata"] = metadata
}

// AtomicList reports whether a list of the shape is owned as one field.
func (s *Shape) AtomicList() bool { return s == nil || s.list == listAtomic }

// AtomicObject reports whether an object of the shape is owned as one field.
func (s *Shape) AtomicObject() bool { return s != nil && s.atomic }

// Field returns the shape of a member, and whether the schema names it.
func (s *Shape) Field(name string) (m *Shape, named bool) {
	if s == nil {
		return nil, false
	}
	if m, named = s.members[name]; named {
		return m, true
	}
	return s.elements, false
}

// Item returns the shape of the elements of a list.
func (s *Shape) Item() *Shape {
	if s == nil {
		return nil
	}
	return s.elements
}

// TypeName returns the name of the type of a built-in kind, or "". It leaves out the prefix "io.k8s.api.", as in
// "core.v1.Container"; names of other packages are whole.
func (s *Shape) TypeName() string { return strings.TrimPrefix(s.name, "io.k8s.api.") }

// Each calls f for the members of an object, or the elements of a list, with their shapes.
func (s *Shape) Each(v any, f func(*Shape, any)) {
	switch v := v.(type) {
	case jsontree.Object:
		for name, m := range v {
			inner, _ := s.Field(name)
			f(inner, m)
		}
	case []any:
		for _, e := range v {
			f(s.Item(), e)
		}
	}
}

// KeyOf returns the key of an element in a list that is not atomic. An element that no valid list can have has no key.
func (s *Shape) KeyOf(element any) (string, bool) {
	if s.list == listSet {
		switch element.(type) {
		case nil, jsontree.Object, []any:
			return "", false
		}
		key, err := fieldset.Value(element)
		return key, err == nil
	}
	m, ok := element.(jsontree.Object)
	if !ok {
		return "", false
	}
	keys := jsontree.Object{}
	for _, name := range s.keys {
		if v, found := m[name]; found {
			keys[name] = v
		} else if item := s.Item(); item != nil && item.defaults[name] != nil {
			keys[name] = item.defaults[name]
		}
	}
	key, err := fieldset.Key(keys)
	return key, err == nil && len(keys) > 0
}

// member returns the shape of a member, and whether a member of that name may exist.
func (s *Shape) member(name string) (_ *Shape, known bool) {
	if s == nil {
		return nil, true
	}
	if m, known := s.members[name]; known {
		return m, true // which may be nil
	}
	if s.members == nil {
		return s.elements, true
	}
	return nil, s.open
}

// AnyObject returns the shape of an object of which only the metadata is known.
func AnyObject() *Shape {
	s := &Shape{typ: "object", open: true}
	s.identify(Builtin().Metadata())
	return s
}

// OnlyMetadata returns the shape of metadata in a document whose other members are not checked.
func OnlyMetadata() *Shape {
	return &Shape{elements: &Shape{}, members: map[string]*Shape{"metadata": Builtin().Metadata()}, open: true}
}

// Nameless returns the shape that a real server uses for a built-in kind without a version: it has neither metadata
// nor other members.
func Nameless() *Shape { return &Shape{members: map[string]*Shape{"kind": {}, "apiVersion": {}}} }

// JSONPatch returns the shape of a JSON patch.
func JSONPatch() *Shape {
	return &Shape{elements: &Shape{members: map[string]*Shape{"op": {}, "path": {}, "from": {}, "value": nil}}}
}
