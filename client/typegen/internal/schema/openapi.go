package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/meta"
)

// readOpenAPI reads the kinds of a document that have a path.
func readOpenAPI(o object) ([]Kind, error) {
	components, err := o.child("components")
	if err != nil {
		return nil, err
	}
	schemas, err := components.child("schemas")
	if err != nil {
		return nil, err
	}
	all := make(map[string]*Schema, len(schemas.members))
	ofKind := make(map[meta.GVK]string)
	p := parser{left: MaxSchemas, refs: true}
	for _, name := range slices.Sorted(maps.Keys(schemas.members)) {
		if all[name], err = p.schema(schemas.path(name), schemas.members[name], 0); err != nil {
			return nil, err
		}
		for _, k := range all[name].kinds {
			if ofKind[k] == "" {
				ofKind[k] = name
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if err := all[name].resolve(schemas.path(name), all); err != nil {
			return nil, err
		}
	}
	kinds, err := readPaths(o)
	if err != nil {
		return nil, err
	}
	known := kinds[:0]
	for _, k := range kinds {
		if name := ofKind[k.GVK]; name != "" {
			k.Schema, k.Components = &Schema{Ref: name}, all
			if err := k.check(k.GVK.String()); err != nil {
				return nil, err
			}
			known = append(known, k)
		}
	}
	return known, nil
}

// resolve checks that the references lead to schemas, and not back to themselves.
func (s *Schema) resolve(at string, all map[string]*Schema) error {
	for next, steps := s, 0; next.Ref != ""; steps++ {
		to := all[next.Ref]
		switch {
		case to == nil:
			return fmt.Errorf("%s refers to %s, which is missing", at, quote(next.Ref))
		case steps > MaxDepth:
			return fmt.Errorf("%s refers to itself", at)
		}
		next = to
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if err := s.Properties[name].resolve(at+"."+show(name), all); err != nil {
			return err
		}
	}
	for _, inner := range []*Schema{s.Items, s.Additional} {
		if inner != nil {
			if err := inner.resolve(at, all); err != nil {
				return err
			}
		}
	}
	return nil
}

// readPaths finds the resources of a document: the paths that end in the name of a resource, or in the name and {name}.
func readPaths(o object) ([]Kind, error) {
	paths, err := o.child("paths")
	if err != nil {
		return nil, err
	}
	var kinds []Kind
	for _, path := range slices.Sorted(maps.Keys(paths.members)) {
		at, scope, ok := resourceOf(path)
		if !ok {
			continue
		}
		operations, err := paths.child(path)
		if err != nil {
			return nil, err
		}
		for _, method := range slices.Sorted(maps.Keys(operations.members)) {
			operation, _ := operations.members[method].(map[string]any)
			gvk, has := operation[kindExtension].(map[string]any)
			if !has {
				continue
			}
			k := Kind{GVK: object{operations.path(method), gvk}.gvk(&err), Resource: at.Resource, Scope: scope, Served: true}
			if err != nil {
				return nil, err
			}
			if k.GVK.Group == at.Group && k.GVK.Version == at.Version {
				kinds = add(kinds, k)
			}
		}
	}
	return kinds, nil
}

// add adds a kind unless kinds has its resource already. A namespaced resource also has a path over all namespaces.
func add(kinds []Kind, k Kind) []Kind {
	for i := range kinds {
		if kinds[i].GVK == k.GVK && kinds[i].Resource == k.Resource {
			if k.Scope == meta.Namespaced {
				kinds[i].Scope = meta.Namespaced
			}
			return kinds
		}
	}
	return append(kinds, k)
}

// resourceOf returns the resource of a path.
func resourceOf(path string) (at meta.GVR, scope meta.Scope, ok bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case len(parts) > 2 && parts[0] == "api":
		at.Version, parts = parts[1], parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		at.Group, at.Version, parts = parts[1], parts[2], parts[3:]
	default:
		return at, scope, false
	}
	scope = meta.Cluster
	if len(parts) > 2 && parts[0] == "namespaces" && parts[1] == "{namespace}" {
		scope, parts = meta.Namespaced, parts[2:]
	}
	if parts[0] == "watch" || len(parts) > 2 || len(parts) == 2 && parts[1] != "{name}" {
		return at, scope, false
	}
	at.Resource = parts[0]
	return at, scope, true
}
