package clienttest

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/openapi2"
)

// openapi2 answers /openapi/v2 with one document about everything that is served. It is the older form of /openapi/v3, in JSON or
// as the protobuf messages of gnostic's OpenAPIv2.proto. kubectl asks for the latter before it creates a List, and if it finds no
// newer document of a kind. As in the newer form, a path has only the information that a patch supports fieldValidation.
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
	if media == openapi2.MediaType {
		body = openapi2.Protobuf(doc)
	}
	writeBody(w, http.StatusOK, media, body)
}

// openapi2Media returns the first type in the Accept header that the document is available in, or empty.
func openapi2Media(r *http.Request) string {
	accept := strings.ReplaceAll(strings.Join(r.Header["Accept"], ","), "@", ".")
	if accept == "" {
		return mediaJSON
	}
	for part := range strings.SplitSeq(accept, ",") {
		switch media, _, _ := mime.ParseMediaType(part); media {
		case mediaJSON, "application/*", "*/*":
			return mediaJSON
		case openapi2.MediaType:
			return openapi2.MediaType
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
			definitions[name] = openapi2.Schema(decoded(schema))
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
