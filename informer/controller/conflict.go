// Conflicts, which are logged only if they repeat.

package controller

import apierrors "github.com/bowline-go/bowline/errors"

// loudConflicts is the number of failures in a row from which on a conflict is reported like other errors. One or two
// conflicts come from a cache that is behind, or from another writer. If the fifth attempt fails too, the reconcile
// does not get through.
const loudConflicts = 5

// isConflict reports whether err says that another writer has changed the object first. If err joins several errors,
// all of them must say so.
func isConflict(err error) bool {
	return apierrors.Ignore(err, apierrors.Conflict) == nil && err != nil
}
