package clienttest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/bowline-go/bowline/client/meta"
)

// openapi answers /openapi/v3 with an index of documents, each with its hash, and below it with the documents. They have the
// paths of objects, and of each only that a patch knows fieldValidation: that is what kubectl looks for before it sends an
// object. There are no schemas. It reports whether there is such a document. That the index is text, and has no ETag where the
// documents do, is as it is on a real server.
func (s *Server) openapi(w http.ResponseWriter, r *http.Request, parts []string) bool {
	versions, resources := s.inventory()
	for _, v := range versions {
		if len(parts) == 0 || openapiKey(v) != strings.Join(parts, "/") {
			continue
		}
		doc := openapiOf(v, resources[v])
		hash := hashOf(doc)
		w.Header().Set("Vary", "Accept")
		switch asked := r.URL.Query().Get("hash"); asked {
		case "":
		case hash:
			w.Header().Set("Cache-Control", "public, immutable")
		default:
			http.Redirect(w, r, openapiURL(v, hash), http.StatusMovedPermanently)
			return true
		}
		if !notModified(w, r, hash) {
			writeJSON(w, http.StatusOK, doc)
		}
		return true
	}
	if len(parts) > 0 {
		return false
	}
	paths := map[string]any{}
	for _, v := range versions {
		paths[openapiKey(v)] = map[string]string{"serverRelativeURL": openapiURL(v, hashOf(openapiOf(v, resources[v])))}
	}
	index, err := json.Marshal(map[string]any{"paths": paths})
	if err != nil {
		panic(fmt.Sprintf("clienttest: encode OpenAPI: %v", err))
	}
	writeBody(w, http.StatusOK, "text/plain; charset=utf-8", index)
	return true
}

// openapiKey is what the index calls a group version.
func openapiKey(v meta.GVR) string {
	if v.Group == "" {
		return "api/" + v.Version
	}
	return "apis/" + v.APIVersion()
}

func openapiURL(v meta.GVR, hash string) string {
	u := url.URL{Path: "/openapi/v3/" + openapiKey(v), RawQuery: url.Values{"hash": {hash}}.Encode()}
	return u.String()
}

func openapiOf(v meta.GVR, resources []*resource) any {
	paths := map[string]any{}
	for _, r := range resources {
		if r.review != nil {
			continue
		}
		path := "/" + openapiKey(v) + "/"
		if r.Scope == meta.Namespaced {
			path += "namespaces/{namespace}/"
		}
		paths[path+r.Resource.Resource+"/{name}"] = map[string]any{"patch": map[string]any{
			"parameters": []any{map[string]any{
				"name": "fieldValidation", "in": "query", "schema": map[string]any{"type": "string", "uniqueItems": true},
			}},
			"responses":                       map[string]any{"200": map[string]string{"description": "OK"}},
			"x-kubernetes-action":             "patch",
			"x-kubernetes-group-version-kind": map[string]string{"group": r.Group, "version": r.Version, "kind": r.Kind},
		}}
	}
	return map[string]any{
		"openapi": "3.0.0", "info": map[string]string{"title": "clienttest", "version": versionGit}, "paths": paths,
		"components": map[string]any{},
	}
}
