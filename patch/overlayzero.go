package patch

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
)

// zeroFields returns the values in the JSON of v, by their tokens, that are the zero values of fields of structs which are no
// pointers and have no omitempty: whoever made v may have meant them or not. What encodes itself is not looked into.
func zeroFields(v any, encoded *node) map[uint32]bool {
	z := zeros{found: make(map[uint32]bool)}
	z.visit(reflect.ValueOf(v), encoded)
	return z.found
}

type zeros struct{ found map[uint32]bool }

func (z *zeros) visit(v reflect.Value, n *node) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() || encodesItself(v.Type()) {
			return
		}
		v = v.Elem()
	}
	if !v.IsValid() || encodesItself(v.Type()) {
		return
	}
	switch kind := n.kind(); {
	case v.Kind() == reflect.Struct && kind == '{':
		z.fields(v, n.open())
	case v.Kind() == reflect.Map && kind == '{' && v.Type().Key().Kind() == reflect.String:
		b := n.open()
		for i := range b.members {
			m := &b.members[i]
			if value := v.MapIndex(reflect.ValueOf(string(m.name)).Convert(v.Type().Key())); !m.gone && value.IsValid() {
				z.visit(value, &m.value)
			}
		}
	case (v.Kind() == reflect.Slice || v.Kind() == reflect.Array) && kind == '[':
		if items := n.open().items; len(items) == v.Len() {
			for i := range items {
				z.visit(v.Index(i), &items[i])
			}
		}
	}
}

func (z *zeros) fields(v reflect.Value, object *branch) {
	for _, f := range fieldsOf(v.Type()) {
		i := object.find(f.name)
		if i < 0 {
			continue
		}
		value, ok := follow(v, f.way)
		if !ok {
			continue
		}
		m := &object.members[i]
		if kind := value.Kind(); kind != reflect.Pointer && kind != reflect.Interface && kind != reflect.Map && kind != reflect.Slice && value.IsZero() {
			z.found[m.value.at] = true
			continue
		}
		z.visit(value, &m.value)
	}
}

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

// fieldsOf returns the fields of a struct under their names in JSON. Of fields of one name it has the one that lies least deep.
func fieldsOf(t reflect.Type) []jsonField {
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
