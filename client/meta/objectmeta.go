package meta

import "encoding/json"

// ObjectMeta is the complete metadata of an object, with the fields of the Kubernetes API. Embed it as
// `json:"metadata"`. ManagedFields is filled only if a caller asked to keep it.
type ObjectMeta struct {
	Name                       string            `json:"name,omitempty"`
	GenerateName               string            `json:"generateName,omitempty"`
	Namespace                  string            `json:"namespace,omitempty"`
	SelfLink                   string            `json:"selfLink,omitempty"`
	UID                        string            `json:"uid,omitempty"`
	ResourceVersion            string            `json:"resourceVersion,omitempty"`
	Generation                 int64             `json:"generation,omitempty"`
	CreationTimestamp          Time              `json:"creationTimestamp,omitzero"`
	DeletionTimestamp          *Time             `json:"deletionTimestamp,omitempty"`
	DeletionGracePeriodSeconds *int64            `json:"deletionGracePeriodSeconds,omitempty"`
	Labels                     map[string]string `json:"labels,omitempty"`
	Annotations                map[string]string `json:"annotations,omitempty"`
	OwnerReferences            []OwnerReference  `json:"ownerReferences,omitempty"`
	Finalizers                 []string          `json:"finalizers,omitempty"`
	ManagedFields              []ManagedFields   `json:"managedFields,omitempty"`
}

// GetNamespace returns the namespace; it is empty for an object of a cluster-wide resource.
func (m *ObjectMeta) GetNamespace() string { return m.Namespace }

// GetName returns the name.
func (m *ObjectMeta) GetName() string { return m.Name }

// GetUID returns the uid that the server gave the object when it was created.
func (m *ObjectMeta) GetUID() string { return m.UID }

// GetResourceVersion returns the opaque version of this state of the object.
func (m *ObjectMeta) GetResourceVersion() string { return m.ResourceVersion }

// GetLabels returns the labels themselves, not a copy.
func (m *ObjectMeta) GetLabels() map[string]string { return m.Labels }

// GetAnnotations returns the annotations themselves, not a copy.
func (m *ObjectMeta) GetAnnotations() map[string]string { return m.Annotations }

// GetFinalizers returns the finalizers themselves, not a copy.
func (m *ObjectMeta) GetFinalizers() []string { return m.Finalizers }

// GetGeneration returns the number that the server increments with each change of the desired state; 0 if it is not
// set.
func (m *ObjectMeta) GetGeneration() int64 { return m.Generation }

// GetOwnerReferences returns the owner references themselves, not a copy.
func (m *ObjectMeta) GetOwnerReferences() []OwnerReference { return m.OwnerReferences }

// GetDeletionTimestamp returns when deletion was requested, nil if it was not.
func (m *ObjectMeta) GetDeletionTimestamp() *Time { return m.DeletionTimestamp }

// Identity returns the four fields that identify the object and its state.
func (m *ObjectMeta) Identity() Identity {
	return Identity{Namespace: m.Namespace, Name: m.Name, UID: m.UID, ResourceVersion: m.ResourceVersion}
}

// Key returns the object's key.
func (m *ObjectMeta) Key() Key { return Key{Namespace: m.Namespace, Name: m.Name} }

// SetOwnerReferences replaces the owner references; the slice becomes the object's own.
func (m *ObjectMeta) SetOwnerReferences(owners []OwnerReference) { m.OwnerReferences = owners }

// OwnerReference names an object that owns this one, in the same namespace or cluster-wide.
type OwnerReference struct {
	APIVersion         string `json:"apiVersion"`
	Kind               string `json:"kind"`
	Name               string `json:"name"`
	UID                string `json:"uid"`
	Controller         *bool  `json:"controller,omitempty"`
	BlockOwnerDeletion *bool  `json:"blockOwnerDeletion,omitempty"`
}

// ManagedFields is one manager's share of an object's fields, as server-side apply records it. FieldsV1 has the bytes
// that the server sent.
type ManagedFields struct {
	Manager     string          `json:"manager,omitempty"`
	Operation   string          `json:"operation,omitempty"`
	APIVersion  string          `json:"apiVersion,omitempty"`
	Time        *Time           `json:"time,omitempty"`
	FieldsType  string          `json:"fieldsType,omitempty"`
	FieldsV1    json.RawMessage `json:"fieldsV1,omitempty"`
	Subresource string          `json:"subresource,omitempty"`
}
