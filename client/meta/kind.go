package meta

// GVK names a kind: the type of an object, as in its apiVersion and kind fields.
type GVK struct{ Group, Version, Kind string }

// GVR names a resource: the collection at /apis/{group}/{version}/{resource}.
type GVR struct{ Group, Version, Resource string }

// APIVersion returns "group/version", or the version alone for the core group.
func (k GVK) APIVersion() string { return apiVersion(k.Group, k.Version) }

// String returns "kind.group/version" in the form that error messages use, such as "Deployment.apps/v1" or "Pod.v1".
func (k GVK) String() string { return qualified(k.Kind, k.Group, k.Version) }

// APIVersion returns "group/version", or the version alone for the core group.
func (r GVR) APIVersion() string { return apiVersion(r.Group, r.Version) }

// String returns "resource.group/version", such as "deployments.apps/v1" or "pods.v1".
func (r GVR) String() string { return qualified(r.Resource, r.Group, r.Version) }

func apiVersion(group, version string) string {
	if group == "" {
		return version
	}
	return group + "/" + version
}

func qualified(name, group, version string) string {
	if group == "" && version == "" {
		return name
	}
	return name + "." + apiVersion(group, version)
}

// Scope says whether the objects of a resource live in namespaces.
type Scope int

const (
	// Namespaced is the zero value: each object belongs to one namespace.
	Namespaced Scope = iota
	// Cluster is for resources whose objects have no namespace, such as nodes and namespaces.
	Cluster
)

// String returns "Namespaced" or "Cluster", the words that the API uses.
func (s Scope) String() string {
	if s == Cluster {
		return "Cluster"
	}
	return "Namespaced"
}

// TypeMeta has the two fields that name the kind of an object on the wire. Embed it as `json:",inline"` if the program
// reads them. This module does not need them in a struct, because a resource's descriptor knows the kind.
type TypeMeta struct {
	Kind       string `json:"kind,omitempty"`
	APIVersion string `json:"apiVersion,omitempty"`
}

// SetTypeMeta sets both fields. The decoder calls it for objects that came without them, such as the items of a list.
func (t *TypeMeta) SetTypeMeta(apiVersion, kind string) { t.APIVersion, t.Kind = apiVersion, kind }

// GVK returns the kind that the two fields name.
func (t TypeMeta) GVK() GVK {
	group, version := SplitAPIVersion(t.APIVersion)
	return GVK{Group: group, Version: version, Kind: t.Kind}
}

// SplitAPIVersion splits "group/version"; a string without a slash is a version of the core group.
func SplitAPIVersion(s string) (group, version string) {
	for i := range len(s) {
		if s[i] == '/' {
			return s[:i], s[i+1:]
		}
	}
	return "", s
}
