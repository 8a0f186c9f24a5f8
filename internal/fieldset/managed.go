package fieldset

import (
	"fmt"
	"strconv"

	"github.com/bowline-go/bowline/client/meta"
)

// Of returns the fields of an entry of metadata.managedFields.
func Of(e *meta.ManagedFields) (*Set, error) {
	if len(e.FieldsV1) == 0 || string(e.FieldsV1) == "null" {
		return &Set{}, nil
	}
	if e.FieldsType != "FieldsV1" {
		return nil, fmt.Errorf("metadata.managedFields: fieldsType must be FieldsV1, got %s", strconv.Quote(e.FieldsType))
	}
	s, err := Parse(e.FieldsV1)
	if err != nil {
		return nil, fmt.Errorf("metadata.managedFields of %s: %w", strconv.Quote(e.Manager), err)
	}
	return s, nil
}
