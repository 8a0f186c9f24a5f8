package strategic

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/bowline-go/bowline/internal/gotype"
)

// ShapeOf reads the shape of a struct's objects from the tags of its type. t may be a pointer to one.
func ShapeOf(t reflect.Type) (*Shape, error) {
	given := t
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%s must be a struct or a pointer to one", given)
	}
	r := typeReader{known: make(map[reflect.Type]*Shape)}
	root := r.read(t)
	if len(r.errs) > 0 {
		return nil, fmt.Errorf("%s: %w", t, errors.Join(r.errs...))
	}
	return root, nil
}

// typeReader makes one shape of each Go type, so that it can read a type that contains itself.
type typeReader struct {
	known map[reflect.Type]*Shape
	errs  []error
}

func (r *typeReader) read(t reflect.Type) *Shape {
	for t.Kind() == reflect.Pointer && t.Name() == "" {
		t = t.Elem()
	}
	if s, ok := r.known[t]; ok {
		return s
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Map, reflect.Slice, reflect.Array:
	default:
		return nil
	}
	s := &Shape{}
	r.known[t] = s
	switch t.Kind() {
	case reflect.Struct:
		s.members = r.members(t)
	case reflect.Map:
		if s.values = r.read(t.Elem()); s.values == nil {
			s.values = &Shape{} // it may have any members, and nothing is known about them
		}
	default:
		s.items = r.read(t.Elem())
	}
	return s
}

// found is a struct field, with what encoding/json compares if several have one name.
type found struct {
	Field
	tagged bool
	twice  bool
}

// members reads a struct as encoding/json does, level by level of embedding. The shallowest field with a name wins,
// then the one with the name in its tag; if two are still equal, neither counts.
func (r *typeReader) members(t reflect.Type) map[string]Field {
	members := make(map[string]Field)
	taken := make(map[string]bool)
	seen := map[reflect.Type]int{t: 0} // the level of each struct
	for level, depth := []reflect.Type{t}, 1; len(level) > 0; depth++ {
		names := make(map[string]found)
		count := make(map[reflect.Type]int)
		var next []reflect.Type
		for _, t := range level {
			for i := range t.NumField() {
				f := t.Field(i)
				if inner := gotype.Embedded(f); inner != nil {
					at, ok := seen[inner]
					if count[inner]++; !ok || at == depth && count[inner] == 2 { // twice: then none of its fields counts
						seen[inner] = depth
						next = append(next, inner)
					}
					continue
				}
				r.add(names, t, f)
			}
		}
		for name, f := range names {
			if !taken[name] && !f.twice {
				members[name] = f.Field
			}
			taken[name] = true
		}
		level = next
	}
	return members
}

// add adds a field of a struct to the names of its level.
func (r *typeReader) add(names map[string]found, t reflect.Type, f reflect.StructField) {
	tag := f.Tag.Get("json")
	if !f.IsExported() || tag == "-" {
		return
	}
	name, _, _ := strings.Cut(tag, ",")
	now := found{tagged: name != ""}
	name = cmp.Or(name, f.Name)
	now.MergeKey = f.Tag.Get("patchMergeKey")
	if err := now.strategies(f.Tag.Get("patchStrategy")); err != nil {
		r.errs = append(r.errs, fmt.Errorf("%s.%s: %w", t, f.Name, err))
	}
	now.Shape = r.read(f.Type)
	if was, ok := names[name]; ok {
		if was.tagged && !now.tagged {
			return
		}
		now.twice = was.tagged == now.tagged
	}
	names[name] = now
}
