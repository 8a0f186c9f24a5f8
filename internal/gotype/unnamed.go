package gotype

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"unicode"
)

// An exported field without a name in its json tag is a member under its Go name. No schema of Kubernetes has such a
// member, so a server drops it without an error, and a value that was written is read back as zero.

// unnamed keeps the result of Unnamed for each type, which never changes. Its size is bounded by the types of the
// program.
var unnamed sync.Map // reflect.Type -> error, or nil

// Unnamed returns an error that names the first exported field of t, or of a type in it, that has no name in a json
// tag. Fields with the tag `json:"-"` and embedded structs, whose fields encoding/json treats as those of the outer
// struct, need no name. Types that encode or decode themselves are accepted. Unnamed does not look into interfaces. t
// may be nil.
func Unnamed(t reflect.Type) error {
	if t == nil {
		return nil
	}
	if known, ok := unnamed.Load(t); ok {
		err, _ := known.(error)
		return err
	}
	w := walk{seen: map[reflect.Type]bool{}}
	var err error
	if place, found := w.value(t, place{}); found {
		root := t
		for root.Kind() == reflect.Pointer {
			root = root.Elem()
		}
		err = fmt.Errorf("field %s of %v must have a name in a json tag: without one it is %q to the server, which drops a member that it "+
			"does not know", place.fields, root, place.members)
	}
	unnamed.Store(t, err)
	return err
}

// place is where a field is, by the names in Go and by those in JSON.
type place struct{ fields, members string }

// in returns the place of a field in p.
func (p place) in(field, member string) place {
	return place{strings.TrimPrefix(p.fields+"."+field, "."), strings.TrimPrefix(p.members+"."+member, ".")}
}

// walk looks at each type once.
type walk struct{ seen map[reflect.Type]bool }

// value looks for a field without a name in the values of a type.
func (w walk) value(t reflect.Type, at place) (place, bool) {
	for !codesItself(t) {
		switch t.Kind() {
		case reflect.Pointer:
		case reflect.Slice, reflect.Array, reflect.Map:
			at.fields, at.members = at.fields+"[]", at.members+"[]"
		case reflect.Struct:
			return w.fields(t, at)
		default:
			return place{}, false
		}
		if w.seen[t] { // a recursive type, such as type Nested []Nested
			return place{}, false
		}
		w.seen[t] = true
		t = t.Elem()
	}
	return place{}, false
}

// fields looks for a field without a name in a struct, whether or not the struct encodes itself.
func (w walk) fields(t reflect.Type, at place) (place, bool) {
	if w.seen[t] {
		return place{}, false
	}
	w.seen[t] = true
	for i := range t.NumField() {
		f := t.Field(i)
		inner := Embedded(f)
		name := tagName(f)
		if f.Tag.Get("json") == "-" || !f.IsExported() && (!f.Anonymous || inner == nil && indirect(f.Type).Kind() != reflect.Struct) {
			continue
		}
		switch {
		case inner != nil:
			embedded := place{at.in(f.Name, "").fields, at.members}
			if found, ok := w.fields(inner, embedded); ok {
				return found, true
			}
		case !isName(name):
			return at.in(f.Name, f.Name), true
		default:
			if found, ok := w.value(f.Type, at.in(f.Name, name)); ok {
				return found, true
			}
		}
	}
	return place{}, false
}

func indirect(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// isName reports whether encoding/json takes a name from a tag. If it does not, the field keeps its Go name.
func isName(s string) bool {
	for _, r := range s {
		if !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return false
		}
	}
	return s != ""
}

var coders = []reflect.Type{
	reflect.TypeFor[json.Marshaler](), reflect.TypeFor[json.Unmarshaler](),
	reflect.TypeFor[encoding.TextMarshaler](), reflect.TypeFor[encoding.TextUnmarshaler](),
}

// codesItself reports whether values of a type, or pointers to them, have a method that encodes or decodes them.
func codesItself(t reflect.Type) bool {
	for _, coder := range coders {
		if t.Implements(coder) || reflect.PointerTo(t).Implements(coder) {
			return true
		}
	}
	return false
}
