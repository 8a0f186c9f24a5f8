package patch

import (
	"reflect"
	"slices"
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

// embedded returns the struct whose fields encoding/json takes for fields of the one that f is in, or nil.
func embedded(f reflect.StructField) reflect.Type {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if !f.Anonymous || name != "" || t.Kind() != reflect.Struct {
		return nil
	}
	return t
}

// jsonField is a field of a struct, and the way to it through those that are embedded.
type jsonField struct {
	name               string
	way                []int
	omits              bool   // the tag has omitempty or omitzero
	strategy, mergeKey string // the tags patchStrategy and patchMergeKey
	tagged             bool   // the name is the tag's
}

// structFields keeps the fields of each type, which never change. What it can hold is bounded by the types of the program.
var structFields sync.Map // reflect.Type -> []jsonField

// jsonFields returns the fields of a struct under their names in JSON, as encoding/json chooses them: of several with one name the one
// that lies least deep, of those the one whose tag has the name, and if there are still several, none.
func jsonFields(t reflect.Type) []jsonField {
	if fields, ok := structFields.Load(t); ok {
		return fields.([]jsonField)
	}
	type level struct {
		way []int
		typ reflect.Type
	}
	var fields []jsonField
	seen, taken := map[reflect.Type]bool{}, map[string]bool{}
	for todo := []level{{nil, t}}; len(todo) > 0; {
		var next []level
		var names []string // of this level, in order
		found := make(map[string][]jsonField)
		for _, l := range todo {
			seen[l.typ] = true
		}
		for _, l := range todo {
			for i := range l.typ.NumField() {
				f := l.typ.Field(i)
				way := append(append([]int(nil), l.way...), i)
				if inner := embedded(f); inner != nil {
					if !seen[inner] {
						next = append(next, level{way, inner})
					}
					continue
				}
				field, ok := jsonFieldOf(f, way)
				if !ok || taken[field.name] {
					continue
				}
				if found[field.name] == nil {
					names = append(names, field.name)
				}
				found[field.name] = append(found[field.name], field)
			}
		}
		for _, name := range names {
			taken[name] = true
			if f, ok := dominant(found[name]); ok {
				fields = append(fields, f)
			}
		}
		todo = next
	}
	kept, _ := structFields.LoadOrStore(t, fields)
	return kept.([]jsonField)
}

// jsonFieldOf returns a field that is not embedded; ok is false if it is not in JSON.
func jsonFieldOf(f reflect.StructField, way []int) (_ jsonField, ok bool) {
	tag := f.Tag.Get("json")
	if tag == "-" || !f.IsExported() {
		return jsonField{}, false
	}
	name, options, _ := strings.Cut(tag, ",")
	field := jsonField{name: name, way: way, tagged: name != "", strategy: f.Tag.Get("patchStrategy"), mergeKey: f.Tag.Get("patchMergeKey")}
	if name == "" {
		field.name = f.Name
	}
	for option := range strings.SplitSeq(options, ",") {
		field.omits = field.omits || option == "omitempty" || option == "omitzero"
	}
	return field, true
}

// dominant returns the field that counts of those of one name and level.
func dominant(all []jsonField) (_ jsonField, ok bool) {
	tagged := slices.DeleteFunc(slices.Clone(all), func(f jsonField) bool { return !f.tagged })
	switch {
	case len(tagged) == 1:
		return tagged[0], true
	case len(tagged) == 0 && len(all) == 1:
		return all[0], true
	}
	return jsonField{}, false
}
