package kubectl

import (
	"encoding/json"

	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

// Table is the Table of meta.k8s.io/v1: what kubectl prints.
type Table struct {
	Kind          string `json:"kind"`
	APIVersion    string `json:"apiVersion"`
	meta.ListMeta `json:"metadata"`
	Columns       []Column `json:"columnDefinitions"`
	Rows          []Row    `json:"rows"`
}

// Row is an object in a Table.
type Row struct {
	Cells  []any           `json:"cells"`
	Object json.RawMessage `json:"object"`
}

// Include says which object each row has: the parameter includeObject.
type Include string

// Check refuses an invalid value.
func (i Include) Check() error {
	switch i {
	case "", "Metadata", "Object", "None":
		return nil
	}
	return status.BadRequest("Unable to convert to Table as requested: includeObject: Invalid value: %q: "+
		"must be 'Metadata', 'Object', 'None', or empty", i)
}

// Add adds a row for an object. whole is the object's JSON, and metadata returns the JSON of its metadata alone.
// include must be valid.
func (t *Table) Add(cells []any, include Include, whole []byte, metadata func() []byte) {
	row := Row{Cells: cells, Object: json.RawMessage("null")}
	switch include {
	case "", "Metadata":
		row.Object = metadata()
	case "Object":
		row.Object = whole
	}
	t.Rows = append(t.Rows, row)
}

// ScaleColumns are the columns of a Scale. They are the same for all resources that have one.
func ScaleColumns() []Column {
	return []Column{
		{Name: "Name", Type: "string", Description: "The object's name."},
		{Name: "Desired", Type: "integer", Description: "How many replicas are wanted."},
		{Name: "Available", Type: "integer", Description: "How many replicas there are."},
		{Name: "Age", Type: "string", Description: "How long ago the object was created."},
	}
}
