package patch

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

// This file is about the fields that a Go struct has in JSON.

// follow goes to a field through embedded structs; ok is false where one of them is a nil pointer.
func follow(v reflect.Value, way []int) (_ reflect.Value, ok bool) {
	for _, i := range way {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return v, false
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	return v, true
}

// jsonField is a field of a struct, and the way to it through those that are embedded.
type jsonField struct {
	name string
	way  []int
}

// structFields keeps the fields of each type, which never change. What it can hold is bounded by the types of the program.
var structFields sync.Map // reflect.Type -> []jsonField

// jsonFields returns the fields of a struct under their names in JSON. Of fields of one name it has the one that lies least deep.
func jsonFields(t reflect.Type) []jsonField {
	if fields, ok := structFields.Load(t); ok {
		return fields.([]jsonField)
	}
	type level struct {
		way []int
		typ reflect.Type
	}
	var fields []jsonField
	seen, named := map[reflect.Type]bool{}, map[string]bool{}
	for todo := []level{{nil, t}}; len(todo) > 0; {
		var next []level
		for _, l := range todo {
			if seen[l.typ] {
				continue
			}
			seen[l.typ] = true
			for i := range l.typ.NumField() {
				f := l.typ.Field(i)
				way := append(append([]int(nil), l.way...), i)
				tag := f.Tag.Get("json")
				name, _, _ := strings.Cut(tag, ",")
				if inner := embedded(f); inner != nil {
					next = append(next, level{way, inner})
					continue
				}
				if name == "" {
					name = f.Name
				}
				if tag != "-" && f.IsExported() && !named[name] {
					named[name] = true
					fields = append(fields, jsonField{name, way})
				}
			}
		}
		todo = next
	}
	kept, _ := structFields.LoadOrStore(t, fields)
	return kept.([]jsonField)
}

var (
	jsonMarshaler = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

func encodesItself(t reflect.Type) bool {
	return t.Implements(jsonMarshaler) || t.Implements(textMarshaler) ||
		reflect.PointerTo(t).Implements(jsonMarshaler) || reflect.PointerTo(t).Implements(textMarshaler)
}
