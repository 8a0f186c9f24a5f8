package clienttest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/printing"
	"github.com/bowline-go/bowline/client/clienttest/internal/schema"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

// Resource describes a resource that the server serves, as a CustomResourceDefinition does on a real server. It behaves like a
// custom resource: the server accepts any body, the generation counts up, an update must have a resource version, and the items
// of a list name their kind.
type Resource struct {
	// Group is empty for the core group.
	Group string
	// Version, Kind and Resource (the plural in the path) must be set. They are DNS labels, as in a CustomResourceDefinition:
	// letters, digits and "-", starting with a letter. Only Kind may have capitals.
	Version, Kind, Resource string
	// Singular is kubectl's name for one object; empty means Kind in lower case.
	Singular string
	// ShortNames and Categories are further names that kubectl accepts.
	ShortNames, Categories []string
	// Scope is meta.Namespaced unless set.
	Scope meta.Scope
	// Status adds the status subresource. Then only writes to it change status, and they change nothing else.
	Status bool
	// SelectableFields are paths, such as "spec.color", that field selectors may use besides metadata.name and
	// metadata.namespace. The fields must be scalars.
	SelectableFields []string
	// Schema is the openAPIV3Schema of the resource's CustomResourceDefinition: of type object, with the extensions
	// x-kubernetes-list-type, x-kubernetes-list-map-keys, x-kubernetes-map-type, x-kubernetes-embedded-resource and
	// x-kubernetes-preserve-unknown-fields. The server drops members that the schema does not have, by the fieldValidation of the
	// write, and fills in defaults. It does not check values. Empty means that there is no schema: all members stay.
	Schema json.RawMessage
}

// GVR returns the resource's full name.
func (r Resource) GVR() meta.GVR {
	return meta.GVR{Group: r.Group, Version: r.Version, Resource: r.Resource}
}

// GVK returns the full name of its kind.
func (r Resource) GVK() meta.GVK {
	return meta.GVK{Group: r.Group, Version: r.Version, Kind: r.Kind}
}

// resource is a Resource with its objects, and its differences from other resources on a real server.
type resource struct {
	Resource
	builtinTraits
	object.Type
	order int // of a built-in resource: its place in discovery

	objects collection
	twin    *resource     // another view of the same objects; nil if there is none
	since   uint64        // the version at which it was registered
	gone    chan struct{} // closed by Unregister
}

// builtinTraits are the differences of a built-in resource from a custom one. On a real server they are in each type's strategy.
type builtinTraits struct {
	graceful     bool // DELETE first sets deletionTimestamp
	initial      any  // the status of a new object
	columns      []printing.Column
	print        printing.Printer // the cells of the columns
	fixed        bool             // spec stays as it was created
	prepare      func(d *object.Draft, creating bool)
	complete     func(d *object.Draft, by User) // records the creator in a new object
	check        func(old, d *object.Draft, subresource string) []meta.StatusCause
	checkNew     func(d *object.Draft, metadata []meta.StatusCause) []meta.StatusCause // all that is wrong, given what is wrong with the metadata
	subresources map[string]*subresource                                               // including status, if there is one
	review       review                                                                // answers a create without storing the object
}

// groupResource is the resource's name in errors, such as "leases.coordination.k8s.io".
func (r *resource) groupResource() string { return status.Qualified(r.Resource.Resource, r.Group) }

// groupKind is the kind's name in errors.
func (r *resource) groupKind() string { return status.Qualified(r.Kind, r.Group) }

// verbs in the order in which discovery lists them.
func (r *resource) verbs() []string {
	switch {
	case r.review != nil:
		return []string{"create"}
	case r.Single:
		return []string{"create", "delete", "get", "list", "patch", "update", "watch"}
	}
	return []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
}

