package patch

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/patch/govalue"
	"github.com/bowline-go/bowline/internal/patch/tree"
)

// FieldManager is an owner of fields: the name that a client gives itself (WriteOptions.FieldManager), and the
// subresource that it writes through, which is empty for the object itself. The applies of one name through different
// subresources are separate.
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

var errUnmanaged = errors.New("the object has no metadata.managedFields: a cache drops the field unless KeepManagedFields is set, " +
	"and a struct must have it, as meta.ObjectMeta does")

// readManaged reads an object and its managedFields.
func readManaged(obj any) (*tree.Node, []meta.ManagedFields, error) {
	root, err := govalue.Read("the object", obj)
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

// textAt returns the string at a place, or "" if there is none.
func textAt(root *tree.Node, names ...string) string {
	at, err := locate(root, names)
	if err != nil || at == nil || at.Kind() != '"' {
		return ""
	}
	return string(at.Unquoted())
}
