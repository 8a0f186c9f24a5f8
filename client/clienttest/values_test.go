package clienttest_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/clienttest"
)

// Whatever the verb, a value that the schema does not allow is refused, and nothing is stored.
func TestWritesOfWrongValuesAreRefused(t *testing.T) {
	h := newHarness(t, clienttest.Options{Resources: []clienttest.Resource{{
		Group: "example.com", Version: "v1", Kind: "Page", Resource: "pages", Status: true, Schema: json.RawMessage(`{"type":"object","properties":{
			"spec":{"type":"object","required":["title"],"properties":{"title":{"type":"string","maxLength":3},"size":{"type":"integer","minimum":1},
				"list":{"type":"array","items":{"type":"string"}}}},
			"status":{"type":"object","properties":{"phase":{"type":"string","enum":["Ready","Failed"]}}}}}`),
	}}})
	const path = "/apis/example.com/v1/namespaces/default/pages"
	page := func(name, rest string) string {
		return `{"apiVersion":"example.com/v1","kind":"Page","metadata":{"name":"` + name + `"},` + rest + `}`
	}
	h.must(t, http.MethodPost, path, page("a", `"spec":{"title":"abc","size":1}`))
	before := h.must(t, http.MethodGet, path+"/a", "")
	version := at(before, "metadata", "resourceVersion")
	update := func(rest string) string {
		return `{"apiVersion":"example.com/v1","kind":"Page","metadata":{"name":"a","resourceVersion":"` + version + `"},` + rest + `}`
	}
	for _, test := range []struct{ method, path, media, body, field string }{
		{http.MethodPost, path, "", page("b", `"spec":{}`), "spec.title"},
		{http.MethodPost, path + "?dryRun=All", "", page("b", `"spec":{"title":"long"}`), "spec.title"},
		{http.MethodPut, path + "/a", "", update(`"spec":{"title":"abc","size":0}`), "spec.size"},
		{http.MethodPut, path + "/a/status", "", update(`"spec":{"title":"abc"},"status":{"phase":"Done"}`), "status.phase"},
		{http.MethodPatch, path + "/a", "application/merge-patch+json", `{"spec":{"size":"1"}}`, "spec.size"},
		{http.MethodPatch, path + "/a", "application/json-patch+json", `[{"op":"remove","path":"/spec/title"}]`, "spec.title"},
		{http.MethodPatch, path + "/a/status", "application/merge-patch+json", `{"status":{"phase":"Done"}}`, "status.phase"},
		{http.MethodPatch, path + "/a?fieldManager=m&force=true", "application/apply-patch+yaml", page("a", `"spec":{"title":"long"}`), "spec.title"},
		{http.MethodPatch, path + "/b?fieldManager=m", "application/apply-patch+yaml", page("b", `"spec":{"size":1}`), "spec.title"},
	} {
		header := []string{}
		if test.media != "" {
			header = append(header, "Content-Type", test.media)
		}
		a := h.do(t, test.method, test.path, test.body, header...)
		status := a.status(t)
		var fields []string
		if status.Details != nil {
			for _, c := range status.Details.Causes {
				fields = append(fields, c.Field)
			}
		}
		if a.code != http.StatusUnprocessableEntity || status.Reason != "Invalid" || !slices.Equal(fields, []string{test.field}) {
			t.Errorf("%s %s %s is answered with %d: %s, about %q, want %s", test.method, test.path, test.body, a.code, status.Message, fields, test.field)
		}
	}
	const many = 50_000
	a := h.do(t, http.MethodPut, path+"/a", update(`"spec":{"title":"abc","size":1,"list":[0`+strings.Repeat(",0", many-1)+`]}`))
	if causes := a.status(t).Details.Causes; a.code != http.StatusUnprocessableEntity || len(causes) != many {
		t.Errorf("an object with many wrong values is answered with %d and %d causes", a.code, len(causes))
	}
	if after := h.must(t, http.MethodGet, path+"/a", ""); at(after, "metadata", "resourceVersion") != version {
		t.Errorf("the object has changed: %s", after)
	}
	if a := h.do(t, http.MethodGet, path+"/b", ""); a.code != http.StatusNotFound {
		t.Errorf("b is answered with %d", a.code)
	}
}

// A lenient server accepts such values, fills in defaults, and drops what the schema does not have. The schema itself must be valid.
func TestALenientServerAcceptsWrongValues(t *testing.T) {
	pages := clienttest.Resource{
		Group: "example.com", Version: "v1", Kind: "Page", Resource: "pages", Schema: json.RawMessage(`{"type":"object","properties":{
			"spec":{"type":"object","required":["title"],"properties":{"title":{"type":"string"},"size":{"type":"integer","default":7},
				"set":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}}}}}}`),
	}
	h := newHarness(t, clienttest.Options{Lenient: true, Resources: []clienttest.Resource{pages}})
	const path = "/apis/example.com/v1/namespaces/default/pages"
	h.must(t, http.MethodPost, path, `{"apiVersion":"example.com/v1","kind":"Page","metadata":{"name":"a"},"spec":{"set":["x","x"],"more":1}}`)
	for _, patch := range []string{`{}`, `{"spec":{"title":5}}`} {
		h.must(t, http.MethodPatch, path+"/a", patch, "Content-Type", "application/merge-patch+json")
	}
	if got, want := at(h.must(t, http.MethodGet, path+"/a", ""), "spec"), `{"set":["x","x"],"size":7,"title":5}`; got != want {
		t.Errorf("the server stores %s, want %s", got, want)
	}
	books := pages
	books.Kind, books.Resource, books.Schema = "Book", "books", json.RawMessage(`{"type":"object","properties":{"spec":{"type":"string","pattern":"("}}}`)
	if err := h.server.Register(books); err == nil || !strings.Contains(err.Error(), "pattern") {
		t.Errorf("a schema with a wrong pattern is registered: %v", err)
	}
}
