package gotype

import (
	"reflect"
	"slices"
	"strings"
	"sync"
)

// This file is about the fields that a Go struct has in JSON.

// Follow follows way, a list of field indexes, through embedded structs, and returns the last field. ok is false if an
// embedded pointer on the way is nil.
func Follow(v reflect.Value, way []int) (_ reflect.Value, ok bool) {
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

// Embedded returns the struct whose fields encoding/json treats as fields of f's struct, or nil.
func Embedded(f reflect.StructField) reflect.Type {
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

// Field is a field of a struct, and the way to it through embedded structs.
type Field struct {
	Name               string
	Way                []int
	Omits              bool   // the tag has omitempty or omitzero
	Strategy, MergeKey string // the tags patchStrategy and patchMergeKey
	tagged             bool   // the name comes from the tag
}

// structFields keeps the fields of each type, which never change. Its size is bounded by the types of the program.
var structFields sync.Map // reflect.Type -> []Field

// Fields returns the fields of a struct under their names in JSON, as encoding/json chooses them. If several fields
// have one name, the least nested of them count, and among these the ones that have the name from a tag. If several
// fields are left, Fields returns none of them.
func Fields(t reflect.Type) []Field {
	if fields, ok := structFields.Load(t); ok {
		return fields.([]Field)
	}
	type level struct {
		way []int
		typ reflect.Type
	}
	var fields []Field
	seen, taken := map[reflect.Type]bool{}, map[string]bool{}
	for todo := []level{{nil, t}}; len(todo) > 0; {
		var next []level
		var names []string // of this level, in order
		found := make(map[string][]Field)
		for _, l := range todo {
			seen[l.typ] = true
		}
		for _, l := range todo {
			for i := range l.typ.NumField() {
				f := l.typ.Field(i)
				way := append(append([]int(nil), l.way...), i)
				if inner := Embedded(f); inner != nil {
					if !seen[inner] {
						next = append(next, level{way, inner})
					}
					continue
				}
				field, ok := jsonFieldOf(f, way)
				if !ok || taken[field.Name] {
					continue
				}
				if found[field.Name] == nil {
					names = append(names, field.Name)
				}
				found[field.Name] = append(found[field.Name], field)
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
	return kept.([]Field)
}

// jsonFieldOf returns a field that is not embedded; ok is false if it is not in JSON.
func jsonFieldOf(f reflect.StructField, way []int) (_ Field, ok bool) {
	tag := f.Tag.Get("json")
	if tag == "-" || !f.IsExported() {
		return Field{}, false
	}
	name, options, _ := strings.Cut(tag, ",")
	field := Field{Name: name, Way: way, tagged: name != "", Strategy: f.Tag.Get("patchStrategy"), MergeKey: f.Tag.Get("patchMergeKey")}
	if name == "" {
		field.Name = f.Name
	}
	for option := range strings.SplitSeq(options, ",") {
		field.Omits = field.Omits || option == "omitempty" || option == "omitzero"
	}
	return field, true
}

// dominant returns the field that counts among those with one name and level.
func dominant(all []Field) (_ Field, ok bool) {
	tagged := slices.DeleteFunc(slices.Clone(all), func(f Field) bool { return !f.tagged })
	switch {
	case len(tagged) == 1:
		return tagged[0], true
	case len(tagged) == 0 && len(all) == 1:
		return all[0], true
	}
	return Field{}, false
}
