package kubectl

import (
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/schema"
)

// schemaOf returns a schema as a real server writes it in version 2, which has no alternatives. A value that may be a
// number or a string is a string in a compiled-in kind and anything in other kinds. The same holds for a value that
// may be null or have any members.
func schemaOf(v any) jsontree.Object {
	newer, _ := v.(jsontree.Object)
	s := jsontree.Object{}
	for name, value := range newer {
		switch name {
		case "$ref":
			text, _ := value.(string)
			s[name] = "#/definitions/" + strings.TrimPrefix(text, schema.RefPrefix)
		case "type", "format", "required":
			s[name] = value
		case "oneOf":
			s["type"] = "string"
		case "items":
			s[name] = schemaOf(value)
		case "additionalProperties":
			s[name] = value
			if inner, isSchema := value.(jsontree.Object); isSchema {
				s[name] = schemaOf(inner)
			}
		case "properties":
			properties := jsontree.Object{}
			inner, _ := value.(jsontree.Object)
			for name, p := range inner {
				properties[name] = schemaOf(p)
			}
			s[name] = properties
		default:
			if strings.HasPrefix(name, "x-kubernetes-") {
				s[name] = value
			}
		}
	}
	if newer["nullable"] == true || newer["x-kubernetes-int-or-string"] == true {
		delete(s, "type")
		delete(s, "items")
		delete(s, "properties")
	}
	if newer["x-kubernetes-preserve-unknown-fields"] == true {
		delete(s, "items")
		delete(s, "properties")
		if s["x-kubernetes-group-version-kind"] == nil {
			delete(s, "type")
		} else { // the schema of a kind itself says only that it is an object
			delete(s, "x-kubernetes-preserve-unknown-fields")
		}
	}
	return s
}
