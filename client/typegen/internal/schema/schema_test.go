package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
)

// definition returns a manifest whose schema is given.
func definition(schema string) string {
	return "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: sites.example.com}\nspec: {group: example.com, scope: Namespaced, " +
		"names: {kind: Site, plural: sites}, versions: [{name: v1, served: true, schema: {openAPIV3Schema: " + schema + "}}]}\n"
}

func TestMistakesAreErrorsThatNameThePlace(t *testing.T) {
	const at = "CustomResourceDefinition \"sites.example.com\".spec.versions[0].schema.openAPIV3Schema"
	openapi := func(schemas string) string {
		return `{"openapi": "3.0.0", "components": {"schemas": ` + schemas + `}}`
	}
	for _, c := range []struct{ file, want string }{
		{"", "got 0 other documents"},
		{"a: b\n---\n- c\n", "must have a CustomResourceDefinition of apiextensions.k8s.io/v1 with a version, or an OpenAPI v3 document with kinds, got 2 other documents"},
		{"a: [", "it must be YAML or JSON: yaml: "},
		{"%TAG ! a\n---\nb", "YAML directive"},
		{"<<: {a: b}", "line 1: a key must be a scalar, and not a merge key"},
		{"? [a]\n: b", "line 1: a key must be a scalar"},
		{"a: .inf", "line 1: a number must be finite"},
		{"a: &a [b, *a]", "line 1: the YAML must have at most 1048576 values, those of aliases included, at most 400 deep"},
		{"swagger: '2.0'", `an OpenAPI document must have version 3, got "<nil>2.0"`},
		{"apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition", `must have the apiVersion apiextensions.k8s.io/v1, got "apiextensions.k8s.io/v1beta1"`},
		{strings.Replace(definition("{}"), "Namespaced", "Everywhere", 1), `spec.scope must be Namespaced or Cluster, got "Everywhere"`},
		{strings.Replace(definition("{}"), "group: example.com", "group: 5", 1), "spec.group must be a string, got integer"},
		{strings.Replace(definition("{}"), "group: example.com, ", "", 1), "spec.group must not be empty"},
		{strings.Replace(definition("{type: object}"), "plural: sites", "plural: a/b", 1), "the plural name must"},
		{definition("[]"), at + " must be an object, got array"},
		{definition("{}"), "the schema of a kind must have the type object"},
		{definition("{type: strin}"), at + `.type must be object, array, string, integer, number or boolean, got "strin"`},
		{definition("{type: [string]}"), at + ".type must be a string, got array"},
		{definition("{type: object, properties: {a: {type: string, properties: {b: {}}}}}"), at + ".properties.a.properties and additionalProperties must not be set unless the type is object"},
		{definition("{type: object, properties: {a: {type: string, items: {}}}}"), ".a.items must not be set unless the type is array"},
		{definition("{type: object, properties: {a: {type: object, properties: {b: {}}, additionalProperties: true}}}"), ".a.additionalProperties must not be set beside properties"},
		{definition("{type: object, properties: {a: {type: string, enum: [b, 1]}}}"), ".a.enum[1] must be string, got integer"},
		{definition("{type: object, properties: {a: {type: integer, default: 1.5}}}"), ".a.default must be integer, got number"},
		{definition("{type: object, properties: {a: {type: string, default: on}}}"), ".a.default must be string, got boolean"},
		{definition("{type: object, properties: {a: {type: integer, minimum: 5, maximum: 3}}}"), ".a.minimum must be at most maximum, 3, got 5"},
		{definition("{type: object, properties: {a: {type: string, minLength: -1}}}"), ".a.minLength must be an integer that is not negative, got -1"},
		{definition("{type: object, properties: {a: {type: string, x-kubernetes-int-or-string: true}}}"), ".a.type must not be set beside x-kubernetes-int-or-string"},
		{definition("{type: object, properties: {a: {type: string, x-kubernetes-embedded-resource: true}}}"), ".a.type must be object beside x-kubernetes-embedded-resource"},
		{definition("{type: object, properties: {a: {type: array, items: {}, x-kubernetes-list-type: map}}}"), ".a.x-kubernetes-list-map-keys must name a key"},
		{definition("{type: object, properties: {a: {type: array, items: {}, x-kubernetes-list-type: bag}}}"), ".a.x-kubernetes-list-type must be atomic, set or map"},
		{definition("{type: object, properties: {a: {type: object, x-kubernetes-map-type: b}}}"), ".a.x-kubernetes-map-type must be atomic or granular"},
		{definition("{type: object, properties: {a: {type: object, required: [1]}}}"), ".a.required[0] must be a string, got integer"},
		{definition(`{type: object, properties: {"a\nb": {type: strin}}}`), `.properties."a\nb".type must be`},
		{definition(`{type: object, properties: {a: {$ref: "#/components/schemas/a"}}}`), ".a.$ref must not be set in a CustomResourceDefinition"},
		{definition(strings.Repeat("{type: object, properties: {a: ", 102) + "{}" + strings.Repeat("}}", 102)), "schemas must nest at most 100 deep"},
		{openapi(`{"a": {"$ref": "#/b"}}`), `the document.components.schemas.a.$ref must begin with #/components/schemas/, got "#/b"`},
		{openapi(`{"a": {"properties": {"b": {"items": {"$ref": "#/components/schemas/c"}}}}}`), `schemas.a.b refers to "c", which is missing`},
		{openapi(`{"a": {"$ref": "#/components/schemas/b"}, "b": {"allOf": [{"$ref": "#/components/schemas/a"}]}}`), "schemas.a refers to itself"},
		{openapi(`{}`), "got 1 other documents"},
		{openapi(`[]`), "components.schemas must be an object, got array"},
	} {
		_, err := Read("f", []byte(c.file))
		if err == nil || !strings.HasPrefix(err.Error(), "read f: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.200s: the error is %v, want %q", c.file, err, c.want)
		}
	}
}

