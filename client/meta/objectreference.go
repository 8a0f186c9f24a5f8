package meta

// ObjectReference names another object, as fields of the API do. A program's own types may use it for references to
// objects of any kind; client.Resolve and discovery.Catalog.Resolve find the object. The kind of the object that
// contains the reference decides what an empty field means. Values can be compared with ==.
type ObjectReference struct {
	Kind      string `json:"kind,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	// UID distinguishes the object from another one of that name. Empty means any.
	UID             string `json:"uid,omitempty"`
	APIVersion      string `json:"apiVersion,omitempty"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
	// FieldPath is a part of the object, such as "spec.containers{web}".
	FieldPath string `json:"fieldPath,omitempty"`
}

// GVK returns the kind that the reference names.
func (r ObjectReference) GVK() GVK {
	group, version := SplitAPIVersion(r.APIVersion)
	return GVK{Group: group, Version: version, Kind: r.Kind}
}

// Key returns the key that the reference names.
func (r ObjectReference) Key() Key { return Key{Namespace: r.Namespace, Name: r.Name} }
