package client

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/bowline-go/bowline/patch"
)

// An object of a Go type that has no field for a place never has anything there. So it does not prove that the server's object has
// nothing there either.

// saysAll reports whether values of the type of known can say what is at each of some JSON pointers, which are as in EnsureOptions.Absent.
func saysAll(known any, pointers []string) bool {
	for _, pointer := range pointers {
		if names, err := patch.ParsePointer(pointer); err != nil || !says(reflect.TypeOf(known), names) {
			return false
		}
	}
	return true
}

// saysHolds reports whether values of the type of known can say what keeps an object from being ensured: that it is being deleted,
// and who controls it.
func saysHolds(known any) bool {
	t := reflect.TypeOf(known)
	return says(t, []string{"metadata", "deletionTimestamp"}) && says(t, []string{"metadata", "ownerReferences", "uid="}) &&
		says(t, []string{"metadata", "ownerReferences", "", "controller"})
}

// says reports whether values of a type can say what is at a place. One that encodes itself is taken to say all.
func says(t reflect.Type, names []string) bool {
	for i, name := range names {
		for t.Kind() == reflect.Pointer && !encodesItself(t) {
			t = t.Elem()
		}
		switch kind := t.Kind(); {
		case encodesItself(t):
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
			for member := range strings.SplitSeq(name, ",") { // by which the element is named
				if key, _, _ := strings.Cut(member, "="); key != "" && !says(t, []string{key}) {
					return false
				}
			}
		default: // an interface may hold all, and a scalar has nothing in it
			return true
		}
	}
	return true
}

func encodesItself(t reflect.Type) bool {
	marshaler := reflect.TypeFor[json.Marshaler]()
	return t.Implements(marshaler) || reflect.PointerTo(t).Implements(marshaler)
}

// fieldCalled returns the field that has a name in JSON.
func fieldCalled(t reflect.Type, name string) (_ reflect.StructField, ok bool) {
fields:
	for _, f := range reflect.VisibleFields(t) {
		for n := 1; n < len(f.Index); n++ {
			if tagName(t.FieldByIndex(f.Index[:n])) != "" { // it is embedded in Go, and an object of its own in JSON
				continue fields
			}
		}
		called := tagName(f)
		if called == "" && !f.Anonymous {
			called = f.Name
		}
		if (f.IsExported() || f.Anonymous) && f.Tag.Get("json") != "-" && called == name { // of an embedded struct, the type may be unexported
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

// omitsZero reports whether a field is left out where it is a zero, or empty, so that the server may have one there. A server writes no
// zeros in metadata.
func omitsZero(f reflect.StructField) bool {
	_, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	return options != "" && options != "string" && f.Type.Kind() != reflect.Pointer && f.Type.Kind() != reflect.Interface
}
