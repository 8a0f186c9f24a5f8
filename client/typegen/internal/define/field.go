package define

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/bowline-go/bowline/client/crd"
)

// Field is a field of a written struct.
type Field struct {
	// Struct is the field without the tag crd.
	Struct reflect.StructField
	// Name is the name in JSON.
	Name string
	// Root says that the field belongs to the object itself.
	Root bool
	// Open is the word preserveUnknown, with prefixes items. for elements, if the field has a struct that keeps members
	// without a field. Package crd does not accept such a struct without the word.
	Open string
}

// Property is the property that package crd makes from a field.
type Property struct {
	Schema   *crd.Schema
	Required bool
}

// With returns the property that package crd makes from the field with the words of a tag.
func (f Field) With(text string) (p Property, err error) {
	is := f.Struct
	if text != "" {
		is.Tag += reflect.StructTag(" crd:" + quoted(text))
	}
	object := reflect.StructOf([]reflect.StructField{is})
	if !f.Root { // package crd has special rules for the members of the object itself
		object = reflect.StructOf([]reflect.StructField{{Name: "Spec", Type: object, Tag: `json:"spec"`}})
	}
	v, err := crd.VersionOf(reflect.PointerTo(object), "v1", crd.Options{})
	if err != nil {
		return p, err
	}
	s := v.Schema.OpenAPIV3Schema
	if !f.Root {
		s = s.Properties["spec"]
	}
	return Property{s.Properties[f.Name], slices.Contains(s.Required, f.Name)}, nil
}

// fates are the possible words about whether a field is required and whether it may be null, the shortest first.
var fates = [...]group{nil, {"optional"}, {"required"}, {"nullable"}, {"required", "nullable"}, {"optional", "nullable"}}

// Tag returns the words with which package crd makes the wanted property from a field, as far as there are such words.
// refused says why package crd refuses other words. Tag returns an error if package crd accepts the field with none of
// the words.
func (f Field) Tag(want Property) (text string, refused []string, err error) {
	var open []group
	if f.Open != "" {
		open = []group{{f.Open}}
	}
	base, err := f.With(tag(open))
	if err != nil {
		// A word may remove the error, for example if the other tags make the list a list map, or if an enum may be
		// null.
		base = Property{Schema: new(crd.Schema)}
	}
	if want.Schema == nil {
		want.Schema = base.Schema
	}
	w := words{groups: open}
	w.fill(base.Schema, want.Schema)
	if text, err = f.chosen(w.groups, want); err == nil {
		return text, nil, nil
	}
	kept := open
	for _, g := range w.groups[len(open):] {
		if _, wrong := f.chosen(slices.Concat(kept, []group{g}), want); wrong != nil {
			refused = append(refused, reason(wrong))
			continue
		}
		kept = slices.Concat(kept, []group{g})
	}
	if text, err = f.chosen(kept, want); err != nil {
		return "", nil, fmt.Errorf("package crd has no definition with the field: %s", reason(err))
	}
	return text, refused, nil
}

// reason returns the first mistake that package crd finds. It leaves out the place, because the type has no name.
func reason(err error) string {
	if all, ok := err.(interface{ Unwrap() []error }); ok {
		err = all.Unwrap()[0]
	}
	if inner := errors.Unwrap(err); inner != nil {
		err = inner
	}
	return err.Error()
}

// chosen returns the tag with the words of groups and one of the fates. It chooses the fate with which package crd
// makes the wanted property, or else the accepted fate that comes closest. The error says why package crd accepts none.
func (f Field) chosen(groups []group, want Property) (text string, err error) {
	accepted, best := "", 0
	for i, fate := range fates {
		with := tag(slices.Concat([]group{fate}, groups))
		p, wrong := f.With(with)
		if wrong != nil {
			if i == 0 {
				err = wrong
			}
			continue
		}
		score := 1
		if p.Required == want.Required {
			score += 2
		}
		if p.Schema.Nullable == want.Schema.Nullable {
			score++
		}
		if score > best {
			accepted, best = with, score
		}
		if score == 4 {
			break
		}
	}
	if best > 0 {
		return accepted, nil
	}
	return "", err
}

// SameMembers reports whether two objects have the same members and are merged in the same way. It ignores
// descriptions.
func SameMembers(x, y *crd.Schema) bool {
	if x == nil || y == nil || x.MapType != "" && x.MapType != y.MapType {
		return false
	}
	a, err := treeOf(crd.Schema{Properties: x.Properties, Required: x.Required})
	b, wrong := treeOf(crd.Schema{Properties: y.Properties, Required: y.Required})
	if err != nil || wrong != nil {
		return false
	}
	var left []string
	differ(&left, "", withoutTexts(a), withoutTexts(b), true)
	return len(left) == 0
}

// withoutTexts returns a schema without descriptions.
func withoutTexts(s map[string]any) map[string]any {
	s = maps.Clone(s)
	delete(s, "description")
	if properties, ok := s["properties"].(map[string]any); ok {
		properties = maps.Clone(properties)
		for name, p := range properties {
			if p, ok := p.(map[string]any); ok {
				properties[name] = withoutTexts(p)
			}
		}
		s["properties"] = properties
	}
	for _, name := range []string{"items", "additionalProperties"} {
		if inner, ok := s[name].(map[string]any); ok {
			s[name] = withoutTexts(inner)
		}
	}
	return s
}
