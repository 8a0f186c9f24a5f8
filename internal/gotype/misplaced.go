package gotype

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/bowline-go/bowline/client/meta"
)

// A struct gets its methods from the metadata that it embeds, whatever the json tag of that field is. With a wrong tag
// the struct compiles, but none of its objects ever has a name.

// Misplaced returns an error if t embeds metadata that encoding/json does not read from the member metadata. Types
// that decode themselves, and structs that leave metadata out, are accepted.
func Misplaced(t reflect.Type) error {
	if t.Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return nil
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	if _, read := fieldCalled(t, "metadata"); read {
		return nil
	}
	f, found := embeddedMetadata(t)
	if !found {
		return nil
	}
	tag := "it has no json tag"
	if name := tagName(f); name != "" {
		tag = fmt.Sprintf("its json tag says %q", name)
	}
	return fmt.Errorf("client.Type: field %s of %v must have the tag `json:\"metadata\"`, or no object has a name; %s", f.Name, t, tag)
}

// embeddedMetadata returns the embedded field of a struct that contains the identity of an object.
func embeddedMetadata(t reflect.Type) (field reflect.StructField, found bool) {
	object := reflect.TypeFor[meta.Object]()
	for i := range t.NumField() {
		f := t.Field(i)
		of := f.Type
		if of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		if !f.Anonymous || of.Kind() != reflect.Struct || tagName(f) == "-" {
			continue
		}
		if _, named := fieldCalled(of, "name"); named && reflect.PointerTo(of).Implements(object) {
			return f, true
		}
	}
	return field, false
}
