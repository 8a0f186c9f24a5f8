package source

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/crd"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/typegen/internal/schema"
)

// Options say what Write writes.
type Options struct {
	// Package is the name of the package.
	Package string
	// Command is the command that the first line of the source names.
	Command string
	// Fields are the paths of the fields that the structs have. None means all fields of whole objects.
	Fields []string
	// Hints returns the Hint of a field. Nil means that there are no hints.
	Hints func(component, property string) Hint
	// Functions makes each descriptor a function, which importers cannot change. Otherwise it is a variable.
	Functions bool
	// Imports are the packages that have types of components.
	Imports []Import
	// Replacements are types of other packages for values of a kind.
	Replacements []Replacement
	// Definitions adds the tags with which package crd makes the definitions again, and a function for each. The kinds
	// must be all versions of CustomResourceDefinitions. It excludes Fields, Imports and Replacements.
	Definitions bool
	// Note, if set, is called with a line for each part of a definition that package crd does not make again. The
	// source has these lines too.
	Note func(line string)
}

// maxTypes bounds the number of types that Write writes.
const maxTypes = 20_000

var errTooMany = fmt.Errorf("the schemas must need at most %d types; choose kinds or fields", maxTypes)

// generator makes the types of one package.
type generator struct {
	options    Options
	names      names
	kinds      []*goKind
	types      []any // *goStruct and *goEnum, in the order in which they are written
	components map[string]made
	now        schema.Kind // the kind whose types are being made
	replaced   map[string]bool
	wanted     map[*schema.Schema]*crd.Schema // of definitions
	refused    map[*schema.Manifest][]string  // why package crd refuses words
}

// made is the type of a component, and the document of the component.
type made struct {
	typ goType
	in  map[string]*schema.Schema
}

// isMade returns the type that was made for a component. The documents of two groups of one server have the same
// components. If the components of two files differ, each gets its own type.
func (g *generator) isMade(ref string) (goType, bool) {
	m, ok := g.components[ref]
	return m.typ, ok && (sameMap(m.in, g.now.Components) || same(ref, m.in, g.now.Components, map[string]bool{}))
}

func sameMap(a, b map[string]*schema.Schema) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}

// same reports whether two documents have the same component, and the same components to which it refers.
func same(ref string, a, b map[string]*schema.Schema, seen map[string]bool) bool {
	if seen[ref] {
		return true
	}
	seen[ref] = true
	if !reflect.DeepEqual(a[ref], b[ref]) {
		return false
	}
	equal := true
	b[ref].Refs(func(inner string) { equal = equal && same(inner, a, b, seen) })
	return equal
}

// Write returns the source of a package with the kinds. The same kinds and Options give the same bytes. The error names
// the kind and the schema that have no Go type.
func Write(kinds []schema.Kind, o Options) ([]byte, error) {
	g := &generator{options: o, names: names{}, components: map[string]made{}, replaced: map[string]bool{}}
	if o.Hints == nil {
		g.options.Hints = func(string, string) Hint { return Hint{} }
	}
	chosen, err := selectFields(o.Fields)
	if err != nil {
		return nil, err
	}
	if err := o.checkPackages(); err != nil {
		return nil, err
	}
	if o.Definitions {
		if g.wanted, err = wanted(kinds); err != nil {
			return nil, err
		}
		g.refused = make(map[*schema.Manifest][]string)
	}
	if err := g.reserve(kinds); err != nil {
		return nil, err
	}
	for i, k := range kinds {
		g.now = k
		if err := g.kind(g.kinds[i], chosen); err != nil {
			return nil, fmt.Errorf("write the type of %v: %w", k.GVK, err)
		}
	}
	if err := g.checkReplaced(); err != nil {
		return nil, err
	}
	if err := g.finite(); err != nil {
		return nil, err
	}
	return g.print()
}

