package client

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/bowline-go/bowline/client/meta"
)

// Type describes a resource: its path on the server, the kind of its objects, and the Go type T that they are decoded
// into. It is a plain value, usually a package variable. With it a struct of your own is a typed client, with no
// registration and no generated code. T is a pointer to a struct, or a map type. A struct that embeds its metadata must
// tag it as `json:"metadata"`: see [For]. The other exported fields need names in their tags as well, at every depth.
// The client compares names case-sensitively, as the server does. So a field Data without a tag does not match the
// member data, as it would in encoding/json.
//
//	var Pods = client.Type[*Pod]{Version: "v1", Kind: "Pod", Resource: "pods"}
type Type[T meta.Object] struct {
	// Group is the API group, empty for the core group.
	Group string
	// Version is the API version, such as "v1".
	Version string
	// Kind is the kind of one object, such as "Pod".
	Kind string
	// Resource is the plural, lower-case name in the path, such as "pods".
	Resource string
	// ListKind is the kind of a list of these objects; empty means Kind followed by "List", which fits nearly every
	// resource.
	ListKind string
	// Scope is meta.Namespaced, the zero value, or meta.Cluster.
	Scope meta.Scope
	// Fallback names versions for servers that do not serve Version, such as Versions("v1beta1"). T must fit all of
	// them. The client asks nothing in advance. If the server's answer to a request says that it does not serve the
	// resource in that version, the client sends the request in the next version. It remembers the version that the
	// server serves, and [Resource.Served] returns it. Objects come as JSON. Each request for a resource that the
	// server lacks altogether is sent once for each version.
	Fallback Fallback
	// JSON asks for JSON alone, whatever Config.Protobuf says.
	JSON bool
}

// GVR returns the resource.
func (t Type[T]) GVR() meta.GVR {
	return meta.GVR{Group: t.Group, Version: t.Version, Resource: t.Resource}
}

// GVK returns the kind of the resource's objects.
func (t Type[T]) GVK() meta.GVK { return meta.GVK{Group: t.Group, Version: t.Version, Kind: t.Kind} }

// IsNamespaced reports whether the resource's objects are in namespaces.
func (t Type[T]) IsNamespaced() bool { return t.Scope == meta.Namespaced }

// listKind returns the kind of a list of the resource's objects.
func listKind(t Type[meta.Object]) string { return cmp.Or(t.ListKind, t.Kind+"List") }

// validateType checks a descriptor as far as possible without a server.
func validateType(t Type[meta.Object]) error {
	var errs []error
	for _, f := range []struct{ name, value string }{
		{"Version", t.Version}, {"Kind", t.Kind}, {"Resource", t.Resource},
	} {
		if err := meta.ValidSegment("client.Type: "+f.name, f.value); err != nil {
			errs = append(errs, err)
		}
	}
	for _, f := range []struct{ name, value string }{{"Group", t.Group}, {"ListKind", t.ListKind}} {
		if f.value == "" {
			continue
		}
		if err := meta.ValidSegment("client.Type: "+f.name, f.value); err != nil {
			errs = append(errs, err)
		}
	}
	if t.Fallback != nil {
		errs = append(errs, t.Fallback.validate(t.Version))
	}
	if t.Scope != meta.Namespaced && t.Scope != meta.Cluster {
		errs = append(errs, fmt.Errorf("client.Type: Scope must be meta.Namespaced or meta.Cluster, got %d", t.Scope))
	}
	return errors.Join(errs...)
}
