package conformance

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
)

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// twoVersions are the versions of Things: the older is not stored, and has a member and a default that the newer lacks.
const twoVersions = `
	{"name":"v1","served":true,"storage":true,"subresources":{"status":{},"scale":{
			"specReplicasPath":".spec.size.n","statusReplicasPath":".status.n","labelSelectorPath":".status.selector"}},
		"additionalPrinterColumns":[{"name":"Color","type":"string","jsonPath":".spec.color"},
			{"name":"N","type":"integer","jsonPath":".spec.size.n","priority":1,"description":"how many"}],
		"selectableFields":[{"jsonPath":".spec.color"}],
		"schema":{"openAPIV3Schema":{"type":"object","properties":{
			"spec":{"type":"object","properties":{"color":{"type":"string","enum":["red","green"]},"newer":{"type":"string","default":"n"},
				"size":{"type":"object","properties":{"n":{"type":"integer"}}}}},
			"status":{"type":"object","properties":{"n":{"type":"integer"},"selector":{"type":"string"}}}}}}},
	{"name":"v1beta1","served":true,"storage":false,"deprecated":true,
		"schema":{"openAPIV3Schema":{"type":"object","properties":{
			"spec":{"type":"object","properties":{"color":{"type":"string"},"older":{"type":"string","default":"o"}}}}}}}`

// thing is a CustomResourceDefinition of a group, with some versions.
func thing(versions string) string {
	return `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"things.{group}"},
		"spec":{"group":"{group}","scope":"Namespaced","names":{"kind":"Thing","plural":"things","shortNames":["th"]},"versions":[` + versions + `]}}`
}

// oneVersion is a version with a schema of its spec.
func oneVersion(spec string) string {
	return `{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":` + spec + `}}}}`
}

// inGroup returns the names of a group that only this test uses, and a function that plays exchanges with these names.
func (s suite) inGroup(t *testing.T) (names *strings.Replacer, play func(t *testing.T, all ...exchange)) {
	t.Helper()
	ns := s.namespace(t)
	group := ns + ".definitions.bowline.example"
	names = strings.NewReplacer(
		"{group}", group, "{crds}", definitions, "{crd}", definitions+"/things."+group, "{ns}", ns,
		"{things}", "/apis/"+group+"/v1/namespaces/"+ns+"/things", "{older}", "/apis/"+group+"/v1beta1/namespaces/"+ns+"/things",
	)
	t.Cleanup(func() {
		resp, err := s.client.Raw(context.WithoutCancel(t.Context()), client.RawRequest{Method: http.MethodDelete, Path: names.Replace("{crd}")})
		if err == nil {
			_ = resp.Body.Close()
		}
	})
	return names, func(t *testing.T, all ...exchange) {
		t.Helper()
		for _, e := range all {
			e.run(t, s, names)
		}
	}
}

