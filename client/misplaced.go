package client

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/bowline-go/bowline/client/meta"
)

// A struct gets its methods from the metadata that it embeds, whatever the json tag of that says. Without the right tag it compiles,
// and none of its objects ever has a name.

// misplaced returns an error if T embeds metadata that is not read from where an object has it. Types that decode themselves, and
// structs that leave metadata out, are as they should be.
func misplaced[T meta.Object]() error {
	t := reflect.TypeFor[T]()
	if t.Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return nil
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || hasMember(t, "metadata") {
		return nil
	}
	f, found := embeddedMetadata(t)
	if !found {
		return nil
	}
	tag := "it has no json tag"
	if name := memberOf(f); name != "" {
		tag = fmt.Sprintf("its json tag says %q", name)
	}
	return fmt.Errorf("client.Type: field %s of %v must have the tag `json:\"metadata\"`, or no object has a name; %s", f.Name, t, tag)
}

// memberOf returns the name in the json tag of a field; empty if there is none.
func memberOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// inlined returns the type of an embedded struct whose fields encoding/json takes for those of the struct around it.
func inlined(f reflect.StructField) (t reflect.Type, ok bool) {
	if t = f.Type; t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t, f.Anonymous && memberOf(f) == "" && t.Kind() == reflect.Struct
}

// hasMember reports whether a struct has a field for the member of a name.
func hasMember(t reflect.Type, name string) bool { return hasMemberWithin(t, name, 0) }

func hasMemberWithin(t reflect.Type, name string, depth int) bool {
	const deepest = 10 // a struct may embed itself
	for i := range t.NumField() {
		f := t.Field(i)
		if memberOf(f) == name {
			return true
		}
		if of, ok := inlined(f); ok && depth < deepest && hasMemberWithin(of, name, depth+1) {
			return true
		}
	}
	return false
}

// embeddedMetadata returns the field of a struct that has the identity of an object in it.
func embeddedMetadata(t reflect.Type) (field reflect.StructField, found bool) {
	object := reflect.TypeFor[meta.Object]()
	for i := range t.NumField() {
		f := t.Field(i)
		of := f.Type
		if of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		if !f.Anonymous || of.Kind() != reflect.Struct || memberOf(f) == "-" {
			continue
		}
		if reflect.PointerTo(of).Implements(object) && hasMember(of, "name") {
			return f, true
		}
	}
	return field, false
}