// A document that repeats itself by aliases, or has more schemas than the limit, ends soon.
func TestHugeDocumentsAreErrors(t *testing.T) {
	aliases := "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 9 {
		aliases += fmt.Sprintf("a%d: &a%d [%s*a%d]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 9), i)
	}
	var many strings.Builder
	for i := range MaxSchemas + 1 {
		fmt.Fprintf(&many, `"a%d":{},`, i)
	}
	manifest := `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","spec":{"group":"g","scope":"Cluster","names":{"kind":"A","plural":"as"},` +
		`"versions":[{"name":"v1","schema":{"openAPIV3Schema":{"type":"object","properties":{` + strings.TrimSuffix(many.String(), ",") + `}}}}]}}`
	for _, c := range []struct{ file, want string }{
		{aliases, "the YAML must have at most"},
		{manifest, "a document must have at most 100000 schemas"},
		{strings.Repeat(" ", MaxBytes+1), "it must have at most 67108864 bytes"},
		{strings.Repeat("[", 5000), "it must be YAML or JSON"},
	} {
		if _, err := Read("f", []byte(c.file)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.100s: the error is %.300v, want %q", c.file, err, c.want)
		}
	}
}

func TestOneFileMayHaveSeveralDocumentsOfBothForms(t *testing.T) {
	one := definition("{type: object, x-kubernetes-preserve-unknown-fields: yes}")
	for _, file := range []string{
		one + "---\napiVersion: v1\nkind: Secret\n---\n---\n" + strings.ReplaceAll(strings.ReplaceAll(one, "Site", "Page"), "sites", "pages"),
		`{"kind": "List", "items": [` + asJSON(t, one) + `, {"kind": "Pod"}, 5, ` + asJSON(t, strings.ReplaceAll(strings.ReplaceAll(one, "Site", "Page"), "sites", "pages")) + `]}`,
		asJSON(t, one) + "\n" + asJSON(t, strings.ReplaceAll(strings.ReplaceAll(one, "Site", "Page"), "sites", "pages")),
	} {
		kinds, err := Read("f", []byte(file))
		if err != nil || len(kinds) != 2 {
			t.Errorf("%s: %v, %v", file, kinds, err)
			continue
		}
		want := Kind{
			GVK: meta.GVK{Group: "example.com", Version: "v1", Kind: "Page"}, Resource: "pages", Served: true,
			Schema: &Schema{Type: "object", PreserveUnknown: true},
		}
		if kinds[1].Manifest.Tree["kind"] != "CustomResourceDefinition" {
			t.Errorf("%s: the manifest is %v", file, kinds[1].Manifest)
		}
		kinds[1].Manifest = nil
		if !reflect.DeepEqual(kinds[1], want) {
			t.Errorf("%s: got %+v, want %+v", file, kinds[1], want)
		}
	}
}

func asJSON(t *testing.T, text string) string {
	t.Helper()
	docs, err := Trees([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(docs[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestPathsSayWhichResourceAKindHas(t *testing.T) {
	for path, want := range map[string]string{
		"/api/v1/pods":                                              "cluster /v1 pods",
		"/api/v1/namespaces/{namespace}/pods":                       "namespaced /v1 pods",
		"/api/v1/namespaces/{namespace}/pods/{name}":                "namespaced /v1 pods",
		"/api/v1/namespaces/{name}":                                 "cluster /v1 namespaces",
		"/api/v1/namespaces":                                        "cluster /v1 namespaces",
		"/apis/apps/v1/namespaces/{namespace}/deployments":          "namespaced apps/v1 deployments",
		"/apis/apps/v1/namespaces/{namespace}/deployments/{n}":      "",
		"/api/v1/namespaces/{namespace}/pods/{name}/log":            "",
		"/api/v1/namespaces/{name}/finalize":                        "",
		"/api/v1/watch/pods":                                        "",
		"/api/v1":                                                   "",
		"/apis/apps/v1/":                                            "",
		"/version":                                                  "",
		"/apis/authorization.k8s.io/v1/selfsubjectaccessreviews":    "cluster authorization.k8s.io/v1 selfsubjectaccessreviews",
		"/apis/rbac.authorization.k8s.io/v1/clusterroles/{name}":    "cluster rbac.authorization.k8s.io/v1 clusterroles",
		"/apis/apps/v1/namespaces/{namespace}/deployments/{name}/x": "",
	} {
		got := ""
		if at, scope, ok := resourceOf(path); ok {
			got = map[meta.Scope]string{meta.Namespaced: "namespaced ", meta.Cluster: "cluster "}[scope] + at.Group + "/" + at.Version + " " + at.Resource
		}
		if got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
}
