package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/internal/overlay"
)

// scalar is a member of the API that is text, a number or a boolean, and where it is.
type scalar struct {
	apiVersion, kind string
	path             []string // "" is an element
	typ              reflect.Type
	omits            bool // its zero is not in JSON
}

// scalars finds those of a type. Types that contain themselves are looked into once.
func scalars(a animal, t reflect.Type, path []string, within []reflect.Type, found func(scalar)) {
	pointer := t.Kind() == reflect.Pointer
	if pointer {
		t = t.Elem()
	}
	if slices.Contains(within, t) || t.Implements(reflect.TypeFor[json.Marshaler]()) || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()) {
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" && f.Anonymous {
				scalars(a, f.Type, path, append(within, t), found)
				continue
			}
			if len(path) == 0 && (name == "metadata" || name == "status" || name == "kind" || name == "apiVersion") {
				continue
			}
			way := append(slices.Clone(path), name)
			inner := f.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			switch inner.Kind() {
			case reflect.String, reflect.Bool, reflect.Int32, reflect.Int64, reflect.Float64, reflect.Map:
				found(scalar{a.apiVersion(), a.kind, way, f.Type, strings.Contains(options, "omit")})
			}
			scalars(a, f.Type, way, append(within, t), found)
		}
	case reflect.Slice:
		scalars(a, t.Elem(), append(slices.Clone(path), ""), append(within, t), found)
	}
}

// A zero that a pointer leads to may mean something, so no overlay takes it for nothing; and one that the API's own types leave out
// may be in want as often as it likes.
func TestOverlaysKnowTheZerosOfTheApi(t *testing.T) {
	// Both mean false.
	same := map[string]bool{"readOnly": true}
	for _, a := range zoo {
		scalars(a, reflect.TypeOf(a.random(1)), nil, nil, func(s scalar) {
			zero := "0"
			typ := s.typ
			if typ.Kind() == reflect.Pointer {
				typ = typ.Elem()
			}
			switch typ.Kind() {
			case reflect.String:
				zero = `""`
			case reflect.Bool:
				zero = "false"
			case reflect.Map:
				if s.typ.Kind() == reflect.Pointer {
					return
				}
				zero = "{}"
			}
			name := s.path[len(s.path)-1]
			_, changed, err := overlay.Apply(json.RawMessage(s.document("")), json.RawMessage(s.document(strconv.Quote(name)+":"+zero)), overlay.Options{})
			if err != nil {
				t.Fatal(err)
			}
			switch pointer := s.typ.Kind() == reflect.Pointer; {
			case pointer && len(changed) == 0 && !same[name]:
				t.Errorf("%s %s: %s says nothing, and the field is a pointer", s.kind, strings.Join(s.path, "."), zero)
			case !pointer && s.omits && len(changed) > 0 && !unlike(s):
				t.Errorf("%s %s: %s is wanted, and the server never writes it", s.kind, strings.Join(s.path, "."), zero)
			}
		})
	}
}

// unlike reports whether a zero is wanted although the type leaves it out: the replicas of a Scale, which has nothing else, the
// instance that one of two kinds of Event always writes, and what nobody ensures, in a status or in managedFields.
func unlike(s scalar) bool {
	at := s.kind + " " + strings.Join(s.path, ".")
	return at == "Scale spec.replicas" || at == "Event reportingInstance" || slices.Contains(s.path, "status") ||
		slices.Contains(s.path, "managedFields")
}

// document returns an object that has the member, if there is one, at the place of the scalar.
func (s scalar) document(member string) string {
	text := "{" + member + "}"
	for i := len(s.path) - 2; i >= 0; i-- {
		if s.path[i] == "" {
			text = "[" + text + "]"
		} else {
			text = "{" + strconv.Quote(s.path[i]) + ":" + text + "}"
		}
	}
	return fmt.Sprintf(`{"apiVersion":%q,"kind":%q%s`, s.apiVersion, s.kind, strings.Replace(","+text[1:], ",}", "}", 1))
}