// await waits until a GET of a path has an answer that contains a text.
func (s suite) await(t *testing.T, path, text string) {
	t.Helper()
	var last string
	for range 300 {
		b, err := s.raw(t, client.RawRequest{Method: http.MethodGet, Path: path})
		if last = string(b); err == nil && strings.Contains(last, text) {
			return
		}
		if err != nil {
			last = err.Error()
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("%s has the answer %s, want %s in it", path, last, text)
}

// established waits until a definition is served.
func (s suite) established(t *testing.T, names *strings.Replacer) {
	t.Helper()
	s.await(t, names.Replace("{crd}"), `"reason":"InitialNamesAccepted"`)
	s.await(t, names.Replace("{things}"), `"items"`)
}

func testDefinition(t *testing.T, s suite) {
	names, play := s.inGroup(t)
	get := exchange{path: "GET {crd}", code: 200}
	at := func(path, is string) exchange {
		e := get
		e.name, e.at, e.is = path, path, is
		return e
	}
	play(t,
		exchange{name: "not there yet", path: "GET {things}", code: 404, reason: "NotFound"},
		exchange{
			name: "make", path: "POST {crds}", body: thing(twoVersions), code: 201, at: "status",
			is: `{"acceptedNames":{"kind":"","plural":""},"conditions":null,"storedVersions":["v1"]}`,
		},
	)
	s.established(t, names)
	play(t,
		at("spec.names", `{"kind":"Thing","listKind":"ThingList","plural":"things","shortNames":["th"],"singular":"thing"}`),
		at("spec.conversion", `{"strategy":"None"}`),
		at("status.acceptedNames", `{"kind":"Thing","listKind":"ThingList","plural":"things","shortNames":["th"],"singular":"thing"}`),
		at("status.conditions.type", `["NamesAccepted","Established"]`),
		at("status.conditions.status", `["True","True"]`),
		at("status.conditions.reason", `["NoConflicts","InitialNamesAccepted"]`),
		at("status.conditions.message", `["no conflicts found","the initial names have been accepted"]`),
		exchange{
			name: "a strict write with an unknown member", path: "POST {things}?fieldValidation=Strict", code: 400, reason: "BadRequest",
			body:    `{"apiVersion":"{group}/v1","kind":"Thing","metadata":{"name":"a"},"spec":{"colour":"red"}}`,
			message: `strict decoding error: unknown field "spec.colour"`,
		},
		exchange{
			name: "an unknown member", path: "POST {things}", code: 201, warnings: `unknown field "spec.colour"`,
			body: `{"apiVersion":"{group}/v1","kind":"Thing","metadata":{"name":"a"},"spec":{"colour":"red","color":"red"}}`,
			at:   "spec", is: `{"color":"red","newer":"n"}`,
		},
		exchange{
			name: "a wrong value", path: "POST {things}", code: 422, reason: "Invalid", causes: "spec.color",
			body: `{"apiVersion":"{group}/v1","kind":"Thing","metadata":{"name":"b"},"spec":{"color":"blue"}}`,
		},
		exchange{
			name: "the older version", path: "GET {older}/a", code: 200, at: "spec", is: `{"color":"red"}`,
			warnings: "{group}/v1beta1 Thing is deprecated; use {group}/v1 Thing",
		},
		exchange{
			name: "a create at the older version", path: "POST {older}", code: 201,
			body: `{"apiVersion":"{group}/v1beta1","kind":"Thing","metadata":{"name":"c"},"spec":{"color":"blue","older":"x"}}`,
			at:   "spec", is: `{"color":"blue"}`, warnings: "{group}/v1beta1 Thing is deprecated; use {group}/v1 Thing",
		},
		exchange{name: "it has the defaults of the stored version", path: "GET {things}/c", code: 200, at: "spec", is: `{"color":"blue","newer":"n"}`},
		exchange{
			name: "an update that leaves a wrong value", path: "PATCH {things}/c", media: asMerge, code: 200,
			body: `{"spec":{"newer":"m"}}`, at: "spec", is: `{"color":"blue","newer":"m"}`,
		},
		exchange{
			name: "a patch at the older version", path: "PATCH {older}/c", media: asMerge, code: 200, body: `{"spec":{"color":"green"}}`,
			at: "spec", is: `{"color":"green"}`, warnings: "{group}/v1beta1 Thing is deprecated; use {group}/v1 Thing",
		},
		exchange{name: "the other members stay only if both have them", path: "GET {things}/c", code: 200, at: "spec", is: `{"color":"green","newer":"n"}`},
		exchange{name: "selected", path: "GET {things}?fieldSelector=spec.color%3Dgreen", code: 200, at: "items.spec", is: `[{"color":"green","newer":"n"}]`},
		exchange{
			name: "a list at the older version", path: "GET {older}", code: 200, at: "items.apiVersion", is: `["{group}/v1beta1","{group}/v1beta1"]`,
			warnings: "{group}/v1beta1 Thing is deprecated; use {group}/v1 Thing",
		},
		exchange{
			name: "a table", path: "GET {things}/a", code: 200, accept: "application/json;as=Table;v=v1;g=meta.k8s.io",
			at: "columnDefinitions.name", is: `["Name","Color","N"]`,
		},
		exchange{
			name: "cells", path: "GET {things}/a", code: 200, accept: "application/json;as=Table;v=v1;g=meta.k8s.io",
			at: "rows.cells", is: `[["a","red",null]]`,
		},
		exchange{
			name: "no number of replicas", path: "GET {things}/a/scale", code: 500, reason: "InternalError",
			message: `the spec replicas field ".spec.size.n" does not exist`,
		},
		exchange{
			name: "a patch that sets no replicas", path: "PATCH {things}/a/scale", media: asMerge, code: 400, reason: "BadRequest",
			body: `{"metadata":{"labels":{"a":"b"}}}`, message: `the spec replicas field ".spec.size.n" cannot be empty`,
		},
		exchange{
			name: "set the replicas", path: "PATCH {things}/a/scale", media: asMerge, code: 200, body: `{"spec":{"replicas":3}}`,
			at: "spec", is: `{"replicas":3}`,
		},
		exchange{name: "the object has them", path: "GET {things}/a", code: 200, at: "spec", is: `{"color":"red","newer":"n","size":{"n":3}}`},
		exchange{
			name: "negative replicas", path: "PATCH {things}/a/scale", media: asMerge, code: 422, reason: "Invalid", body: `{"spec":{"replicas":-1}}`,
			causes: ".spec.size.n",
		},
		exchange{
			name: "the status", path: "PATCH {things}/a/status", media: asMerge, code: 200, body: `{"status":{"n":2,"selector":"a=b"}}`,
			at: "status", is: `{"n":2,"selector":"a=b"}`,
		},
		exchange{name: "the scale", path: "GET {things}/a/scale", code: 200, at: "status", is: `{"replicas":2,"selector":"a=b"}`},
	)
}

// A write to a definition changes what is served.
func testChangedDefinition(t *testing.T, s suite) {
	names, play := s.inGroup(t)
	play(t, exchange{name: "make", path: "POST {crds}", body: thing(oneVersion(`{"type":"object","properties":{"a":{"type":"string"}}}`)), code: 201})
	s.established(t, names)
	play(t,
		exchange{
			name: "an object", path: "POST {things}", code: 201, body: `{"apiVersion":"{group}/v1","kind":"Thing","metadata":{"name":"a"},"spec":{"a":"x","b":1}}`,
			at: "spec", is: `{"a":"x"}`, warnings: `unknown field "spec.b"`,
		},
		exchange{name: "another scope", path: "PATCH {crd}", media: asMerge, code: 422, reason: "Invalid", body: `{"spec":{"scope":"Cluster"}}`, causes: "spec.scope"},
		exchange{
			name: "another kind", path: "PATCH {crd}", media: asMerge, code: 422, reason: "Invalid", body: `{"spec":{"names":{"kind":"Think"}}}`,
			causes: "spec.names.kind",
		},
		exchange{name: "a default and a rule", path: "PATCH {crd}", media: asMerge, code: 200, body: `{"spec":{"versions":[` +
			oneVersion(`{"type":"object","required":["a"],"properties":{"a":{"type":"string","maxLength":3},"d":{"type":"integer","default":4}}}`) + `]}}`},
	)
	s.await(t, names.Replace("{things}/a"), `"d":4`)
	play(t,
		exchange{name: "the object has the default", path: "GET {things}/a", code: 200, at: "spec", is: `{"a":"x","d":4}`},
		exchange{name: "the rule", path: "PATCH {things}/a", media: asMerge, code: 422, reason: "Invalid", body: `{"spec":{"a":"long"}}`, causes: "spec.a"},
		exchange{
			name: "a write of something else", path: "PATCH {things}/a", media: asMerge, code: 200, body: `{"metadata":{"labels":{"x":"y"}}}`,
			at: "spec", is: `{"a":"x","d":4}`,
		},
		exchange{name: "the stored version must stay", path: "PATCH {crd}", media: asMerge, code: 422, reason: "Invalid", body: `{"spec":{"versions":[` +
			strings.Replace(oneVersion(`{"type":"object"}`), `"v1"`, `"v2"`, 1) + `]}}`, causes: "status.storedVersions[0]"},
	)
}

// A definition that wants the names of another is not served until that is gone.
func testNamesOfDefinitions(t *testing.T, s suite) {
	names, play := s.inGroup(t)
	other := strings.NewReplacer("things.", "thangs.", `"plural":"things"`, `"plural":"thangs","singular":"thing"`).Replace(
		thing(oneVersion(`{"type":"object"}`)))
	play(t, exchange{name: "make", path: "POST {crds}", body: thing(oneVersion(`{"type":"object"}`)), code: 201})
	s.established(t, names)
	play(t, exchange{name: "make another", path: "POST {crds}", body: other, code: 201})
	thangs := names.Replace("{crds}/thangs.{group}")
	s.await(t, thangs, `"type":"NamesAccepted"`)
	play(t,
		exchange{name: "the reasons", path: "GET {crds}/thangs.{group}", code: 200, at: "status.conditions.reason", is: `["ListKindConflict","NotAccepted"]`},
		exchange{
			name: "the messages", path: "GET {crds}/thangs.{group}", code: 200, at: "status.conditions.message",
			is: `["\"ThingList\" is already in use","not all names are accepted"]`,
		},
		exchange{name: "the accepted names", path: "GET {crds}/thangs.{group}", code: 200, at: "status.acceptedNames", is: `{"kind":"","plural":"thangs"}`},
		exchange{name: "it is not served", path: "GET /apis/{group}/v1/thangs", code: 404, reason: "NotFound"},
		exchange{name: "delete the first", path: "DELETE {crd}", code: 200},
	)
	s.await(t, thangs, `"reason":"InitialNamesAccepted"`)
	s.await(t, names.Replace("/apis/{group}/v1/thangs"), `"items"`)
	play(t,
		exchange{name: "the first is gone", path: "GET {things}", code: 404, reason: "NotFound"},
		exchange{name: "delete the other", path: "DELETE {crds}/thangs.{group}", code: 200},
	)
}

// A definition that is deleted stays until its objects are gone.
func testDeletedDefinition(t *testing.T, s suite) {
	names, play := s.inGroup(t)
	play(t, exchange{name: "make", path: "POST {crds}", body: thing(oneVersion(`{"type":"object"}`)), code: 201})
	s.established(t, names)
	play(t,
		exchange{name: "an object", path: "POST {things}", code: 201, body: `{"apiVersion":"{group}/v1","kind":"Thing","metadata":{"name":"a"}}`},
		exchange{
			name: "one that is held", path: "POST {things}", code: 201,
			body: `{"apiVersion":"{group}/v1","kind":"Thing","metadata":{"name":"b","finalizers":["x.y/z"]}}`,
		},
		exchange{name: "delete it", path: "DELETE {crd}", code: 200, at: "metadata.finalizers", is: `["customresourcecleanup.apiextensions.k8s.io"]`},
	)
	s.await(t, names.Replace("{things}/b"), `"deletionTimestamp"`)
	play(t,
		exchange{name: "the other has gone", path: "GET {things}/a", code: 404, reason: "NotFound"},
		exchange{
			name: "nothing new", path: "POST {things}", code: 403, reason: "Forbidden",
			body:    `{"apiVersion":"{group}/v1","kind":"Thing","metadata":{"name":"c"}}`,
			message: "create not allowed while custom resource definition is terminating",
		},
		exchange{name: "the definition is there", path: "GET {crd}", code: 200, at: "status.conditions.type", is: `["NamesAccepted","Established","Terminating"]`},
		exchange{name: "let it go", path: "PATCH {things}/b", media: asMerge, code: 200, body: `{"metadata":{"finalizers":null}}`},
	)
	for range 200 {
		if _, err := s.raw(t, client.RawRequest{Method: http.MethodGet, Path: names.Replace("{crd}")}); err != nil {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	play(t,
		exchange{name: "the definition has gone", path: "GET {crd}", code: 404, reason: "NotFound"},
		exchange{name: "so has the resource", path: "GET {things}", code: 404, reason: "NotFound"},
	)
}

// Definitions that are refused.
func testWrongDefinitions(t *testing.T, s suite) {
	_, play := s.inGroup(t)
	refuse := func(name, definition, causes string) {
		t.Helper()
		play(t, exchange{name: name, path: "POST {crds}?dryRun=All", body: definition, code: 422, reason: "Invalid", causes: causes})
	}
	good := thing(oneVersion(`{"type":"object"}`))
	const odd = `{"type":"object","properties":{"a":{"type":"string","format":"odd"},"b":{"type":"array","x-kubernetes-list-type":"set",` +
		`"items":{"type":"object","x-kubernetes-map-type":"atomic","properties":{"c":{"type":"string","format":"date"}}}}}}`
	play(t, exchange{
		name: "warnings", path: "POST {crds}?dryRun=All", body: thing(oneVersion(odd)), code: 201,
		warnings: s.words(in136(`unrecognized format "odd"; x-kubernetes-list-type: set for items of type "object" is not supported by `+
			`server-side apply or CEL validation rules`, `unrecognized format "odd"`)),
	})
	refuse("another name", strings.Replace(good, "things.{group}", "other.{group}", 1), "metadata.name")
	refuse("no version", thing(""), "spec.versions status.storedVersions")
	refuse("no schema", thing(`{"name":"v1","served":true,"storage":true}`), "spec.versions[0].schema.openAPIV3Schema")
	refuse("no type", thing(oneVersion(`{}`)), "spec.validation.openAPIV3Schema.properties[spec].type")
	refuse("a wrong default", thing(oneVersion(`{"type":"object","properties":{"a":{"type":"string","default":1}}}`)),
		"spec.validation.openAPIV3Schema.properties[spec].properties[a].default")
	refuse("a wrong scope", strings.Replace(good, "Namespaced", "Other", 1), "spec.scope")
	refuse("no path of a column", thing(strings.Replace(oneVersion(`{"type":"object"}`), `"schema"`,
		`"additionalPrinterColumns":[{"name":"A","type":"string","jsonPath":""}],"schema"`, 1)),
		"spec.additionalPrinterColumns[0].JSONPath")
}
