package source

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/crd"
	"github.com/bowline-go/bowline/client/typegen/internal/define"
	"github.com/bowline-go/bowline/client/typegen/internal/schema"
)

// This file writes the tags and functions from which package crd makes the definitions again. Package crd works by
// reflection, and the written types are not compiled yet. So this file makes similar types for it at run time.

var errNoDefinition = errors.New("its kind must be that of a CustomResourceDefinition with a schema, to be defined again")

// wanted returns the schemas of the definitions in the form of package crd.
func wanted(kinds []schema.Kind) (map[*schema.Schema]*crd.Schema, error) {
	all := make(map[*schema.Schema]*crd.Schema)
	known := make(map[*schema.Manifest]*crd.Definition)
	for _, k := range kinds {
		if k.Manifest == nil || k.Schema == nil {
			return nil, fmt.Errorf("write the type of %v: %w", k.GVK, errNoDefinition)
		}
		d := known[k.Manifest]
		if d == nil {
			var err error
			if d, err = define.Decode(k.Manifest.Tree); err != nil {
				return nil, fmt.Errorf("write the type of %v: %w", k.GVK, err)
			}
			known[k.Manifest] = d
		}
		pair(k.Schema, d.Spec.Versions[k.Index].Schema.OpenAPIV3Schema, all)
	}
	return all, nil
}

// pair maps s, and each schema within s, to its counterpart in the form of package crd. It adds the entries to all.
func pair(s *schema.Schema, is *crd.Schema, all map[*schema.Schema]*crd.Schema) {
	if s == nil || is == nil {
		return
	}
	all[s] = is
	for name, p := range s.Properties {
		pair(p, is.Properties[name], all)
	}
	pair(s.Items, is.Items, all)
	if is.AdditionalProperties != nil {
		pair(s.Additional, is.AdditionalProperties.Schema, all)
	}
}

// property returns a field in the form of package define.
func (f *goField) property(root bool) define.Field {
	t := f.typ.like
	if f.pointer {
		t = reflect.PointerTo(t)
	}
	name := f.name
	if name == "" {
		name = "Embedded" // an embedded ObjectMeta, which a named field can replace
	}
	open := ""
	if f.typ.open > 0 {
		open = strings.Repeat("items.", f.typ.open-1) + "preserveUnknown"
	}
	return define.Field{
		Struct: reflect.StructField{Name: name, Type: t, Tag: reflect.StructTag(f.tagText())},
		Name:   f.member, Root: root, Open: open,
	}
}

// say sets the tag with which package crd makes the property of a field.
func (g *generator) say(f *goField, use *schema.Schema, required, root bool, at string) error {
	words, refused, err := f.property(root).Tag(define.Property{Schema: g.wanted[use], Required: required})
	f.words = words
	_, path, _ := strings.Cut(at, ".")
	if len(g.now.Manifest.Versions()) > 1 {
		path = g.now.GVK.Version + ": " + path
	}
	for _, why := range refused {
		g.refused[g.now.Manifest] = append(g.refused[g.now.Manifest], path+": "+why)
	}
	return err
}

// exact reports whether package crd makes the schema s from the type.
func (g *generator) exact(t goType, s *schema.Schema) bool {
	f := goField{name: "F", typ: t, member: "f"}
	p, err := f.property(false).With("")
	return err == nil && define.SameMembers(p.Schema, g.wanted[s])
}

// like returns a type from which package crd makes the schema of the struct. The type lacks the metadata of an object.
func (st *goStruct) like() reflect.Type {
	var fields []reflect.StructField
	for i := range st.fields {
		f := &st.fields[i]
		if f.member == "" || f.name == "" && f.member == "metadata" && len(st.passed) > 0 {
			continue
		}
		is := f.property(false).Struct
		if f.words != "" {
			is.Tag += reflect.StructTag(" crd:" + quoted(f.words))
		}
		fields = append(fields, is)
	}
	return reflect.StructOf(fields)
}

// listLike returns the type of a list or a map of elements.
func listLike(prefix string, element reflect.Type) reflect.Type {
	prefix, pointer := strings.CutSuffix(prefix, "*")
	if pointer {
		element = reflect.PointerTo(element)
	}
	if prefix == "[]" {
		return reflect.SliceOf(element)
	}
	return reflect.MapOf(reflect.TypeFor[string](), element)
}

// definitions writes a function for each definition.
func (g *generator) definitions(b *strings.Builder) error {
	byManifest := make(map[*schema.Manifest][]*goKind)
	var order []*schema.Manifest
	for _, k := range g.kinds {
		m := k.of.Manifest
		if byManifest[m] == nil {
			order = append(order, m)
		}
		byManifest[m] = append(byManifest[m], k)
	}
	for _, m := range order {
		kinds := byManifest[m]
		slices.SortFunc(kinds, func(x, y *goKind) int { return x.of.Index - y.of.Index })
		if err := g.definition(b, m, kinds); err != nil {
			return fmt.Errorf("write the definition of %v: %w", kinds[0].of.GVK, err)
		}
	}
	return nil
}

// definition writes the function that makes a definition.
func (g *generator) definition(b *strings.Builder, m *schema.Manifest, kinds []*goKind) error {
	want, err := define.Decode(m.Tree)
	if err != nil {
		return err
	}
	if len(kinds) != len(want.Spec.Versions) {
		return fmt.Errorf("all of its %d versions must be chosen, got %d", len(want.Spec.Versions), len(kinds))
	}
	head, left, err := define.Head(want, m.Tree)
	if err != nil {
		return err
	}
	texts := make([]string, len(kinds))
	for i, k := range kinds {
		o, differences, err := define.Version(reflect.PointerTo(k.root.like()), want.Spec.Versions[i], m.Versions()[i])
		if err != nil {
			return err
		}
		for _, d := range differences {
			if len(kinds) > 1 {
				d = want.Spec.Versions[i].Name + ": " + d
			}
			left = append(left, d)
		}
		var text strings.Builder
		define.Members(&text, o, ",\n")
		texts[i] = text.String()
	}
	left = append(left, g.refused[m]...)
	for _, d := range left {
		if g.options.Note != nil {
			g.options.Note(want.Name + ": " + shown(d))
		}
	}
	g.printDefinition(b, want.Name, kinds, head, texts, left)
	return nil
}

// printDefinition writes the function. options are the options of the versions as source.
func (g *generator) printDefinition(b *strings.Builder, full string, kinds []*goKind, head crd.Options, options, left []string) {
	name := g.names.take(kinds[0].plural+"Definition", kinds[0].typ+"ResourceDefinition")
	doc := fmt.Sprintf("%s returns the CustomResourceDefinition %s.", name, full)
	if len(left) > 0 {
		doc += " It differs from the one that it was made of:\n\n" + strings.Join(left, "\n\n")
	}
	b.WriteString("\n")
	comment(b, 0, doc)
	fmt.Fprintf(b, "func %s() *crd.Definition {\n\treturn crd.MustOf(%s, crd.Options{\n%s", name, g.descriptor(kinds[0]), options[0])
	define.Members(b, head, ",\n")
	if len(kinds) > 1 {
		b.WriteString("Others: []crd.OtherVersion{\n")
		for i, k := range kinds[1:] {
			fmt.Fprintf(b, "crd.Other(%s, crd.Options{\n%s}),\n", g.descriptor(k), options[i+1])
		}
		b.WriteString("},\n")
	}
	b.WriteString("})\n}\n")
}

// descriptor returns the client.Type of a kind as source.
func (g *generator) descriptor(k *goKind) string {
	if g.options.Functions {
		return k.name + "()"
	}
	return k.name
}
