package patch

import (
	"reflect"
)

// zeroFields returns the values in the JSON of v, by where they start, that are the zero values of fields of structs which are no
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
	for _, f := range jsonFields(v.Type()) {
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
