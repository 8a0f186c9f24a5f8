package patch_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/patch"
)

// workloadDocument is what a server would say of workload: references, alone and in an allOf beside a default.
const workloadDocument = `{"openapi":"3.0.0","components":{"schemas":{
	"Other":{"x-kubernetes-group-version-kind":[{"group":"","version":"v1","kind":"Workload"}]},
	"Workload":{"type":"object","x-kubernetes-group-version-kind":[{"group":"x","version":"v2","kind":"Workload"},{"group":"x","version":"v1","kind":"Workload"}],"properties":{
		"owners":{"type":"array","items":{"$ref":"#/components/schemas/Item"},"x-kubernetes-patch-strategy":"merge","x-kubernetes-patch-merge-key":"name"},
		"replicas":{"type":"integer"},
		"labels":{"type":"object","additionalProperties":{"type":"string","default":""}},
		"items":{"type":"array","items":{"default":{},"allOf":[{"$ref":"#/components/schemas/Item"}]},"x-kubernetes-patch-strategy":"merge","x-kubernetes-patch-merge-key":"name"},
		"ports":{"type":"array","items":{"type":"object","properties":{"port":{"type":"integer"},"protocol":{"type":"string"}}},"x-kubernetes-patch-strategy":"merge","x-kubernetes-patch-merge-key":"port"},
		"marks":{"type":"array","items":{"type":"string"},"x-kubernetes-patch-strategy":"merge"},
		"args":{"type":"array","items":{"type":"string"}},
		"rules":{"type":"array","items":{"$ref":"#/components/schemas/Item"}},
		"volumes":{"type":"array","items":{"$ref":"#/components/schemas/Item"},"x-kubernetes-patch-strategy":"merge,retainKeys","x-kubernetes-patch-merge-key":"name"},
		"plan":{"allOf":[{"$ref":"#/components/schemas/Plan"}],"x-kubernetes-patch-strategy":"retainKeys"},
		"whole":{"allOf":[{"$ref":"#/components/schemas/Plan"}],"default":{},"x-kubernetes-patch-strategy":"replace"},
		"byName":{"type":"object","additionalProperties":{"$ref":"#/components/schemas/Item"}},
		"keyless":{"type":"array","items":{"$ref":"#/components/schemas/Item"},"x-kubernetes-patch-strategy":"merge"},
		"anything":{},
		"inner":{"$ref":"#/components/schemas/Workload"}}},
	"Plan":{"type":"object","properties":{"type":{"type":"string"},"surge":{"type":"integer"},"pause":{"type":"integer"}}},
	"Item":{"type":"object","properties":{"name":{"type":"string"},"value":{"type":"string"},"kind":{"type":"string"},
		"marks":{"type":"array","items":{"type":"string"},"x-kubernetes-patch-strategy":"merge"},
		"items":{"type":"array","items":{"$ref":"#/components/schemas/Item"},"x-kubernetes-patch-strategy":"merge","x-kubernetes-patch-merge-key":"name"}}}
}}}`

var workloadKind = meta.GVK{Group: "x", Version: "v1", Kind: "Workload"}

func TestSchemasOfATypeAndOfADocumentAgree(t *testing.T) { // behaviour 322
	served, err := patch.SchemaFromOpenAPI([]byte(workloadDocument), workloadKind)
	if err != nil {
		t.Fatal(err)
	}
	key := func(k string) patch.Strategy { return patch.Strategy{Merge: true, MergeKey: k} }
	for path, want := range map[string]patch.Strategy{
		"replicas": {}, "labels": {}, "labels a": {}, "args": {}, "rules": {}, "rules name": {}, "anything": {}, "inner": {},
		"owners": key("name"), "items": key("name"), "items items items": key("name"), "ports": key("port"), "ports port": {},
		"marks": {Merge: true}, "keyless": {Merge: true}, "byName x marks": {Merge: true}, "rules marks": {Merge: true},
		"volumes":           {Merge: true, RetainKeys: true, MergeKey: "name"},
		"plan":              {RetainKeys: true},
		"whole":             {Replace: true},
		"inner inner items": key("name"),
	} {
		for from, s := range map[string]patch.Schema{"type": ofWorkload, "document": served} {
			if got, ok := s.Strategy(strings.Fields(path)...); got != want || !ok {
				t.Errorf("by the %s %s is %+v, %t; want %+v", from, path, got, ok, want)
			}
		}
	}
	for _, path := range []string{"", "none", "Forgotten", "anything x", "replicas x", "args x", "plan none"} {
		for from, s := range map[string]patch.Schema{"type": ofWorkload, "document": served, "nothing": {}} {
			if got, ok := s.Strategy(strings.Fields(path)...); got != (patch.Strategy{}) || ok {
				t.Errorf("by the %s %q is %+v, %t", from, path, got, ok)
			}
		}
	}
}

