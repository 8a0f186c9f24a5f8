package kubectl

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsonpath"
	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/meta"
)

// CustomColumn is a column that a CustomResourceDefinition declares: an element of its additionalPrinterColumns.
type CustomColumn struct {
	Column
	JSONPath string `json:"jsonPath"`
}

// CustomColumns returns the columns of a custom resource, and their printer: the name, then the declared columns, or
// the age if there are none. The paths can also find the members of typ, which an Object does not contain. As on the
// server, a column whose path is invalid is left out, and so are all after it.
func CustomColumns(typ meta.TypeMeta, declared []CustomColumn) ([]Column, Printer) {
	columns := []Column{{Name: "Name", Type: "string", Format: "name", Description: nameDescription}}
	if len(declared) == 0 {
		declared = []CustomColumn{{Column{Name: "Age", Type: "date", Description: createdDescription}, ".metadata.creationTimestamp"}}
	}
	var paths []*jsonpath.Path
	for _, d := range declared {
		path, err := jsonpath.Parse(d.JSONPath)
		if err != nil {
			break
		}
		if d.Description == "" {
			d.Description = "Custom resource definition column (in JSONPath format): " + d.JSONPath
		}
		columns, paths = append(columns, d.Column), append(paths, path)
	}
	return columns, func(o *Object) []any {
		whole := jsontree.Object{"apiVersion": typ.APIVersion, "kind": typ.Kind, "metadata": jsontree.Of(o.meta)}
		maps.Copy(whole, o.v.(jsontree.Object))
		cells := []any{o.name()}
		for i, path := range paths {
			cells = append(cells, cell(path, columns[i+1].Type, whole, o.now))
		}
		return cells
	}
}

// cell returns the first value of a path as a column of a type shows it; nil if there is none, or of another type.
func cell(path *jsonpath.Path, typ string, whole jsontree.Object, now time.Time) any {
	values, err := path.Find(whole)
	if err != nil || len(values) == 0 {
		return nil
	}
	v := jsontree.GoValue(values[0])
	if typ == "string" {
		return printed(v)
	}
	switch v := v.(type) {
	case int64:
		switch typ {
		case "integer":
			return v
		case "number":
			return float64(v)
		}
	case float64:
		switch typ {
		case "integer":
			return int64(v)
		case "number":
			return v
		}
	case bool:
		if typ == "boolean" {
			return v
		}
	case string:
		if typ == "date" {
			return since(v, now)
		}
	}
	return nil
}

// printed returns a value as text. Objects and lists are JSON.
func printed(v any) any {
	switch v := v.(type) {
	case nil:
		return "<no value>"
	case []any, jsontree.Object:
		text, err := json.Marshal(v)
		if err != nil {
			return nil // a number is out of range
		}
		return string(text)
	}
	return fmt.Sprint(v)
}

// since returns the age of a time.
func since(text string, now time.Time) string {
	if text == "" || text == "null" {
		return unknown
	}
	then, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return "<invalid>"
	}
	return Age(then, now)
}

// The server describes the first column and the age with its documentation of the metadata.
const (
	nameDescription = "Name must be unique within a namespace. Is required when creating resources, although some " +
		"resources may allow a client to request the generation of an appropriate name automatically. Name is primarily " +
		"intended for creation idempotence and configuration definition. Cannot be updated. More info: " +
		"https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names"
	createdDescription = "CreationTimestamp is a timestamp representing the server time when this object was created. " +
		"It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this " +
		"value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. " +
		"More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata"
)