// validate returns every reason why r cannot be registered.
func (r Resource) validate() error {
	var errs []error
	for _, f := range []struct{ name, value string }{
		{"Version", r.Version}, {"Kind", r.Kind}, {"Resource", r.Resource},
	} {
		err := meta.ValidSegment(f.name, f.value)
		if err == nil && !isLabel(f.value, f.name == "Kind") {
			err = fmt.Errorf("%s must be a DNS label, as in a CustomResourceDefinition, got %q: %s", f.name, f.value, labelRule)
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	if r.Group != "" {
		if err := meta.ValidSegment("Group", r.Group); err != nil {
			errs = append(errs, err)
		}
	}
	for _, path := range r.SelectableFields {
		if path == "" || strings.HasPrefix(path, "metadata.") {
			errs = append(errs, fmt.Errorf("SelectableFields must be paths outside of metadata, got %q", path))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("clienttest.Resource %q: %w", r.Resource, err)
	}
	return nil
}

const labelRule = `at most 63 lower-case letters, digits and "-", starting with a letter and not ending with "-"; Kind may have capitals`

// isLabel reports whether a name is a DNS label (RFC 1035), which a real server requires of the names in a
// CustomResourceDefinition.
func isLabel(name string, capitals bool) bool {
	if capitals {
		name = strings.ToLower(name)
	}
	for i, c := range []byte(name) {
		letter, edge := 'a' <= c && c <= 'z', i == 0 || i == len(name)-1
		if !letter && (i == 0 || !('0' <= c && c <= '9') && (c != '-' || edge)) {
			return false
		}
	}
	return name != "" && len(name) <= 63
}

// registry holds the resources that the server serves. The server's lock protects it.
type registry struct {
	resources map[meta.GVR]*resource
}

// add completes r, if it can be registered. The order of registration does not matter.
func (g *registry) add(r *resource) error {
	if err := r.validate(); err != nil {
		return err
	}
	declared, err := schema.Declared(r.Schema)
	if err != nil {
		return fmt.Errorf("clienttest.Resource %q: %w", r.Resource.Resource, err)
	}
	r.Of, r.Apart, r.Selectable, r.Declared = r.GVK(), r.Status, r.SelectableFields, declared
	if r.Singular == "" {
		r.Singular = strings.ToLower(r.Kind)
	}
	for _, old := range g.resources {
		if old.Group != r.Group || old.Resource.Resource != r.Resource.Resource && old.Kind != r.Kind {
			continue
		}
		if old.Builtin {
			return fmt.Errorf("clienttest.Resource %q: %s is registered already: it is built in, so leave it out", r.Resource.Resource, old.GVR())
		}
		return fmt.Errorf("clienttest.Resource %q: %s is registered already; one version of a resource is served",
			r.Resource.Resource, old.GVR())
	}
	if r.Status && r.subresources["status"] == nil {
		r.subresources = maps.Clone(r.subresources)
		if r.subresources == nil {
			r.subresources = map[string]*subresource{}
		}
		r.subresources["status"] = partOf(statusPart)
	}
	return nil
}

// all returns the registered resources: the core group first, the rest by group, version and resource.
func (g *registry) all() []*resource {
	rs := make([]*resource, 0, len(g.resources))
	for _, r := range g.resources {
		rs = append(rs, r)
	}
	slices.SortFunc(rs, func(a, b *resource) int {
		return cmp.Or(
			cmp.Compare(a.Group, b.Group), cmp.Compare(a.Version, b.Version),
			cmp.Compare(a.Resource.Resource, b.Resource.Resource),
		)
	})
	return rs
}

// compiledIn reports whether a group has built-in resources.
func (g *registry) compiledIn(group string) bool {
	for name, r := range g.resources {
		if name.Group == group && r.Builtin {
			return true
		}
	}
	return group == ""
}

// fields returns the shape of the resource's objects; without a schema it has only metadata.
func (r *resource) fields() *schema.Shape {
	if s := r.Shape(); s != nil {
		return s
	}
	return schema.AnyObject()
}
