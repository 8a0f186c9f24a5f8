package inside

// Patch is what package client learns from a patch.
type Patch struct {
	// OnObject is the reason why the patch cannot be meant for the object itself, or nil.
	OnObject error
}

// CheckSubresource returns an error if the patch cannot be meant for that subresource, or for the object itself if name is
// empty.
func (p Patch) CheckSubresource(name string) error {
	if name == "" {
		return p.OnObject
	}
	return nil
}
