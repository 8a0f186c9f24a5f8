package patch

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/fieldset"
)

// MigrateFields returns a patch that transfers fields from their old owners, the managers named in from, to a new
// owner, the manager to. The old owners own the fields by updates, as client-side apply does; kubectl's manager is
// then called kubectl-client-side-apply. The new owner owns them as if it had applied them. Without the migration, a
// server-side apply removes none of these fields, because their old owner still owns them. Send the patch with a
// handle's Patch, and apply next: the fields that the new configuration leaves out are then removed. The patch changes
// only who owns which fields.
//
// obj is the object as the server sent it, with its metadata.managedFields and its version. If the object has been
// written since, the answer is a Conflict: read the object again and make another patch. The patch is empty
// ([Patch.IsEmpty]) if none of the managers owns anything; so it is empty for an object that was already migrated.
// There are two exceptions to the transfer:
//
//   - Fields in an API version other than that of the new owner's apply lose their old owner, and the new owner does
//     not get them.
//   - Fields that were written through another subresource than that of the new owner keep their old owner.
//
// Client-side apply keeps its configuration in the annotation kubectl.kubernetes.io/last-applied-configuration. The
// new owner gets the annotation too, so the first apply that leaves the annotation out removes it, and it cannot
// become stale.
func MigrateFields(obj any, to FieldManager, from ...string) Patch {
	ops, err := migrate(obj, to, from)
	if err != nil {
		return Patch{mediaType: JSONType, err: fmt.Errorf("patch.MigrateFields: %w", err)}
	}
	return JSON(ops...)
}

func migrate(obj any, to FieldManager, from []string) ([]Op, error) {
	if err := to.check(); err != nil {
		return nil, err
	}
	if len(from) == 0 || slices.Contains(from, "") {
		return nil, errors.New("from must name the managers whose fields are to be migrated")
	}
	root, entries, err := readManaged(obj)
	if err != nil {
		return nil, err
	}
	if len(entries) == 0 {
		return nil, errUnmanaged
	}
	version := textAt(root, "metadata", "resourceVersion")
	if version == "" {
		return nil, errors.New("metadata.resourceVersion must not be empty: the patch needs it to detect other writes")
	}
	old := func(e meta.ManagedFields) bool {
		return e.Operation == operationUpdate && e.Subresource == to.Subresource && slices.Contains(from, e.Manager)
	}
	if !slices.ContainsFunc(entries, old) {
		return nil, nil
	}
	target := slices.IndexFunc(entries, func(e meta.ManagedFields) bool { return to.owns(&e) })
	if target < 0 {
		target = slices.IndexFunc(entries, func(e meta.ManagedFields) bool { return old(e) && e.APIVersion == textAt(root, "apiVersion") })
	}
	if target < 0 {
		target = slices.IndexFunc(entries, old)
	}
	migrated := &fieldset.Set{}
	for i := range entries {
		if e := &entries[i]; i == target || old(*e) && e.APIVersion == entries[target].APIVersion {
			s, err := fieldset.Of(e)
			if err != nil {
				return nil, err
			}
			migrated.Add(s)
		}
	}
	var left []meta.ManagedFields
	for i, e := range entries {
		switch {
		case i == target:
			e.Manager, e.Operation = to.Name, operationApply
			e.FieldsType, e.FieldsV1 = "FieldsV1", migrated.Append(nil)
			left = append(left, e)
		case !old(e):
			left = append(left, e)
		}
	}
	value, err := json.Marshal(left)
	if err != nil {
		return nil, err
	}
	// If the object has been written since, the server answers the second operation with a Conflict. It would answer a
	// failed test with Invalid.
	return []Op{Replace("/metadata/managedFields", json.RawMessage(value)), Replace("/metadata/resourceVersion", version)}, nil
}
