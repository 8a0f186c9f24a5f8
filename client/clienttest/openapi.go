package clienttest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/kubectl"
	"github.com/bowline-go/bowline/client/clienttest/internal/schema"
	"github.com/bowline-go/bowline/client/meta"
)

// The documents of /openapi/v3, one for each version of a group, have the paths of objects. A path says only that a
// patch supports fieldValidation, which kubectl checks before it sends an object, and that a review is created. The
// documents also have the schemas of the kinds, without descriptions. As on a real server, the index is text and has no
// ETag, although the documents have one.

// serveOpenAPI answers with the index of the documents, each with its hash.
func serveOpenAPI(c *call) error {
	paths := map[string]any{}
	all := c.registry.inventory()
	for _, v := range all.versions {
		paths[openapiKey(v)] = map[string]string{"serverRelativeURL": openapiURL(v, openapiOf(v, all.of[v]).Hash)}
	}
	writeBody(c.w, http.StatusOK, mediaText, encoded(map[string]any{"paths": paths}))
	return nil
}

// serveOpenAPIDocument answers with a document. A request with an old hash is sent to the present one.
func serveOpenAPIDocument(c *call) error {
	key := strings.Join(pathParts(c.r)[2:], "/")
	all := c.registry.inventory()
	i := slices.IndexFunc(all.versions, func(v meta.GVR) bool { return openapiKey(v) == key })
	if i < 0 {
		return errNoPath
	}
	v := all.versions[i]
	doc := openapiOf(v, all.of[v])
	c.w.Header().Set("Vary", "Accept")
	switch asked := c.query.Get("hash"); asked {
	case "":
	case doc.Hash:
		c.w.Header().Set("Cache-Control", "public, immutable")
	default:
		http.Redirect(c.w, c.r, openapiURL(v, doc.Hash), http.StatusMovedPermanently)
		return nil
	}
	if !notModified(c.w, c.r, doc.Hash) {
		writeJSON(c.w, http.StatusOK, doc.JSON)
	}
	return nil
}

// serveOpenAPI2 answers /openapi/v2 with one document about everything that is served, in the older form. kubectl asks
// for it before it creates a List, and if it finds no newer document of a kind.
func serveOpenAPI2(c *call) error {
	h := c.w.Header()
	h.Add("Vary", "Accept-Encoding")
	h.Add("Vary", "Accept")
	h.Set("Cache-Control", "no-cache, private")
	media := kubectl.OpenAPIMedia(strings.Join(c.r.Header["Accept"], ","))
	if media == "" {
		c.w.WriteHeader(http.StatusNotAcceptable)
		return nil
	}
	var newer []json.RawMessage
	all := c.registry.inventory()
	for _, v := range all.versions {
		newer = append(newer, openapiOf(v, all.of[v]).JSON)
	}
	doc := kubectl.NewOpenAPI(versionGit, newer)
	if !notModified(c.w, c.r, hashOf(doc.JSON())) {
		writeBody(c.w, http.StatusOK, media, doc.In(media))
	}
	return nil
}

// openapiKey returns the key of a group version in the index.
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

// openapiOf returns the document of a group version. A document of built-in kinds only is the same in
// every server, and is kept: making all of them takes some 20 ms.
func openapiOf(v meta.GVR, resources []*resource) schema.Document {
	write := func() schema.Document {
		body := encoded(openapiContent(v, resources))
		return schema.Document{JSON: body, Hash: hashOf(json.RawMessage(body))}
	}
	if slices.ContainsFunc(resources, func(r *resource) bool { return !r.Builtin }) {
		return write()
	}
	return schema.Builtin().Document(v, write)
}

func openapiContent(v meta.GVR, resources []*resource) any {
	paths := map[string]any{}
	for _, r := range resources {
		path := "/" + openapiKey(v) + "/"
		if r.Scope == meta.Namespaced {
			path += "namespaces/{namespace}/"
		}
		if r.review {
			paths[path+r.Resource.Resource] = map[string]any{"post": map[string]any{
				"x-kubernetes-action":             "post",
				"x-kubernetes-group-version-kind": map[string]string{"group": r.Group, "version": r.Version, "kind": r.Kind},
			}}
			continue
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
		"components": map[string]any{"schemas": schemasOf(v, resources)},
	}
}

// schemasOf returns the schemas of the kinds of a group version, and all schemas that they refer to.
func schemasOf(v meta.GVR, resources []*resource) map[string]json.RawMessage {
	t := schema.Builtin()
	all := make(map[string]json.RawMessage)
	for _, r := range resources {
		if !r.Builtin {
			all[schemaName(r)] = r.openAPISchema()
			t.Collect(schema.MetadataName, all)
			continue
		}
		t.CollectKind(r.GVK(), all)
		for _, sub := range r.subresources {
			k := sub.kind
			if k.Version == "" {
				k.Group, k.Version = v.Group, v.Version
			}
			t.CollectKind(k, all)
		}
	}
	return all
}

// schemaName returns the name of a custom resource's schema: its reversed group, its version and its kind.
func schemaName(r *resource) string {
	labels := strings.Split(r.Group, ".")
	slices.Reverse(labels)
	return strings.Join(append(labels, r.Version, r.Kind), ".")
}

// openAPISchema is the schema of a custom resource with the members that every object has.
func (r *resource) openAPISchema() json.RawMessage {
	s := jsontree.Object{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	if len(r.Schema) > 0 {
		v, _ := jsontree.Parse(r.Schema) // it was parsed when the resource was registered
		s, _ = v.(jsontree.Object)
	}
	properties, _ := s["properties"].(jsontree.Object)
	if properties == nil {
		properties = jsontree.Object{}
	}
	properties["apiVersion"], properties["kind"] = jsontree.Object{"type": "string"}, jsontree.Object{"type": "string"}
	properties["metadata"] = jsontree.Object{"$ref": schema.RefPrefix + schema.MetadataName}
	s["properties"] = properties
	s["x-kubernetes-group-version-kind"] = []any{jsontree.Object{"group": r.Group, "version": r.Version, "kind": r.Kind}}
	return jsontree.Append(nil, s)
}
