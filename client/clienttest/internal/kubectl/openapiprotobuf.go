package kubectl

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
)

// openAPIMedia is the type of a document in protobuf. Clients also write it with an @ before v1.0, which is not valid
// in a media type.
const openAPIMedia = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"

// protobuf writes a document as protobuf. The numbers are those of OpenAPIv2.proto, which is part of the API of the
// server.
func protobuf(doc jsontree.Object) []byte {
	var b []byte
	info, _ := doc["info"].(jsontree.Object)
	b = appendField(b, 1, doc["swagger"])
	b = appendField(b, 2, appendField(appendField(nil, 1, info["title"]), 2, info["version"]))
	b = appendField(b, 8, named(2, doc["paths"], func(item jsontree.Object) []byte {
		patch, _ := item["patch"].(jsontree.Object)
		return appendField(nil, 8, operation(patch))
	}))
	return appendField(b, 9, named(1, doc["definitions"], schemaMessage))
}

// named writes a map as a message with a repeated field of names and values.
func named(field int, v any, write func(jsontree.Object) []byte) []byte {
	var b []byte
	all, _ := v.(jsontree.Object)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		value, _ := all[name].(jsontree.Object)
		b = appendField(b, field, appendField(appendField(nil, 1, name), 2, write(value)))
	}
	return b
}

func operation(patch jsontree.Object) []byte {
	var b []byte
	parameters, _ := patch["parameters"].([]any)
	for _, p := range parameters {
		parameter, _ := p.(jsontree.Object)
		query := appendField(nil, 2, parameter["in"])
		query = appendField(query, 4, parameter["name"])
		query = appendField(query, 6, parameter["type"])
		query = appendTrue(query, 20) // uniqueItems
		// The messages around query say what kind of parameter it is: not a reference, not the body, but in the query.
		b = appendField(b, 8, appendField(nil, 1, appendField(nil, 2, appendField(nil, 3, query))))
	}
	responses, _ := patch["responses"].(jsontree.Object)
	b = appendField(b, 9, named(1, responses, func(response jsontree.Object) []byte {
		return appendField(nil, 1, appendField(nil, 1, response["description"]))
	}))
	return appendExtensions(b, 13, patch)
}

func schemaMessage(s jsontree.Object) []byte {
	var b []byte
	b = appendField(b, 1, s["$ref"])
	b = appendField(b, 2, s["format"])
	required, _ := s["required"].([]any)
	for _, name := range required {
		b = appendField(b, 19, name)
	}
	switch more := s["additionalProperties"].(type) {
	case jsontree.Object:
		b = appendField(b, 21, appendField(nil, 1, schemaMessage(more)))
	case bool:
		if more {
			b = appendField(b, 21, appendTrue(nil, 2))
		}
	}
	if s["type"] != nil {
		b = appendField(b, 22, appendField(nil, 1, s["type"]))
	}
	if items, found := s["items"].(jsontree.Object); found {
		b = appendField(b, 23, appendField(nil, 1, schemaMessage(items)))
	}
	if s["properties"] != nil {
		b = appendField(b, 25, named(1, s["properties"], schemaMessage))
	}
	return appendExtensions(b, 31, s)
}

// appendExtensions appends the members that OpenAPI does not define. Their values are YAML; JSON is YAML too.
func appendExtensions(b []byte, field int, v jsontree.Object) []byte {
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if strings.HasPrefix(name, "x-") {
			value := appendField(nil, 2, jsontree.Append(nil, v[name]))
			b = appendField(b, field, appendField(appendField(nil, 1, name), 2, value))
		}
	}
	return b
}

// appendField appends a field that is a text or a message. Nil appends nothing.
func appendField(b []byte, field int, v any) []byte {
	var value []byte
	switch v := v.(type) {
	case nil:
		return b
	case string:
		value = []byte(v)
	case []byte:
		value = v
	default:
		panic(fmt.Sprintf("clienttest: encode field %d of OpenAPI, of type %T", field, v))
	}
	b = binary.AppendUvarint(b, uint64(field)<<3|2)
	b = binary.AppendUvarint(b, uint64(len(value)))
	return append(b, value...)
}

// appendTrue appends a field that is true.
func appendTrue(b []byte, field int) []byte {
	return append(binary.AppendUvarint(b, uint64(field)<<3), 1)
}
