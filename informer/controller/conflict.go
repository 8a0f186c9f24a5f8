// Conflicts, which are not worth a line until they repeat.

package controller

import apierrors "github.com/bowline-go/bowline/errors"

// loudConflicts is from which failure in a row on a conflict counts as an error like others. One or two come from a
// cache that is behind, or from another writer. If the fifth attempt fails too, the reconcile does not get through.
const loudConflicts = 5

// isConflict reports whether err says that somebody else has written the object first. If err joins several errors, all
// of them must say so.
func isConflict(err error) bool {
	return apierrors.Ignore(err, apierrors.Conflict) == nil && err != nil
}
