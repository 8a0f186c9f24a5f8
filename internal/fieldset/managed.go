package fieldset

import (
	"fmt"

	"github.com/bowline-go/bowline/client/meta"
)

// Of returns the fields of an entry of metadata.managedFields.
func Of(e *meta.ManagedFields) (*Set, error) {
	if len(e.FieldsV1) == 0 || string(e.FieldsV1) == "null" {
		return &Set{}, nil
	}
	if e.FieldsType != "FieldsV1" {
		return nil, fmt.Errorf("metadata.managedFields: fieldsType must be FieldsV1, got %.160q", e.FieldsType)
	}
	s, err := Parse(e.FieldsV1)
	if err != nil {
		return nil, fmt.Errorf("metadata.managedFields of %.160q: %w", e.Manager, err)
	}
	return s, nil
}
