package meta

// The parts of an object's metadata that a struct may embed beside [Identity] if the whole [ObjectMeta] would take too
// much memory:
//
//	type SiteMeta struct {
//		meta.Identity
//		meta.DeletionMeta
//	}
//
//	type Site struct {
//		SiteMeta `json:"metadata"`
//	}
//
// Each has the methods that this module requires of types with that part.

// DeletionMeta says whether an object is being deleted, and which finalizers delay that. An object with it works with
// [IsDeleting].
type DeletionMeta struct {
	DeletionTimestamp *Time    `json:"deletionTimestamp,omitempty"`
	Finalizers        []string `json:"finalizers,omitempty"`
}

// GetDeletionTimestamp returns when deletion was requested, nil if it was not.
func (m *DeletionMeta) GetDeletionTimestamp() *Time { return m.DeletionTimestamp }

// GetFinalizers returns the finalizers themselves, not a copy.
func (m *DeletionMeta) GetFinalizers() []string { return m.Finalizers }

// OwnerMeta has the owners of an object. An object with it works with [Owners], [ControllerOf], client.SetController
// and controller.Owns.
type OwnerMeta struct {
	OwnerReferences []OwnerReference `json:"ownerReferences,omitempty"`
}

// GetOwnerReferences returns the owner references themselves, not a copy.
func (m *OwnerMeta) GetOwnerReferences() []OwnerReference { return m.OwnerReferences }

// SetOwnerReferences replaces the owner references; the slice becomes the object's own.
func (m *OwnerMeta) SetOwnerReferences(owners []OwnerReference) { m.OwnerReferences = owners }

// LabelMeta has the labels of an object. An object with it is [Labelled]: it works with cache.Select and
// cache.NewLabelIndex.
type LabelMeta struct {
	Labels map[string]string `json:"labels,omitempty"`
}

// GetLabels returns the labels themselves, not a copy.
func (m *LabelMeta) GetLabels() map[string]string { return m.Labels }
