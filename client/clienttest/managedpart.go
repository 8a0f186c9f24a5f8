package clienttest

import (
	"encoding/json"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/internal/fieldset"
)

// unowned are the fields that nobody is noted for.
func unowned() *fieldset.Set {
	set := &fieldset.Set{}
	set.Insert("f:apiVersion")
	set.Insert("f:kind")
	set.Insert("f:metadata")
	for _, name := range []string{
		"name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation", "managedFields", "resourceVersion",
	} {
		set.Insert("f:metadata", fieldset.Field(name))
	}
	return set
}

// fieldPart is what of a set of fields one request can write.
type fieldPart func(*fieldset.Set) *fieldset.Set

// writable returns the part of a set that a request can write: of the object itself all but its status, where that is a
// subresource, and of a subresource what that is.
func writable(r *resource, subresource string) fieldPart {
	switch subresource {
	case "status":
		return keepFields("status")
	case "approval":
		return keepFields("status.conditions")
	case "ephemeralcontainers":
		return keepFields("spec.ephemeralContainers")
	case "resize":
		return keepFields("spec.containers")
	case "finalize":
		return keepFields("spec.finalizers")
	}
	switch {
	case r.fixed:
		return dropFields("spec", "status")
	case r.builtin && r.Kind == "Namespace":
		return dropFields("spec.finalizers", "status")
	case r.Status:
		return dropFields("status")
	}
	return func(s *fieldset.Set) *fieldset.Set { return s }
}

// keepFields keeps what a path of members leads to.
func keepFields(path string) fieldPart {
	return func(s *fieldset.Set) *fieldset.Set {
		var inside func(s *fieldset.Set, names []string) *fieldset.Set
		inside = func(s *fieldset.Set, names []string) *fieldset.Set {
			if len(names) == 0 {
				return s
			}
			key := fieldset.Field(names[0])
			out := &fieldset.Set{}
			if c := inside(s.Child(key), names[1:]); !c.IsEmpty() {
				out.Children = map[string]*fieldset.Set{key: c}
			}
			return out
		}
		return inside(s, strings.Split(path, "."))
	}
}

// dropFields drops what paths of members lead to.
func dropFields(paths ...string) fieldPart {
	var inside func(s *fieldset.Set, names []string) *fieldset.Set
	inside = func(s *fieldset.Set, names []string) *fieldset.Set {
		if s == nil || len(names) == 0 {
			return nil
		}
		out := &fieldset.Set{Self: s.Self, Children: make(map[string]*fieldset.Set, len(s.Children))}
		for key, c := range s.Children {
			if key == fieldset.Field(names[0]) {
				if c = inside(c, names[1:]); c.IsEmpty() {
					continue
				}
			}
			out.Children[key] = c
		}
		return out
	}
	return func(s *fieldset.Set) *fieldset.Set {
		for _, path := range paths {
			s = inside(s, strings.Split(path, "."))
		}
		return s
	}
}

// value returns the whole object as one value, but for managedFields.
func (d *draft) value() jsontree.Object {
	m := d.meta
	m.ManagedFields = nil
	b, err := json.Marshal(m)
	if err != nil {
		panic("clienttest: encode metadata: " + err.Error()) // it was decoded
	}
	metadata, err := jsontree.Parse(b)
	if err != nil {
		panic("clienttest: " + err.Error())
	}
	out := make(jsontree.Object, len(d.content)+3)
	for k, v := range d.content {
		out[k] = v
	}
	out["apiVersion"], out["kind"], out["metadata"] = d.apiVersion, d.kind, metadata
	return out
}
