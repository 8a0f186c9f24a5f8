package govalue

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/bowline-go/bowline/internal/gotype"
	"github.com/bowline-go/bowline/internal/patch/tree"
)

// Tag is what the tags of a Go type say about one value.
type Tag struct {
	Unsaid bool   // it is the zero of a field that leaves zeros out, so it is omitted
	Null   bool   // it is the null of a field
	Whole  bool   // it is an object that is replaced whole
	Key    string // the member that distinguishes the elements of the list
}

// Tags returns what the tags of v's type say about the values in its JSON, by the position at which each value starts.
func Tags(v any, encoded *tree.Node) map[uint32]Tag {
	found := make(map[uint32]Tag)
	Walk(v, encoded, Visitor{Field: func(f gotype.Field, v reflect.Value, n *tree.Node) (deeper bool) {
		switch {
		case n.Kind() == 'n':
			found[n.At] = Tag{Null: true}
			return false
		case f.Omits && v.IsZero():
			found[n.At] = Tag{Unsaid: true}
			return false
		case strings.Contains(f.Strategy, "replace"):
			found[n.At] = Tag{Whole: true}
		case strings.Contains(f.Strategy, "merge") && f.MergeKey != "":
			found[n.At] = Tag{Key: f.MergeKey}
		}
		return true
	}})
	return found
}

// Visitor is called for the parts of a Go value, each with its JSON.
type Visitor struct {
	// Branch is called for each struct and list, if it is not nil.
	Branch func(v reflect.Value, n *tree.Node)
	// Field is called for the value of each field of a struct. It reports whether Walk goes deeper into it.
	Field func(f gotype.Field, v reflect.Value, n *tree.Node) (deeper bool)
}

// Walk visits a Go value beside its JSON. It does not look into values that encode themselves.
func Walk(v any, encoded *tree.Node, visitor Visitor) { visitor.visit(reflect.ValueOf(v), encoded) }

func (t *Visitor) visit(v reflect.Value, n *tree.Node) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() || EncodesItself(v.Type()) {
			return
		}
		v = v.Elem()
	}
	if !v.IsValid() || EncodesItself(v.Type()) {
		return
	}
	switch kind := n.Kind(); {
	case v.Kind() == reflect.Struct && kind == '{':
		if t.Branch != nil {
			t.Branch(v, n)
		}
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
		if t.Branch != nil {
			t.Branch(v, n)
		}
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

func (t *Visitor) fields(v reflect.Value, object *tree.Branch) {
	for _, f := range gotype.Fields(v.Type()) {
		i := object.Find(f.Name)
		if i < 0 {
			continue
		}
		at := &object.Members[i].Value
		if value, ok := gotype.Follow(v, f.Way); ok && t.Field(f, value, at) {
			t.visit(value, at)
		}
	}
}

var (
	jsonMarshaler = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

// EncodesItself reports whether values of the type encode themselves, so that their fields say nothing about their
// JSON.
func EncodesItself(t reflect.Type) bool {
	return t.Implements(jsonMarshaler) || t.Implements(textMarshaler) ||
		reflect.PointerTo(t).Implements(jsonMarshaler) || reflect.PointerTo(t).Implements(textMarshaler)
}
