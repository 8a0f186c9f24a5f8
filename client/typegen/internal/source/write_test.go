package source_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/typegen/internal/schema"
	"github.com/bowline-go/bowline/client/typegen/internal/source"
)

// definition returns a manifest of a kind whose schema is given as JSON.
func definition(properties string) string {
	return `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"sites.example.com"},"spec":{"group":"example.com",` +
		`"scope":"Namespaced","names":{"kind":"Site","plural":"sites"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":` +
		`{"type":"object","properties":` + properties + `}}}]}}`
}

func write(t *testing.T, file string, o source.Options) (string, error) {
	t.Helper()
	kinds, err := schema.Read("f", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	o.Package, o.Command = "p", "test"
	text, err := source.Write(kinds, o)
	if err == nil {
		harmless(t, text)
	}
	return string(text), err
}

// specFields returns the fields of SiteSpec without comments.
func specFields(text string) (fields string) {
	_, rest, _ := strings.Cut(text, "type SiteSpec struct {\n")
	body, _, _ := strings.Cut(rest, "}\n")
	for line := range strings.Lines(body) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "//") {
			fields += line
		}
	}
	return fields
}

// Each property of a spec becomes the field that the rules of doc.go say.
func TestFieldsTellAbsentFromZeroWhereTheyDiffer(t *testing.T) {
	for _, c := range []struct{ schema, required, want string }{
		{`{"type":"string"}`, "", "A *string `json:\"a,omitempty\"`"},
		{`{"type":"string"}`, "a", "A string `json:\"a\"`"},
		{`{"type":"string","nullable":true}`, "a", "A *string `json:\"a\"`"},
		{`{"type":"string","minLength":1}`, "", "A string `json:\"a,omitempty\"`"},
		{`{"type":"string","pattern":"^a"}`, "", "A string `json:\"a,omitempty\"`"},
		{`{"type":"string","pattern":"a*"}`, "", "A *string `json:\"a,omitempty\"`"},
		{`{"type":"string","pattern":"("}`, "", "A *string `json:\"a,omitempty\"`"},
		{`{"type":"string","minLength":1,"default":"x"}`, "", "A *string `json:\"a,omitempty\"`"},
		{`{"type":"string","default":"x"}`, "a", "A *string `json:\"a,omitempty\"`"},
		{`{"type":"string","default":""}`, "a", "A string `json:\"a\"`"},
		{`{"type":"integer"}`, "", "A *int64 `json:\"a,omitempty\"`"},
		{`{"type":"integer","format":"int32","minimum":1}`, "", "A int32 `json:\"a,omitempty\"`"},
		{`{"type":"integer","maximum":-1}`, "", "A int64 `json:\"a,omitempty\"`"},
		{`{"type":"integer","minimum":0}`, "", "A *int64 `json:\"a,omitempty\"`"},
		{`{"type":"number","minimum":0,"exclusiveMinimum":true}`, "", "A float64 `json:\"a,omitempty\"`"},
		{`{"type":"boolean"}`, "", "A *bool `json:\"a,omitempty\"`"},
		{`{"type":"boolean","enum":[true]}`, "", "A bool `json:\"a,omitempty\"`"},
		{`{"type":"string","format":"date-time"}`, "", "A meta.Time `json:\"a,omitzero\"`"},
		{`{"type":"string","format":"date-time"}`, "a", "A meta.Time `json:\"a\"`"},
		{`{"type":"string","format":"byte"}`, "", "A []byte `json:\"a,omitzero\"`"},
		{`{"x-kubernetes-int-or-string":true}`, "", "A *meta.IntOrString `json:\"a,omitempty\"`"},
		{`{"x-kubernetes-int-or-string":true}`, "a", "A meta.IntOrString `json:\"a\"`"},
		{`{"type":"array","items":{"type":"string"}}`, "", "A []string `json:\"a,omitzero\"`"},
		{`{"type":"array","items":{"type":"string"}}`, "a", "A []string `json:\"a\"`"},
		{`{"type":"array","minItems":1,"items":{"type":"string"}}`, "", "A []string `json:\"a,omitempty\"`"},
		{`{"type":"array","items":{"type":"string","nullable":true}}`, "a", "A []*string `json:\"a\"`"},
		{`{"type":"object","additionalProperties":{"type":"integer"}}`, "", "A map[string]int64 `json:\"a,omitzero\"`"},
		{`{"type":"object","additionalProperties":true}`, "", "A map[string]json.RawMessage `json:\"a,omitzero\"`"},
		{`{"type":"object","properties":{"b":{"type":"string"}}}`, "", "A *SiteSpecA `json:\"a,omitempty\"`"},
		{`{"type":"object","properties":{"b":{"type":"string"}}}`, "a", "A SiteSpecA `json:\"a\"`"},
		{`{"type":"object","default":{},"properties":{"b":{"type":"string"}}}`, "", "A SiteSpecA `json:\"a\"`"},
		{`{"type":"object","required":["b"],"properties":{"b":{"type":"string","minLength":1}}}`, "", "A SiteSpecA `json:\"a,omitzero\"`"},
		{`{"type":"object"}`, "", "A json.RawMessage `json:\"a,omitzero\"`"},
		{`{}`, "a", "A json.RawMessage `json:\"a\"`"},
		{`{"x-kubernetes-preserve-unknown-fields":true}`, "", "A json.RawMessage `json:\"a,omitzero\"`"},
		{`{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}`, "", "A meta.Unstructured `json:\"a,omitzero\"`"},
		{
			`{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["n"],"items":{"type":"object","properties":{"n":{"type":"string"}}}}`, "",
			"A []SiteSpecA `json:\"a,omitzero\" patchStrategy:\"merge\" patchMergeKey:\"n\"`",
		},
		{`{"type":"object","x-kubernetes-map-type":"atomic","properties":{"b":{"type":"string"}}}`, "a", "A SiteSpecA `json:\"a\" patchStrategy:\"replace\"`"},
	} {
		required := "[]"
		if c.required != "" {
			required = fmt.Sprintf("[%q]", c.required)
		}
		text, err := write(t, definition(`{"spec":{"type":"object","required":`+required+`,"properties":{"a":`+c.schema+`}}}`), source.Options{})
		if err != nil {
			t.Errorf("%s: %v", c.schema, err)
			continue
		}
		got := specFields(text)
		if got != c.want {
			t.Errorf("%s (required %q) is\n%s, want\n%s", c.schema, c.required, got, c.want)
		}
	}
}

