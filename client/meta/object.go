package meta

// Object has the identity of an object of the API. The types of k8s.io/api implement it as they are, and so does any
// struct that embeds [Identity] or [ObjectMeta].
//
// Caches and handlers do not depend on these methods: the decoder reads the identity from the wire, beside the object,
// so a struct that leaves out one of these fields cannot break delivery. The calls that read and write objects need
// Object.
type Object interface {
	GetNamespace() string
	GetName() string
	GetResourceVersion() string
}

// Labelled is an [Object] with labels: the types of k8s.io/api, [Unstructured], and any struct that embeds [ObjectMeta]
// or [LabelMeta].
type Labelled interface {
	Object
	GetLabels() map[string]string
}

// Identity is the part of an object's metadata that distinguishes it from every other object, and its states from each
// other. Embed it as `json:"metadata"` in a struct that should take little memory, and beside it the parts that the
// program needs: [DeletionMeta], [OwnerMeta], [LabelMeta]. [ObjectMeta] is the full set.
//
// Namespace and Name locate the object. UID distinguishes the objects that have had that name, and ResourceVersion the
// states of one object. A resource version is opaque: compare it for equality, or with [CompareVersions].
type Identity struct {
	Namespace       string `json:"namespace,omitempty"`
	Name            string `json:"name,omitempty"`
	UID             string `json:"uid,omitempty"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
}

// GetNamespace returns the namespace; it is empty for an object of a cluster-wide resource.
func (i Identity) GetNamespace() string { return i.Namespace }

// GetName returns the name.
func (i Identity) GetName() string { return i.Name }

// GetUID returns the uid that the server gave the object when it was created.
func (i Identity) GetUID() string { return i.UID }

// GetResourceVersion returns the opaque version of this state of the object.
func (i Identity) GetResourceVersion() string { return i.ResourceVersion }

// Key returns the object's key.
func (i Identity) Key() Key { return Key{Namespace: i.Namespace, Name: i.Name} }
