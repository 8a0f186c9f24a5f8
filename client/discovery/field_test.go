package discovery_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/discovery"
	"github.com/bowline-go/bowline/client/meta"
)

const fieldDocument = `{"components":{"schemas":{
	"Other":{"x-kubernetes-group-version-kind":[{"group":"","version":"v1","kind":"DeleteOptions"}],"properties":{"x":{}}},
	"Widget":{"x-kubernetes-group-version-kind":[{"group":"other.dev","version":"v1","kind":"Widget"},{"group":"example.dev","version":"v1","kind":"Widget"}],
		"properties":{"spec":{"allOf":[{"$ref":"#/components/schemas/Spec"}]},"free":{"x-kubernetes-preserve-unknown-fields":true,"properties":{"n":{"properties":{"m":{}}}}},
			"broken":{"$ref":"#/components/schemas/Missing"},"loop":{"$ref":"#/components/schemas/Loop"},"many":{"$ref":"#/components/schemas/Many"}}},
	"Spec":{"properties":{"parts":{"type":"array","items":{"$ref":"#/components/schemas/Part"}},"limits":{"additionalProperties":{"$ref":"#/components/schemas/Part"}},
		"any":{"additionalProperties":true},"none":{"additionalProperties":false},"grid":{"items":{"items":{"properties":{"x":{}}}}}}},
	"Part":{"properties":{"name":{"type":"string"},"part":{"$ref":"#/components/schemas/Part"}}},
	"Loop":{"$ref":"#/components/schemas/Loop"},
	"Many":{"allOf":[{"$ref":"#/components/schemas/Many"},{"$ref":"#/components/schemas/Many"}]}
}}}`

func TestWhetherTheServerKnowsAField(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, discovery.Options{}, widgets("v1"))
		r.answer("/openapi/v3/apis/example.dev/v1", "application/json", fieldDocument)
		has := func(path string) (bool, error) {
			return r.catalog.HasField(t.Context(), widget, strings.Split(path, ".")...)
		}
		for path, want := range map[string]bool{
			"spec": true, "spec.parts": true, "spec.parts.name": true, "spec.parts.part.part.name": true, "spec.parts.nope": false, "nope": false,
			"spec.parts.name.deeper": false, "spec.limits.cpu": true, "spec.limits.cpu.name": true, "spec.limits.cpu.nope": false, "spec.any.a.b": true,
			"spec.none.a": false, "free.a.b": true, "free.n.m": true, "free.n.o": false, "spec.grid.x": true, "x": false, "broken": true,
		} {
			if got, err := has(path); err != nil || got != want {
				t.Errorf("%s: %v, %v; want %v", path, got, err, want)
			}
		}
		r.wantRequests(t, "/openapi/v3, /openapi/v3/apis/example.dev/v1")
		for path, want := range map[string]string{
			"broken.x": `look for the field broken.x of Widget.example.dev/v1: its schema refers to "Missing", which is missing`,
			"loop.x":   "more than 1000 others", "many.x": "more than 1000 others",
		} {
			if got, err := has(path); err == nil || got || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, %v; want an error with %s", path, got, err, want)
			}
		}
		for _, path := range [][]string{nil, {""}, {"a", ""}} {
			if _, err := r.catalog.HasField(t.Context(), widget, path...); !errors.As(err, new(*client.UsageError)) {
				t.Errorf("%q: %v", path, err)
			}
		}
		for _, gvk := range []meta.GVK{{Group: "example.dev", Version: "v1", Kind: "Gadget"}, {Group: "none.dev", Version: "v1", Kind: "Widget"}} {
			if _, err := r.catalog.HasField(t.Context(), gvk, "spec"); !errors.As(err, new(*discovery.NoMatchError)) {
				t.Errorf("%v: %v", gvk, err)
			}
		}
	})
}

// An answer is as old as its document, and many questions need no more memory than few.
func TestAnswersAboutFieldsAreKeptAsLongAsTheDocument(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, discovery.Options{}, widgets("v1"))
		var field string
		r.server.Intercept(func(q *http.Request) http.HandlerFunc {
			switch q.URL.Path {
			case "/openapi/v3":
				return jsonBody(`{"paths":{"apis/example.dev/v1":{"serverRelativeURL":"/openapi/v3/apis/example.dev/v1?hash=` + field + `"}}}`)
			case "/openapi/v3/apis/example.dev/v1":
				return jsonBody(`{"components":{"schemas":{"W":{"x-kubernetes-group-version-kind":[` +
					`{"group":"example.dev","version":"v1","kind":"Widget"}],"properties":{"` + field + `":{}}}}}}`)
			}
			return nil
		})
		has := func(field string) bool {
			return must[bool](t)(r.catalog.HasField(t.Context(), widget, field))
		}
		field = "old"
		if !has("old") || has("new") {
			t.Error("the first document has other fields")
		}
		field = "new"
		if !has("old") || has("new") {
			t.Error("the answers changed before the document was old")
		}
		time.Sleep(time.Minute)
		if has("old") || !has("new") {
			t.Error("the answers are those of the old document")
		}
		for i := range 10_000 {
			has(fmt.Sprint("f", i))
		}
		if n := discovery.Answers(r.catalog); n > 4096 {
			t.Errorf("it keeps %d answers", n)
		}
		r.requests()
		if !has("new") || r.requests() != "" {
			t.Error("it asked again")
		}
	})
}