// reserve chooses the names of the kinds and of their descriptors, before those of other types. If there are several
// versions of a kind, the names have the version.
func (g *generator) reserve(kinds []schema.Kind) error {
	versions := make(map[string]int)
	seen := make(map[meta.GVK]bool)
	for _, k := range kinds {
		if seen[k.GVK] {
			return fmt.Errorf("the kind %v must come once, and comes twice", k.GVK)
		}
		seen[k.GVK] = true
		versions[k.GVK.Group+"/"+k.GVK.Kind]++
	}
	for _, k := range kinds {
		suffix := ""
		if versions[k.GVK.Group+"/"+k.GVK.Kind] > 1 {
			suffix = goName(k.GVK.Version)
		}
		typ := goName(k.GVK.Kind) + suffix
		group, _, _ := strings.Cut(k.GVK.Group, ".")
		g.kinds = append(g.kinds, &goKind{
			typ:      g.names.take(typ, goName(group)+typ),
			resource: meta.GVR{Group: k.GVK.Group, Version: k.GVK.Version, Resource: k.Resource},
			kind:     k.GVK.Kind, listKind: k.ListKind, scope: k.Scope, of: k,
		})
	}
	for i, k := range g.kinds {
		plural := pluralOf(kinds[i].GVK.Kind, k.resource.Resource)
		if versions[kinds[i].GVK.Group+"/"+k.kind] > 1 {
			plural += goName(k.resource.Version)
		}
		k.plural = pluralOf(kinds[i].GVK.Kind, k.resource.Resource)
		k.name = g.names.take(plural, k.typ+"Resource")
		k.doc = fmt.Sprintf("%s is the resource %s.", k.name, k.resource)
		if g.options.Functions {
			k.doc = fmt.Sprintf("%s returns the type of the resource %s.", k.name, k.resource)
		}
		k.root = &goStruct{name: k.typ, taken: names{}, passed: []string{"apiVersion", "kind"}}
		if s := kinds[i].Schema; s != nil && s.Ref != "" && len(g.options.Fields) == 0 {
			g.components[s.Ref] = made{goType{expr: k.typ, form: structure, of: k.root}, kinds[i].Components}
		}
	}
	return nil
}

// kind makes the struct of a kind.
func (g *generator) kind(k *goKind, chosen selection) error {
	s := g.now.Schema
	if s != nil {
		s = g.lookup(s)
	}
	known := s != nil && slices.ContainsFunc(slices.Collect(maps.Keys(s.Properties)), func(name string) bool { return !isHead(name) })
	if chosen == nil && !known && (s == nil || s.PreserveUnknown) && !g.options.Definitions {
		k.pointsTo = "meta.Raw"
		k.aliasDoc = fmt.Sprintf("%s is the kind %v, about which nothing is known. Read its fields with meta.Nested.", k.typ, g.now.GVK)
		return nil
	}
	if s == nil {
		return errNoFields
	}
	root := k.root
	root.component = g.now.Schema.Ref
	if err := g.begin(root, s, fmt.Sprintf("the kind %v", g.now.GVK)); err != nil {
		return err
	}
	root.open = s.PreserveUnknown && chosen == nil
	if err := g.head(root, chosen); err != nil {
		return err
	}
	return g.fields(root, s, g.now.GVK.Kind, chosen)
}

// isHead reports whether a member of an object has the same type in all kinds.
func isHead(name string) bool { return name == "apiVersion" || name == "kind" || name == "metadata" }

// begin adds a struct to those that are written, so that it stands before the types of its fields.
func (g *generator) begin(st *goStruct, s *schema.Schema, what string) error {
	if len(g.types) >= maxTypes {
		return errTooMany
	}
	st.doc = described(st.name, what, s)
	if s.PreserveUnknown {
		st.taken["Unknown"], st.taken["MarshalJSON"], st.taken["UnmarshalJSON"] = true, true, true
	}
	g.types = append(g.types, st)
	return nil
}

// described returns the comment of a type.
func described(name, what string, s *schema.Schema) string {
	doc := fmt.Sprintf("%s is %s.", name, what)
	if strings.HasPrefix(s.Description, name+" ") {
		doc = s.Description
	} else if s.Description != "" {
		doc += "\n\n" + s.Description
	}
	for _, group := range s.Groups {
		list := strings.Join(group.Members, ", ")
		switch {
		case group.Discriminator != "":
			doc += fmt.Sprintf("\n\n%s says which of these is set: %s.", group.Discriminator, list)
		case group.Exactly:
			doc += fmt.Sprintf("\n\nExactly one of these is set: %s.", list)
		default:
			doc += fmt.Sprintf("\n\nAt most one of these is set: %s.", list)
		}
	}
	for _, rule := range s.Rules {
		doc += "\n\nThe server checks: " + strings.TrimSuffix(strings.TrimSpace(rule), ".") + "."
	}
	return doc
}

