package inside

// Patch is what package client gets to know from a patch.
type Patch struct {
	// OnObject is why the patch cannot be meant for the object itself, or nil.
	OnObject error
}

// CheckSubresource returns an error if the patch cannot be meant for that subresource, or for the object itself where it is empty.
func (p Patch) CheckSubresource(name string) error {
	if name == "" {
		return p.OnObject
	}
	return nil
}
