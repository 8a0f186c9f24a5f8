package meta

// The parts of an object's metadata that a struct of one's own may add to [Identity], where the whole [ObjectMeta] would take
// too much memory:
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
// Each has the methods that this module asks for where it needs the part.

// DeletionMeta says whether an object is being deleted, and what that waits for. With it, [IsDeleting] takes the object.
type DeletionMeta struct {
	DeletionTimestamp *Time    `json:"deletionTimestamp,omitempty"`
	Finalizers        []string `json:"finalizers,omitempty"`
}

// GetDeletionTimestamp returns when deletion was asked for, nil while it was not.
func (m *DeletionMeta) GetDeletionTimestamp() *Time { return m.DeletionTimestamp }

// GetFinalizers returns the finalizers themselves, not a copy.
func (m *DeletionMeta) GetFinalizers() []string { return m.Finalizers }

// SetFinalizers replaces the finalizers; the slice becomes the object's own.
func (m *DeletionMeta) SetFinalizers(finalizers []string) { m.Finalizers = finalizers }

// OwnerMeta says who owns an object. With it, [Owners], [ControllerOf], client.SetController and controller.Owns take the object.
type OwnerMeta struct {
	OwnerReferences []OwnerReference `json:"ownerReferences,omitempty"`
}

// GetOwnerReferences returns the references to the object's owners themselves, not a copy.
func (m *OwnerMeta) GetOwnerReferences() []OwnerReference { return m.OwnerReferences }

// SetOwnerReferences replaces the references to the object's owners; the slice becomes the object's own.
func (m *OwnerMeta) SetOwnerReferences(owners []OwnerReference) { m.OwnerReferences = owners }

// LabelMeta is the labels of an object. With it the object is [Labelled]: cache.Select and cache.NewLabelIndex take it.
type LabelMeta struct {
	Labels map[string]string `json:"labels,omitempty"`
}

// GetLabels returns the labels themselves, not a copy.
func (m *LabelMeta) GetLabels() map[string]string { return m.Labels }

// SetLabels replaces the labels; the map becomes the object's own.
func (m *LabelMeta) SetLabels(labels map[string]string) { m.Labels = labels }
