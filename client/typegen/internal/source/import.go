package source

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/typegen/internal/schema"
)

// Import is a package with the types of components.
type Import struct {
	// Prefix is the beginning of the components' names, without the dot before the last part, such as
	// io.k8s.api.core.v1.
	Prefix string
	Package
}

// Package is a package that the written source may import.
type Package struct {
	// Path is the import path, and Name the name of the package.
	Path, Name string
	// Structs are its exported structs.
	Structs map[string]Struct
}

// Struct is a struct of another package.
type Struct struct {
	// Members are its fields by their names in JSON. The value is the name of the package's struct that is the type of
	// the field, or of the elements of its list or map; empty for other types.
	Members map[string]string
	// More says that the struct may have further members, because it embeds a struct of another package.
	More bool
}

// lacks returns the path of the first property for which a struct of the package has no field; "" if there is none. It
// does not look into types of other packages.
func (g *generator) lacks(p *Package, name string, s *schema.Schema, seen map[string]bool) string {
	ref := s.Ref
	s = g.lookup(s)
	switch {
	case s.Items != nil:
		return g.lacks(p, name, s.Items, seen)
	case s.Additional != nil:
		return g.lacks(p, name, s.Additional, seen)
	}
	st, known := p.Structs[name]
	if !known || ref != "" && seen[name+" "+ref] {
		return ""
	}
	seen[name+" "+ref] = true
	for _, property := range slices.Sorted(maps.Keys(s.Properties)) {
		inner, has := st.Members[property]
		if !has && !st.More {
			return property
		}
		if below := g.lacks(p, inner, s.Properties[property], seen); below != "" {
			return property + "." + below
		}
	}
	return ""
}

// imported returns the type of a component that another package has: a struct with the name of the component, and a
// field for each of its properties. It returns false if there is no such struct.
func (g *generator) imported(ref string) (goType, bool) {
	at := strings.LastIndexByte(ref, '.')
	for i := range g.options.Imports {
		p := &g.options.Imports[i]
		if at < 0 || p.Prefix != ref[:at] {
			continue
		}
		name := goName(ref[at+1:])
		if _, ok := p.Structs[name]; ok && g.lacks(&p.Package, name, &schema.Schema{Ref: ref}, map[string]bool{}) == "" {
			return p.typ(name), true
		}
	}
	return goType{}, false
}

func (p *Package) typ(name string) goType {
	return goType{expr: p.Name + "." + name, form: structure, packages: []string{p.Path}}
}

// Replacement is a type of another package for a value within a kind.
type Replacement struct {
	// Field is the path of the value, such as spec.template. A path continues through lists and maps into their
	// elements.
	Field string
	// Type is the name of a struct of the package.
	Type string
	Package
}

// replacement returns the type that Options.Replacements have for an object, if there is one.
func (g *generator) replacement(o *schema.Schema, m member) (goType, bool, error) {
	if s := g.lookup(o); s.Additional != nil || s.Type != "object" && !s.PreserveUnknown {
		return goType{}, false, nil
	}
	_, field, _ := strings.Cut(m.at, ".")
	for i := range g.options.Replacements {
		r := &g.options.Replacements[i]
		if r.Field != field {
			continue
		}
		g.replaced[r.Field] = true
		if _, ok := r.Structs[r.Type]; !ok {
			return goType{}, false, fmt.Errorf("%s: package %s has no struct %s", m.at, r.Path, r.Type)
		}
		if lost := g.lacks(&r.Package, r.Type, o, map[string]bool{}); lost != "" {
			return goType{}, false, fmt.Errorf("%s: %s.%s has no field for %q, which would be lost", m.at, r.Path, r.Type, lost)
		}
		return r.typ(r.Type), true, nil
	}
	return goType{}, false, nil
}

// checkReplaced returns an error for a Replacement that no object needed.
func (g *generator) checkReplaced() error {
	for _, r := range g.options.Replacements {
		if !g.replaced[r.Field] {
			return fmt.Errorf("no kind has an object at %q that %s.%s could be the type of", r.Field, r.Path, r.Type)
		}
	}
	return nil
}

// checkPackages returns an error if two packages have the same name.
func (o *Options) checkPackages() error {
	paths := map[string]string{"json": jsonPackage, "meta": metaPackage, "client": clientPackage, "crd": crdPackage}
	for _, p := range o.packages() {
		if had := paths[p.Name]; had != "" && had != p.Path {
			return fmt.Errorf("packages %s and %s must not have the same name, %s", had, p.Path, p.Name)
		}
		paths[p.Name] = p.Path
	}
	return nil
}

func (o *Options) packages() (all []Package) {
	for _, p := range o.Imports {
		all = append(all, p.Package)
	}
	for _, r := range o.Replacements {
		all = append(all, r.Package)
	}
	return all
}

// packageName returns the name of a package that is imported.
func (o *Options) packageName(at string) string {
	for _, p := range o.packages() {
		if p.Path == at {
			return p.Name
		}
	}
	return path.Base(at)
}