type (
	left  struct{ Shared, Left []item }
	right struct {
		Shared []item
		Right  []item `json:"right,omitempty" patchStrategy:"merge" patchMergeKey:"name"`
	}
	Loop struct {
		*Loop
		Items []item `patchStrategy:"merge" patchMergeKey:"name"`
	}
	LoopA struct {
		*LoopA
		*LoopB
	}
	LoopB struct {
		*LoopA
		*LoopB
		Items []item `patchStrategy:"merge"`
	}
)

func TestFieldsHaveTheNamesThatJSONGivesThem(t *testing.T) {
	merged := patch.Strategy{Merge: true, MergeKey: "name"}
	for _, test := range []struct {
		name   string
		schema patch.Schema
		path   string
		want   patch.Strategy
		known  bool
	}{
		{"of two at one depth neither", patch.SchemaOf[struct {
			left
			right
		}](), "Shared", patch.Strategy{}, false},
		{"the others of an embedded struct", patch.SchemaOf[struct {
			left
			*right
		}](), "right", merged, true},
		{"the one that is less deep", patch.SchemaOf[struct {
			left
			right
			Shared []item `patchStrategy:"merge" patchMergeKey:"name"`
		}](), "Shared", merged, true},
		{"the one with a name in its tag", patch.SchemaOf[struct {
			Shared []item
			Named  []item `json:"Shared" patchStrategy:"merge" patchMergeKey:"name"`
		}](), "Shared", merged, true},
		{"the one with a name in its tag, also first", patch.SchemaOf[struct {
			Named  []item `json:"Shared" patchStrategy:"merge" patchMergeKey:"name"`
			Shared []item
		}](), "Shared", merged, true},
		{"an embedded struct with a name", patch.SchemaOf[struct {
			right `json:"in"`
		}](), "right", patch.Strategy{}, false},
		{"a field that is not exported", patch.SchemaOf[struct {
			items []item `patchStrategy:"merge"`
		}](), "items", patch.Strategy{}, false},
		{"an array", patch.SchemaOf[struct{ A [2]right }](), "A right", merged, true},
		{"a struct inside itself", patch.SchemaOf[Loop](), "Items", merged, true},
		{"structs inside one another", patch.SchemaOf[LoopA](), "Items", patch.Strategy{Merge: true}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got, ok := test.schema.Strategy(strings.Fields(test.path)...); got != test.want || ok != test.known {
				t.Errorf("%s is %+v, %t", test.path, got, ok)
			}
		})
	}
}

func TestASchemaOfAWrongTypeIsAnErrorWhereItIsUsed(t *testing.T) {
	for _, test := range []struct {
		schema patch.Schema
		want   string
	}{
		{patch.SchemaOf[map[string]any](), `patch.SchemaOf: map[string]interface {} must be a struct or a pointer to one`},
		{patch.SchemaOf[any](), `patch.SchemaOf: interface {} must be a struct or a pointer to one`},
		{patch.SchemaOf[struct {
			A []item `patchStrategy:"marge"`
		}](), `A: patch strategy "marge" must be merge, replace or retainKeys, or retainKeys and one of the others`},
		{patch.SchemaOf[struct {
			A []item `patchStrategy:"merge,replace"`
		}](), `A: patch strategy "merge,replace" must be merge, replace or retainKeys, or retainKeys and one of the others`},
		{patch.SchemaOf[struct {
			A []item `patchStrategy:"merge,retainKeys,retainKeys"`
		}](), `A: patch strategy "merge,retainKeys,retainKeys" must be`},
	} {
		doc := []byte(`{}`)
		_, err1 := patch.ApplyStrategic(doc, doc, test.schema)
		_, err2 := patch.DiffStrategic(doc, doc, test.schema)
		_, err3 := patch.ThreeWay(doc, doc, doc, test.schema, patch.ThreeWayOptions{})
		for _, err := range []error{err1, err2, err3} {
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is %v, want %s", err, test.want)
			}
		}
	}
}

