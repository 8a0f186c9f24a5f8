package clienttest

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/schema"
)

// openapi2 answers /openapi/v2 with one document about everything that is served. It is the older form of what /openapi/v3
// says, in JSON or as the protobuf messages of gnostic's OpenAPIv2.proto. kubectl asks for those before it creates a List, and
// where it finds no newer document of a kind. As in the newer form, a path has only that a patch knows fieldValidation.
func (s *Server) openapi2(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Add("Vary", "Accept-Encoding")
	h.Add("Vary", "Accept")
	h.Set("Cache-Control", "no-cache, private")
	media := openapi2Media(r)
	if media == "" {
		w.WriteHeader(http.StatusNotAcceptable)
		return
	}
	doc := s.openapi2Document()
	if notModified(w, r, hashOf(doc)) {
		return
	}
	body := jsontree.Append(nil, doc)
	if media == mediaOpenAPI2 {
		body = protoOpenAPI(doc)
	}
	writeBody(w, http.StatusOK, media, body)
}

// mediaOpenAPI2 is the type of a document in protobuf. Clients also write it with an @ before v1.0, which a media type may
// not have.
const mediaOpenAPI2 = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"

// openapi2Media returns the first type in the Accept header that the document is there in, or nothing.
func openapi2Media(r *http.Request) string {
	accept := strings.ReplaceAll(strings.Join(r.Header["Accept"], ","), "@", ".")
	if accept == "" {
		return mediaJSON
	}
	for part := range strings.SplitSeq(accept, ",") {
		switch media, _, _ := mime.ParseMediaType(part); media {
		case mediaJSON, "application/*", "*/*":
			return mediaJSON
		case mediaOpenAPI2:
			return mediaOpenAPI2
		}
	}
	return ""
}

func (s *Server) openapi2Document() jsontree.Object {
	paths, definitions := jsontree.Object{}, jsontree.Object{}
	versions, resources := s.inventory()
	for _, v := range versions {
		doc, _ := openapiOf(v, resources[v])
		text, err := json.Marshal(doc)
		if err != nil {
			panic(fmt.Sprintf("clienttest: encode OpenAPI: %v", err))
		}
		var newer struct {
			Paths map[string]struct {
				Patch json.RawMessage `json:"patch"`
			} `json:"paths"`
			Components struct {
				Schemas map[string]json.RawMessage `json:"schemas"`
			} `json:"components"`
		}
		jsontree.MustDecode(text, &newer)
		for path, item := range newer.Paths {
			patch, _ := decoded(item.Patch).(jsontree.Object)
			patch["parameters"] = []any{jsontree.Object{"name": "fieldValidation", "in": "query", "type": "string", "uniqueItems": true}}
			paths[path] = jsontree.Object{"patch": patch}
		}
		for name, schema := range newer.Components.Schemas {
			definitions[name] = openapi2Schema(decoded(schema))
		}
	}
	return jsontree.Object{
		"swagger": "2.0", "info": jsontree.Object{"title": "clienttest", "version": versionGit}, "paths": paths, "definitions": definitions,
	}
}

// decoded reads JSON that this package has written.
func decoded(text json.RawMessage) any {
	v, err := jsontree.Parse(text)
	if err != nil {
		panic(fmt.Sprintf("clienttest: decode OpenAPI: %v", err))
	}
	return v
}

// openapi2Schema returns a schema as a real server says it in version 2, which has no alternatives: what may be a number or a
// string is a string in a compiled-in kind and anything in another, and so is what may be null or have any members.
func openapi2Schema(v any) jsontree.Object {
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
			s[name] = openapi2Schema(value)
		case "additionalProperties":
			s[name] = value
			if inner, isSchema := value.(jsontree.Object); isSchema {
				s[name] = openapi2Schema(inner)
			}
		case "properties":
			properties := jsontree.Object{}
			inner, _ := value.(jsontree.Object)
			for name, p := range inner {
				properties[name] = openapi2Schema(p)
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
		} else { // a kind itself says only that it is an object
			delete(s, "x-kubernetes-preserve-unknown-fields")
		}
	}
	return s
}

