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
	// Others are the other checked objects that have changed with it, because objects of a cache share equal parts. The
	// code that made the change may have received any of these objects.
	Others []meta.Key
}

// Error names the object, its version, the field, and the first of the others.
func (e *MutationError) Error() string {
	const most = 3
	others := ""
	for i, key := range e.Others {
		if i == most {
			others += fmt.Sprintf(" and %d more", len(e.Others)-most)
			break
		}
		others += fmt.Sprintf(", %q", key)
	}
	if others != "" {
		others = ", in a part that it shares with" + others[1:]
	}
	return fmt.Sprintf("check %q at version %s: the cached object was changed at %s%s; clone an object before changing it",
		e.Key, e.ResourceVersion, e.Field, others)
}