// head adds the metadata and, for the struct of a whole object, the kind.
func (g *generator) head(root *goStruct, chosen selection) error {
	if chosen == nil {
		root.embed(ofMeta("TypeMeta", structure), "")
	}
	parts, some := chosen["metadata"]
	if chosen == nil || some && parts == nil {
		root.embed(ofMeta("ObjectMeta", structure), "metadata")
		return nil
	}
	if len(parts) == 0 {
		root.embed(ofMeta("Identity", structure), "metadata")
		return nil
	}
	inner := &goStruct{name: g.names.take(root.name + "Metadata"), taken: names{}}
	if err := g.begin(inner, &schema.Schema{}, "the metadata of "+root.name); err != nil {
		return err
	}
	if err := inner.metadata(parts); err != nil {
		return err
	}
	root.embed(goType{expr: inner.name, form: structure, of: inner}, "metadata")
	return nil
}

// embed adds an embedded struct. It reserves the names of its fields and methods.
func (st *goStruct) embed(t goType, member string) {
	for _, with := range []reflect.Type{reflect.TypeFor[*meta.ObjectMeta](), reflect.TypeFor[*meta.TypeMeta]()} {
		for i := range with.NumMethod() {
			st.taken[with.Method(i).Name] = true
		}
		for i := range with.Elem().NumField() {
			st.taken[with.Elem().Field(i).Name] = true
		}
		st.taken[with.Elem().Name()] = true
	}
	st.taken[strings.TrimPrefix(t.expr, "meta.")] = true
	st.fields = append(st.fields, goField{typ: t, member: member})
}

// metadata adds the chosen parts of an object's metadata.
func (st *goStruct) metadata(parts selection) error {
	whole := reflect.TypeFor[meta.ObjectMeta]()
	st.embed(ofMeta("Identity", structure), "")
	for i := range whole.NumField() {
		f := whole.Field(i)
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		below, ok := parts[name]
		delete(parts, name)
		switch {
		case !ok:
			continue
		case below != nil:
			return fmt.Errorf("metadata.%s: %w", name, errNoFields)
		}
		switch name {
		case "name", "namespace", "uid", "resourceVersion": // Identity has them
		case "labels":
			st.embed(ofMeta("LabelMeta", structure), "")
		case "ownerReferences":
			st.embed(ofMeta("OwnerMeta", structure), "")
		case "deletionTimestamp", "finalizers":
			if !st.taken["DeletionMeta"] {
				st.embed(ofMeta("DeletionMeta", structure), "")
			}
		default:
			t := goType{expr: f.Type.String()}
			if strings.Contains(t.expr, "meta.") {
				t.packages = []string{metaPackage}
			}
			st.fields = append(st.fields, goField{name: f.Name, typ: t, member: name, option: option})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		return fmt.Errorf("metadata has no field %q", name)
	}
	return nil
}

// finite refuses structs that would contain themselves.
func (g *generator) finite() error {
	state := make(map[*goStruct]int) // 1 while it is visited, 2 after that
	var visit func(st *goStruct) error
	visit = func(st *goStruct) error {
		switch state[st] {
		case 1:
			return fmt.Errorf("the schema of %s requires another value of itself within each value, so that none is finite", st.name)
		case 2:
			return nil
		}
		state[st] = 1
		for i := range st.fields {
			if f := &st.fields[i]; f.typ.of != nil && f.holds() {
				if err := visit(f.typ.of); err != nil {
					return err
				}
			}
		}
		state[st] = 2
		return nil
	}
	for _, t := range g.types {
		if st, ok := t.(*goStruct); ok {
			if err := visit(st); err != nil {
				return err
			}
		}
	}
	return nil
}

// lookup follows references. Package schema has checked that they lead to a schema.
func (g *generator) lookup(s *schema.Schema) *schema.Schema {
	for range schema.MaxDepth {
		if s.Ref == "" {
			break
		}
		s = g.now.Components[s.Ref]
	}
	return s
}
