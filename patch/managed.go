package patch

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/fieldset"
	"github.com/bowline-go/bowline/internal/patch/tree"
)

// FieldManager is an owner of fields: the name that a client gives itself (WriteOptions.FieldManager), and the subresource that
// it writes through, which is empty for the object itself. The applies of one name through different subresources are separate.
type FieldManager struct {
	Name        string
	Subresource string
}

// The operations of an entry of managedFields.
const (
	operationApply  = "Apply"
	operationUpdate = "Update"
)

// owns reports whether the entry of managedFields holds the fields that the manager has applied.
func (f FieldManager) owns(e *meta.ManagedFields) bool {
	return e.Operation == operationApply && e.Manager == f.Name && e.Subresource == f.Subresource
}

func (f FieldManager) check() error {
	if f.Name == "" {
		return errors.New("FieldManager: Name must not be empty")
	}
	return nil
}

var errUnmanaged = errors.New("the object has no metadata.managedFields: a cache drops them unless KeepManagedFields is set, " +
	"and a struct must have them (meta.ObjectMeta)")

// readManaged reads an object and its managedFields.
func readManaged(obj any) (*tree.Node, []meta.ManagedFields, error) {
	root, err := readObject("the object", obj)
	if err != nil {
		return nil, nil, err
	}
	at, err := locate(root, []string{"metadata", "managedFields"})
	if err != nil || at == nil {
		return root, nil, err
	}
	var entries []meta.ManagedFields
	if err := json.Unmarshal(at.Text(), &entries); err != nil {
		return nil, nil, fmt.Errorf("metadata.managedFields: %w", err)
	}
	return root, entries, nil
}

// fieldsOf reads the fields of an entry.
func fieldsOf(e *meta.ManagedFields) (*fieldset.Set, error) {
	if len(e.FieldsV1) == 0 || string(e.FieldsV1) == "null" {
		return &fieldset.Set{}, nil
	}
	if e.FieldsType != "FieldsV1" {
		return nil, fmt.Errorf("metadata.managedFields: fieldsType must be FieldsV1, got %s", quote(e.FieldsType))
	}
	s, err := fieldset.Parse(e.FieldsV1)
	if err != nil {
		return nil, fmt.Errorf("metadata.managedFields of %s: %w", quote(e.Manager), err)
	}
	return s, nil
}

// textAt returns the string at a place, or "" if there is none.
func textAt(root *tree.Node, names ...string) string {
	at, err := locate(root, names)
	if err != nil || at == nil || at.Kind() != '"' {
		return ""
	}
	return string(at.Unquoted())
}
