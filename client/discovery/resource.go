package discovery

import (
	"slices"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// pathOf returns the path of a group version on the server.
func pathOf(gv meta.GVK) string {
	if gv.Group == "" {
		return corePath + "/" + gv.APIVersion()
	}
	return groupsPath + "/" + gv.APIVersion()
}

// group is an API group that the server serves.
type group struct {
	name      string    // empty for the core group
	versions  []version // the versions in the server's order of preference, the best first
	preferred string    // the server's choice, or if that is stale the first that is not; empty if every version is stale
}

// version is a version of a group.
type version struct {
	name  string
	stale bool // the version's extension server did not answer the API server, so the version's resources are unknown
}

// version returns the version called name.
func (g group) version(name string) (version, bool) {
	i := slices.IndexFunc(g.versions, func(v version) bool { return v.name == name })
	if i < 0 {
		return version{}, false
	}
	return g.versions[i], true
}

// byPreference returns the versions with the preferred one first.
func (g group) byPreference() []version {
	i := slices.IndexFunc(g.versions, func(v version) bool { return v.name == g.preferred })
	if i <= 0 {
		return g.versions
	}
	return slices.Concat(g.versions[i:i+1], g.versions[:i], g.versions[i+1:])
}

// Resource is a resource in one version. Every Resource that a Catalog returns is the caller's own.
type Resource struct {
	// Group is empty for the core group.
	Group, Version string
	// Kind is the kind of one object. It is empty if the server has only subresources under the name.
	Kind string
	// Name is the plural, lower-case name in the path, such as "deployments", and Singular that of one object.
	Name, Singular string
	// ShortNames and Categories are other names that kubectl accepts, such as "deploy" and "all".
	ShortNames, Categories []string
	// Verbs are the verbs that the server supports, such as "get" and "watch", in the server's order.
	Verbs []string
	// Scope is meta.Namespaced or meta.Cluster.
	Scope meta.Scope
	// Subresources are in the server's order.
	Subresources []Subresource
}

// Subresource is a subresource of a [Resource].
type Subresource struct {
	// Name is the subresource's name, such as "status".
	Name string
	// GVK is the kind of its body, such as Scale.autoscaling/v1. It is zero if the server names none.
	GVK meta.GVK
	// Verbs are the verbs that the server supports.
	Verbs []string
}

// GVR returns the resource's full name.
func (r Resource) GVR() meta.GVR {
	return meta.GVR{Group: r.Group, Version: r.Version, Resource: r.Name}
}

// GVK returns the kind of the resource's objects.
func (r Resource) GVK() meta.GVK { return meta.GVK{Group: r.Group, Version: r.Version, Kind: r.Kind} }

// Can reports whether the server supports the verb for the resource, not whether the caller is permitted to use it.
func (r Resource) Can(verb string) bool { return slices.Contains(r.Verbs, verb) }

// Subresource returns the subresource called name, such as "scale".
func (r Resource) Subresource(name string) (Subresource, bool) {
	i := slices.IndexFunc(r.Subresources, func(s Subresource) bool { return s.Name == name })
	if i < 0 {
		return Subresource{}, false
	}
	return r.Subresources[i], true
}

// Type returns the resource's descriptor for [client.For], for objects without a struct. [client.Retype] turns the
// handle into one of objects with a struct.
func (r Resource) Type() client.Type[*meta.Unstructured] {
	return client.Type[*meta.Unstructured]{Group: r.Group, Version: r.Version, Kind: r.Kind, Resource: r.Name, Scope: r.Scope}
}

// clone returns a copy that shares nothing with r.
func (r Resource) clone() Resource {
	r.ShortNames, r.Categories, r.Verbs = slices.Clone(r.ShortNames), slices.Clone(r.Categories), slices.Clone(r.Verbs)
	r.Subresources = slices.Clone(r.Subresources)
	for i, s := range r.Subresources {
		r.Subresources[i].Verbs = slices.Clone(s.Verbs)
	}
	return r
}