func TestAHostileDocumentIsAnError(t *testing.T) {
	document := func(workload, others string) string {
		return `{"components":{"schemas":{"W":{"x-kubernetes-group-version-kind":[{"group":"x","version":"v1","kind":"Workload"}],` + workload + `}` + others + `}}}`
	}
	deep := strings.Repeat(`{"items":`, 1100) + `{}` + strings.Repeat(`}`, 1100)
	var chain strings.Builder
	for i := range 100 {
		fmt.Fprintf(&chain, `,"R%d":{"$ref":"#/components/schemas/R%d"}`, i, i+1)
	}
	var way strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&way, `,"N%d":{"properties":{"n":{"$ref":"#/components/schemas/N%d"}}}`, i, i+1)
	}
	for _, test := range []struct{ name, doc, want string }{
		{"no JSON", `{`, `patch.SchemaFromOpenAPI: patch: the OpenAPI document is not JSON: unexpected EOF`},
		{"no schemas", `{"components":7}`, `patch.SchemaFromOpenAPI: the document has no components.schemas`},
		{"no such kind", `{"components":{"schemas":{"W":7,"V":{"x-kubernetes-group-version-kind":[7,{"kind":"Workload"}]}}}}`, `patch.SchemaFromOpenAPI: the document has no kind `},
		{"a reference to nothing", document(`"properties":{"a":{"$ref":"#/components/schemas/None"}}`, ``), `patch.SchemaFromOpenAPI: components.schemas.W.a: $ref "#/components/schemas/None" names no schema`},
		{"a reference elsewhere", document(`"properties":{"a":{"items":{"$ref":"W"}}}`, ``), `patch.SchemaFromOpenAPI: components.schemas.W.a.items: $ref "W" names no schema`},
		{"references in a circle", document(`"properties":{"a":{"$ref":"#/components/schemas/A"}}`, `,"A":{"allOf":[{"$ref":"#/components/schemas/B"}]},"B":{"$ref":"#/components/schemas/A"}`), `patch.SchemaFromOpenAPI: components.schemas.W.a: more than 64 references in a chain`},
		{"a chain of references", document(`"$ref":"#/components/schemas/R0"`, chain.String()), `patch.SchemaFromOpenAPI: components.schemas.W: more than 64 references in a chain`},
		{"a deep schema", document(`"properties":{"a":`+deep+`}`, ``), `: schemas are nested more than 500 deep`},
		{"a long way through names", document(`"properties":{"a":{"$ref":"#/components/schemas/N0"}}`, way.String()), `: schemas are nested more than 500 deep`},
		{"a deep document", strings.Repeat(`[`, 5000), `patch.SchemaFromOpenAPI: the document is nested more than 2000 deep`},
		{"a strategy that is no string", document(`"properties":{"a":{"x-kubernetes-patch-strategy":7}}`, ``), `patch.SchemaFromOpenAPI: components.schemas.W.a: x-kubernetes-patch-strategy must be a string`},
		{"a merge key that is no string", document(`"properties":{"a":{"x-kubernetes-patch-merge-key":{}}}`, ``), `patch.SchemaFromOpenAPI: components.schemas.W.a: x-kubernetes-patch-merge-key must be a string`},
		{"an unknown strategy", document(`"properties":{"a":{"x-kubernetes-patch-strategy":"x"}}`, ``), `patch.SchemaFromOpenAPI: components.schemas.W.a: patch strategy "x" must be merge`},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := patch.SchemaFromOpenAPI([]byte(test.doc), workloadKind)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is %v, want %s", err, test.want)
			}
			if _, err := patch.ApplyStrategic([]byte(`{}`), []byte(`{}`), s); err == nil {
				t.Error("the Schema beside the error can be used")
			}
		})
	}
	// A schema that leads back to itself in what it has is none of these.
	s, err := patch.SchemaFromOpenAPI([]byte(document(`"allOf":[{"$ref":"#/components/schemas/A"}]`, `,"A":{"properties":{"a":{"allOf":[{"$ref":"#/components/schemas/A"}]},"b":7}}`)), workloadKind)
	if _, ok := s.Strategy("a", "a", "a", "b"); err != nil || !ok {
		t.Errorf("a schema inside itself: %v", err)
	}
}

func FuzzSchemaFromOpenAPI(f *testing.F) {
	f.Add([]byte(workloadDocument))
	f.Fuzz(func(t *testing.T, doc []byte) {
		s, err := patch.SchemaFromOpenAPI(doc, workloadKind)
		s.Strategy("items", "items", "marks")
		_, applyErr := patch.ApplyStrategic([]byte(`{"items":[{"name":"a"}]}`), []byte(`{"items":null,"labels":{"a":1}}`), s)
		if (err == nil) != (applyErr == nil) {
			t.Errorf("reading: %v; applying: %v", err, applyErr)
		}
	})
}