func TestASchemaWithoutAGoTypeIsAnErrorThatNamesThePlace(t *testing.T) {
	long := strings.Repeat("x", 600)
	for _, c := range []struct {
		file   string
		fields []string
		want   string
	}{
		{definition(`{"spec":{"type":"object","properties":{"a,b":{"type":"string"}}}}`), nil, `Site.spec.a,b: the name of a member must have`},
		{definition(`{"spec":{"type":"object","properties":{"` + long + `":{"type":"string"}}}}`), nil, `the name of a member must have 1 to 512 bytes`},
		{definition(`{"spec":{"type":"object","properties":{"a":{"type":"string"}}}}`), []string{"spec.b"}, `Site.spec has no field "b"`},
		{definition(`{"spec":{"type":"object","properties":{"a":{"type":"string"}}}}`), []string{"spec.a.b"}, `Site.spec.a: it has no fields of which some could be chosen`},
		{definition(`{"spec":{"type":"object"}}`), []string{"spec..a"}, `names with dots between them, such as spec.nodeName, got "spec..a"`},
		{definition(`{"spec":{"type":"object"}}`), []string{"metadata.nme"}, `metadata has no field "nme"`},
		{definition(`{"spec":{"type":"object"}}`) + definition(`{}`), nil, `must come once, and comes twice`},
		{strings.Replace(openAPI, `"properties": {"a": {"type": "string"}`, `"required": ["not"], "properties": {"a": {"type": "string"}`, 1), nil, "the schema of Spec requires another value of itself"},
	} {
		if _, err := write(t, c.file, source.Options{Fields: c.fields}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("fields %q: the error is %v, want %q", c.fields, err, c.want)
		}
	}
}

func TestTooManyTypesAreAnError(t *testing.T) {
	properties := map[string]any{}
	for i := range 20_001 {
		properties[fmt.Sprintf("f%d", i)] = map[string]any{"type": "object", "properties": map[string]any{"a": map[string]any{"type": "string"}}}
	}
	text, err := json.Marshal(properties)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := write(t, definition(`{"spec":{"type":"object","properties":`+string(text)+`}}`), source.Options{}); err == nil || !strings.Contains(err.Error(), "at most 20000 types") {
		t.Errorf("the error is %v", err)
	}
}

func TestReferencesBecomeOneTypeEach(t *testing.T) {
	text, err := write(t, openAPI, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"var Things = client.Type[*Thing]{Group: \"g.example.com\", Version: \"v1\", Kind: \"Thing\", Resource: \"things\"}\n",
		"	Spec            Spec `json:\"spec\"`\n", "	Not   *Spec           `json:\"not,omitempty\"`\n", "	Other *OrgExampleSpec `json:\"other,omitempty\"`\n",
		"	More  []Spec          `json:\"more,omitzero\" patchStrategy:\"merge\" patchMergeKey:\"a\"`\n", "	Since meta.MicroTime `json:\"since,omitzero\"`\n",
		"// a says which of these is set: not, other.\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %s in\n%s", want, text)
		}
	}
}

func TestComponentsOfTwoDocumentsThatDifferAreTwoTypes(t *testing.T) {
	other := strings.NewReplacer("Thing", "Thong", `"format": "date-time"`, `"format": ""`, `"since"`, `"until"`).Replace(openAPI)
	text, err := write(t, openAPI+other, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"type Spec struct", "type GV1Spec struct", "type OrgExampleSpec struct", "type OrgExampleSpec2 struct"} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %s in\n%s", want, text)
		}
	}
}