// protoOpenAPI writes a document as protobuf. The numbers are those of OpenAPIv2.proto, which is part of the API of the server.
func protoOpenAPI(doc jsontree.Object) []byte {
	var b []byte
	info, _ := doc["info"].(jsontree.Object)
	b = protoBytesField(b, 1, doc["swagger"])
	b = protoBytesField(b, 2, protoBytesField(protoBytesField(nil, 1, info["title"]), 2, info["version"]))
	b = protoBytesField(b, 8, protoNamed(2, doc["paths"], func(item jsontree.Object) []byte {
		patch, _ := item["patch"].(jsontree.Object)
		return protoBytesField(nil, 8, protoOperation(patch))
	}))
	return protoBytesField(b, 9, protoNamed(1, doc["definitions"], protoSchema))
}

// protoNamed writes a map as a message that repeats a field of names and values.
func protoNamed(field int, v any, write func(jsontree.Object) []byte) []byte {
	var b []byte
	all, _ := v.(jsontree.Object)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		value, _ := all[name].(jsontree.Object)
		b = protoBytesField(b, field, protoBytesField(protoBytesField(nil, 1, name), 2, write(value)))
	}
	return b
}

func protoOperation(patch jsontree.Object) []byte {
	var b []byte
	parameters, _ := patch["parameters"].([]any)
	for _, p := range parameters {
		parameter, _ := p.(jsontree.Object)
		query := protoBytesField(nil, 2, parameter["in"])
		query = protoBytesField(query, 4, parameter["name"])
		query = protoBytesField(query, 6, parameter["type"])
		query = protoTrue(query, 20) // uniqueItems
		// The message of each choice between kinds of parameters has one field.
		b = protoBytesField(b, 8, protoBytesField(nil, 1, protoBytesField(nil, 2, protoBytesField(nil, 3, query))))
	}
	responses, _ := patch["responses"].(jsontree.Object)
	b = protoBytesField(b, 9, protoNamed(1, responses, func(response jsontree.Object) []byte {
		return protoBytesField(nil, 1, protoBytesField(nil, 1, response["description"]))
	}))
	return protoExtensions(b, 13, patch)
}

func protoSchema(s jsontree.Object) []byte {
	var b []byte
	b = protoBytesField(b, 1, s["$ref"])
	b = protoBytesField(b, 2, s["format"])
	required, _ := s["required"].([]any)
	for _, name := range required {
		b = protoBytesField(b, 19, name)
	}
	switch more := s["additionalProperties"].(type) {
	case jsontree.Object:
		b = protoBytesField(b, 21, protoBytesField(nil, 1, protoSchema(more)))
	case bool:
		if more {
			b = protoBytesField(b, 21, protoTrue(nil, 2))
		}
	}
	if s["type"] != nil {
		b = protoBytesField(b, 22, protoBytesField(nil, 1, s["type"]))
	}
	if items, found := s["items"].(jsontree.Object); found {
		b = protoBytesField(b, 23, protoBytesField(nil, 1, protoSchema(items)))
	}
	if s["properties"] != nil {
		b = protoBytesField(b, 25, protoNamed(1, s["properties"], protoSchema))
	}
	return protoExtensions(b, 31, s)
}

// protoExtensions writes the members that OpenAPI does not know. Their values are YAML, which JSON is.
func protoExtensions(b []byte, field int, v jsontree.Object) []byte {
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if strings.HasPrefix(name, "x-") {
			value := protoBytesField(nil, 2, jsontree.Append(nil, v[name]))
			b = protoBytesField(b, field, protoBytesField(protoBytesField(nil, 1, name), 2, value))
		}
	}
	return b
}

// protoBytesField appends a field that is a text or a message. Nil appends nothing.
func protoBytesField(b []byte, field int, v any) []byte {
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

// protoTrue appends a field that is true.
func protoTrue(b []byte, field int) []byte {
	return append(binary.AppendUvarint(b, uint64(field)<<3), 1)
}
