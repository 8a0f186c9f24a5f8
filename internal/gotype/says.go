package gotype

import (
	"encoding/json"
	"reflect"
	"strings"
)

// Says reports whether values of a type can hold the value at a place in a JSON document. names are the steps to the
// place: members of objects, keys of maps, and elements of lists. A type that encodes itself is assumed to hold every
// place.
func Says(t reflect.Type, names []string) bool {
	for i, name := range names {
		for t.Kind() == reflect.Pointer && !EncodesItself(t) {
			t = t.Elem()
		}
		switch kind := t.Kind(); {
		case EncodesItself(t):
			return true
		case kind == reflect.Struct:
			field, ok := fieldCalled(t, name)
			if !ok || i == len(names)-1 && names[0] != "metadata" && omitsZero(field) {
				return false
			}
			t = field.Type
		case kind == reflect.Map:
			t = t.Elem()
		case kind == reflect.Slice || kind == reflect.Array:
			t = t.Elem()
			for member := range strings.SplitSeq(name, ",") { // the members that name the element
				if key, _, _ := strings.Cut(member, "="); key != "" && !Says(t, []string{key}) {
					return false
				}
			}
		default: // an interface may hold any place, and a scalar has no places inside
			return true
		}
	}
	return true
}

// EncodesItself reports whether values of a type, or pointers to them, are a json.Marshaler.
func EncodesItself(t reflect.Type) bool {
	marshaler := reflect.TypeFor[json.Marshaler]()
	return t.Implements(marshaler) || reflect.PointerTo(t).Implements(marshaler)
}

// fieldCalled returns the field that has a name in JSON.
func fieldCalled(t reflect.Type, name string) (_ reflect.StructField, ok bool) {
fields:
	for _, f := range reflect.VisibleFields(t) {
		for n := 1; n < len(f.Index); n++ {
			if tagName(t.FieldByIndex(f.Index[:n])) != "" { // it is embedded in Go, but a nested object in JSON
				continue fields
			}
		}
		called := tagName(f)
		if called == "" && !f.Anonymous {
			called = f.Name
		}
		// An embedded struct counts even if its type is unexported.
		if (f.IsExported() || f.Anonymous) && f.Tag.Get("json") != "-" && called == name {
			return f, true
		}
	}
	return reflect.StructField{}, false
}

// tagName returns the name that a field's tag gives it in JSON.
func tagName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// omitsZero reports whether encoding/json leaves the field out if it is zero or empty. A zero field then does not say
// that the server's value is zero. In metadata this does not matter, because a server writes no zeros there.
func omitsZero(f reflect.StructField) bool {
	_, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	return options != "" && options != "string" && f.Type.Kind() != reflect.Pointer && f.Type.Kind() != reflect.Interface
}
