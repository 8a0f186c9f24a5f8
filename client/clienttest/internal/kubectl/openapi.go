package kubectl

import (
	"encoding/json"
	"mime"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
)

// OpenAPI is a document of version 2 about everything that a server serves. As in the documents of version 3, PATCH is
// the only operation of a path, and fieldValidation its only parameter.
type OpenAPI struct{ doc jsontree.Object }

// NewOpenAPI joins documents of version 3 into one of version 2.
func NewOpenAPI(version string, newer []json.RawMessage) OpenAPI {
	paths, definitions := jsontree.Object{}, jsontree.Object{}
	for _, text := range newer {
		doc := decoded(text)
		for path, item := range doc.member("paths") {
			patch := value{item}.member("patch")
			if patch == nil { // reviews, which are only created
				continue
			}
			patch["parameters"] = []any{jsontree.Object{"name": "fieldValidation", "in": "query", "type": "string", "uniqueItems": true}}
			paths[path] = jsontree.Object{"patch": patch}
		}
		for name, schema := range doc.at("components").member("schemas") {
			definitions[name] = schemaOf(schema)
		}
	}
	return OpenAPI{jsontree.Object{
		"swagger": "2.0", "info": jsontree.Object{"title": "clienttest", "version": version}, "paths": paths, "definitions": definitions,
	}}
}

// decoded reads JSON that clienttest has written.
func decoded(text json.RawMessage) value {
	v, err := jsontree.Parse(text)
	if err != nil {
		panic("clienttest: decode OpenAPI: " + err.Error())
	}
	return value{v}
}

// member returns a member that is an object.
func (v value) member(name string) jsontree.Object {
	m, _ := v.at(name).v.(jsontree.Object)
	return m
}

// JSON returns the document as JSON.
func (o OpenAPI) JSON() json.RawMessage { return jsontree.Append(nil, o.doc) }

// In returns the document in a media type that OpenAPIMedia has returned.
func (o OpenAPI) In(media string) []byte {
	if media == openAPIMedia {
		return protobuf(o.doc)
	}
	return o.JSON()
}

// OpenAPIMedia returns the first type in an Accept header that the document is available in: JSON, or the protobuf
// messages of gnostic's OpenAPIv2.proto. It is empty if there is none.
func OpenAPIMedia(accept string) string {
	const mediaJSON = "application/json"
	if accept == "" {
		return mediaJSON
	}
	for part := range strings.SplitSeq(strings.ReplaceAll(accept, "@", "."), ",") {
		switch media, _, _ := mime.ParseMediaType(part); media {
		case mediaJSON, "application/*", "*/*":
			return mediaJSON
		case openAPIMedia:
			return openAPIMedia
		}
	}
	return ""
}
