package patch

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/bowline-go/bowline/internal/gotype"
	"github.com/bowline-go/bowline/internal/patch/tree"
)

// hint is what the tags of a Go type say about one value.
type hint struct {
	unsaid bool   // it is the zero of a field that leaves zeros out, so it is not wanted
	null   bool   // it is the null of a field
	whole  bool   // it is an object that is replaced whole
	key    string // the member that distinguishes the elements of the list
}

// readTags returns what the tags of v's type say about the values in its JSON, by where they start. It does not look into
// values that encode themselves.
func readTags(v any, encoded *tree.Node) map[uint32]hint {
	t := tagReader{found: make(map[uint32]hint)}
	t.visit(reflect.ValueOf(v), encoded)
	return t.found
}

// tagReader visits a Go value beside its JSON, and fills found or cached.
type tagReader struct {
	found  map[uint32]hint
	cached *cachedTypes
}

func (t *tagReader) visit(v reflect.Value, n *tree.Node) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() || v.Kind() == reflect.Pointer && encodesItself(v.Type()) {
			return
		}
		v = v.Elem()
	}
	if !v.IsValid() || encodesItself(v.Type()) {
		return
	}
	switch kind := n.Kind(); {
	case v.Kind() == reflect.Struct && kind == '{':
		t.cached.note(v, n)
		t.fields(v, n.Open())
	case v.Kind() == reflect.Map && kind == '{':
		if !mayHaveTags(v.Type().Elem()) {
			return
		}
		b := n.Open()
		for entries := v.MapRange(); entries.Next(); {
			if i := b.Find(nameOfKey(entries.Key())); i >= 0 {
				t.visit(entries.Value(), &b.Members[i].Value)
			}
		}
	case (v.Kind() == reflect.Slice || v.Kind() == reflect.Array) && kind == '[':
		t.cached.note(v, n)
		if !mayHaveTags(v.Type().Elem()) {
			return
		}
		if items := n.Open().Items; len(items) == v.Len() {
			for i := range items {
				t.visit(v.Index(i), &items[i])
			}
		}
	}
}

// mayHaveTags reports whether there may be a struct in a value of the type.
func mayHaveTags(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct, reflect.Interface, reflect.Map:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return t.Name() != "" || mayHaveTags(t.Elem())
	}
	return false
}

// nameOfKey returns the name that encoding/json gives an entry of a map.
func nameOfKey(key reflect.Value) string {
	if key.Kind() == reflect.String {
		return key.String()
	}
	if m, ok := key.Interface().(encoding.TextMarshaler); ok {
		text, err := m.MarshalText()
		if err != nil {
			return ""
		}
		return string(text)
	}
	return fmt.Sprint(key.Interface())
}

func (t *tagReader) fields(v reflect.Value, object *tree.Branch) {
	for _, f := range gotype.Fields(v.Type()) {
		i := object.Find(f.Name)
		if i < 0 {
			continue
		}
		value, ok := gotype.Follow(v, f.Way)
		if !ok {
			continue
		}
		at := &object.Members[i].Value
		if t.cached != nil {
			t.cached.field(f, value, at)
			t.visit(value, at)
			continue
		}
		if at.Kind() == 'n' {
			t.found[at.At] = hint{null: true}
			continue
		}
		if f.Omits && value.IsZero() {
			t.found[at.At] = hint{unsaid: true}
			continue
		}
		if strings.Contains(f.Strategy, "replace") {
			t.found[at.At] = hint{whole: true}
		} else if strings.Contains(f.Strategy, "merge") && f.MergeKey != "" {
			t.found[at.At] = hint{key: f.MergeKey}
		}
		t.visit(value, at)
	}
}

var (
	jsonMarshaler = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

func encodesItself(t reflect.Type) bool {
	return t.Implements(jsonMarshaler) || t.Implements(textMarshaler) ||
		reflect.PointerTo(t).Implements(jsonMarshaler) || reflect.PointerTo(t).Implements(textMarshaler)
}
