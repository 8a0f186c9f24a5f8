package cache

import (
	"fmt"

	"github.com/bowline-go/bowline/client/meta"
)

// MutationError says that code has changed a shared object of a cache instead of a clone.
type MutationError struct {
	// Key and ResourceVersion name the state of the object that was changed.
	Key             meta.Key
	ResourceVersion string
	// Field is the path to the first difference found. It uses the names that fields have in JSON, or in Go if they
	// have none there: metadata.labels["a"], spec.ports[2].name.
	Field string
}

// Error names the object, its version and the field.
func (e *MutationError) Error() string {
	return fmt.Sprintf("check %q at version %s: the cached object was changed at %s; clone an object before changing it",
		e.Key, e.ResourceVersion, e.Field)
}
