package values

import (
	"encoding/json"
	"reflect"
	"slices"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
)

// before is the value that another one replaces, if it is known which one that is.
type before struct {
	value any
	known bool
}

// member returns the value that a member replaces.
func (b before) member(name string) before {
	if m, ok := b.value.(jsontree.Object); b.known && ok {
		v, found := m[name]
		return before{v, found}
	}
	return before{}
}

// elements returns a function that returns the value that an element of a list replaces. In a list with keys, this is
// the element with the same keys; in other lists, it is not known.
func (b before) elements(s *Schema) func(e any) before {
	old, ok := b.value.([]any)
	if !b.known || !ok || s.ListType != "map" {
		return func(any) before { return before{} }
	}
	byKey := make(map[string]any, len(old))
	for _, o := range slices.Backward(old) { // the first of two counts
		if key := s.keyOf(o); key != "" {
			byKey[key] = o
		}
	}
	return func(e any) before {
		o, found := byKey[s.keyOf(e)]
		return before{o, found}
	}
}

// keyOf returns the keys of an element as text; "" if one is missing or not a scalar.
func (s *Schema) keyOf(e any) string {
	m, ok := e.(jsontree.Object)
	if !ok {
		return ""
	}
	key := make([]any, 0, len(s.ListMapKeys))
	for _, k := range s.ListMapKeys {
		v, found := m[k]
		switch v.(type) {
		case nil, []any, jsontree.Object:
			found = false
		}
		if !found {
			return ""
		}
		key = append(key, v)
	}
	text, _ := json.Marshal(key)
	return string(text)
}

// unchanged reports whether a value equals the one that it replaces, as far as the server knows the old value. The
// server does not know the old values of members without a schema, and of elements without keys in a list that should
// have them.
func (b before) unchanged(s *Schema, v any) bool {
	if !b.known || v == nil || b.value == nil {
		return b.known && v == nil && b.value == nil
	}
	switch v := v.(type) {
	case []any:
		if old, ok := b.value.([]any); !ok || len(old) != len(v) {
			return false
		}
		if s.ListType != "map" || s.Items == nil {
			return reflect.DeepEqual(v, b.value)
		}
		element := b.elements(s)
		for _, e := range v {
			if !element(e).unchanged(s.Items, e) {
				return false
			}
		}
		return true
	case jsontree.Object:
		if old, ok := b.value.(jsontree.Object); !ok || len(old) != len(v) {
			return false
		}
		for name, e := range v {
			inner := s.member(name)
			if inner == nil || !b.member(name).unchanged(inner, e) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(v, b.value)
}

// member returns the schema of a member, or nil.
func (s *Schema) member(name string) *Schema {
	if p := s.Properties[name]; p != nil || s.AdditionalProperties == nil {
		return p
	}
	return s.AdditionalProperties.Schema
}
