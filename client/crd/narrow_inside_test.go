package crd

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestEachChangeOfASchemaIsNarrowingOrNot(t *testing.T) {
	const narrow, wide = true, false
	for _, test := range []struct {
		was, is  string // the schema of the member a
		want     string // in the text of the changes
		narrowed bool
	}{
		{`{"type":"string"}`, `{"type":"integer"}`, `v1.a.type: integer, was string (narrowed)`, narrow},
		{`{"type":"integer"}`, `{"type":"number"}`, `v1.a.type: number, was integer`, wide},
		{`{"type":"integer"}`, `{"type":"number","maximum":1}`, `v1.a.type: number, was integer (narrowed)`, narrow},
		{`{"type":"number"}`, `{"type":"integer"}`, `(narrowed)`, narrow},
		{`{"type":"string"}`, `{"x-kubernetes-int-or-string":true}`, `v1.a.type: an integer or a string, was string`, wide},
		{`{"type":"string"}`, `{"x-kubernetes-preserve-unknown-fields":true}`, `v1.a.type: any value, was string`, wide},
		{`{"x-kubernetes-preserve-unknown-fields":true}`, `{"type":"string"}`, `(narrowed)`, narrow},
		{`{"type":"string","description":"a"}`, `{"type":"string","description":"b"}`, `v1.a.description: "b", was "a"`, wide},
		{`{"type":"string","default":"a"}`, `{"type":"string","default":"b"}`, `v1.a.default: "b", was "a"`, wide},
		{`{"type":"string"}`, `{"type":"string","enum":["a"]}`, `v1.a.enum: ["a"], was missing (narrowed)`, narrow},
		{`{"type":"string","enum":["a","b"]}`, `{"type":"string","enum":["a"]}`, `(narrowed)`, narrow},
		{`{"type":"string","enum":["a"]}`, `{"type":"string","enum":["b","a"]}`, `v1.a.enum: ["b","a"], was ["a"]`, wide},
		{`{"type":"string","enum":["a"]}`, `{"type":"string"}`, `v1.a.enum: missing, was ["a"]`, wide},
		{`{"type":"string"}`, `{"type":"string","pattern":"a"}`, `v1.a.pattern: "a", was missing (narrowed)`, narrow},
		{`{"type":"string","pattern":"a"}`, `{"type":"string"}`, `v1.a.pattern: missing, was "a"`, wide},
		{`{"type":"string"}`, `{"type":"string","format":"date"}`, `(narrowed)`, narrow},
		{`{"type":"integer","format":"int32"}`, `{"type":"integer","format":"int64"}`, `v1.a.format`, wide},
		{`{"type":"integer","format":"int64"}`, `{"type":"integer","format":"int32"}`, `(narrowed)`, narrow},
		{`{"type":"string","nullable":true}`, `{"type":"string"}`, `v1.a.nullable: missing, was true (narrowed)`, narrow},
		{`{"type":"string"}`, `{"type":"string","nullable":true}`, `v1.a.nullable`, wide},
		{`{"type":"integer","minimum":1}`, `{"type":"integer","minimum":0}`, `v1.a.minimum: 0, was 1`, wide},
		{`{"type":"integer","minimum":1}`, `{"type":"integer","minimum":2}`, `v1.a.minimum: 2, was 1 (narrowed)`, narrow},
		{`{"type":"integer","minimum":1}`, `{"type":"integer","minimum":1,"exclusiveMinimum":true}`, `v1.a.exclusiveMinimum: true, was missing (narrowed)`, narrow},
		{`{"type":"integer","minimum":1,"exclusiveMinimum":true}`, `{"type":"integer","minimum":1}`, `v1.a.exclusiveMinimum`, wide},
		{`{"type":"integer"}`, `{"type":"integer","maximum":1}`, `v1.a.maximum: 1, was missing (narrowed)`, narrow},
		{`{"type":"integer","maximum":1}`, `{"type":"integer","maximum":0}`, `(narrowed)`, narrow},
		{`{"type":"integer","maximum":1}`, `{"type":"integer"}`, `v1.a.maximum: missing, was 1`, wide},
		{`{"type":"integer"}`, `{"type":"integer","multipleOf":2}`, `(narrowed)`, narrow},
		{`{"type":"string","minLength":1}`, `{"type":"string","minLength":2}`, `v1.a.minLength: 2, was 1 (narrowed)`, narrow},
		{`{"type":"string","minLength":2}`, `{"type":"string","minLength":1}`, `v1.a.minLength`, wide},
		{`{"type":"string","maxLength":2}`, `{"type":"string","maxLength":1}`, `v1.a.maxLength: 1, was 2 (narrowed)`, narrow},
		{`{"type":"string","maxLength":2}`, `{"type":"string"}`, `v1.a.maxLength`, wide},
		{`{"type":"object"}`, `{"type":"object","x-kubernetes-validations":[{"rule":"true"}]}`, `(narrowed)`, narrow},
		{
			`{"type":"object","x-kubernetes-validations":[{"rule":"true"},{"rule":"1<2"}]}`,
			`{"type":"object","x-kubernetes-validations":[{"rule":"true","message":"no"}]}`, `v1.a.x-kubernetes-validations`, wide,
		},
		{`{"type":"string"}`, `{"type":"string","not":{"pattern":"a"}}`, `(narrowed)`, narrow},
		{`{"type":"string","anyOf":[{"pattern":"a"}]}`, `{"type":"string"}`, `v1.a.anyOf`, wide},
		{`{"type":"object","x-kubernetes-preserve-unknown-fields":true}`, `{"type":"object"}`, `(narrowed)`, narrow},
		{`{"type":"object","properties":{"b":{"type":"string"}}}`, `{"type":"object"}`, `v1.a.b: missing, was string (narrowed)`, narrow},
		{
			`{"type":"object","properties":{"b":{"type":"string"}}}`, `{"type":"object","x-kubernetes-preserve-unknown-fields":true}`,
			`v1.a.b: missing, was string`, wide,
		},
		{
			`{"type":"object","properties":{"b":{"type":"string"}}}`, `{"type":"object","additionalProperties":{"type":"string","maxLength":1}}`,
			`v1.a.b.maxLength: 1, was missing (narrowed)`, narrow,
		},
		{`{"type":"object"}`, `{"type":"object","properties":{"b":{"type":"string"}}}`, `v1.a.b: string, was missing`, wide},
		{
			`{"type":"object","additionalProperties":{"type":"string"}}`, `{"type":"object","properties":{"b":{"type":"integer"}}}`,
			`v1.a.b.type: integer, was string (narrowed)`, narrow,
		},
		{
			`{"type":"object","x-kubernetes-preserve-unknown-fields":true}`,
			`{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"b":{"type":"integer"}}}`, `v1.a.b: integer, was missing (narrowed)`, narrow,
		},
		{`{"type":"object","additionalProperties":{"type":"string"}}`, `{"type":"object"}`, `v1.a[]: missing, was string (narrowed)`, narrow},
		{`{"type":"object","additionalProperties":true}`, `{"type":"object"}`, `(narrowed)`, narrow},
		{
			`{"type":"object","properties":{"b":{"type":"string"}}}`, `{"type":"object","required":["b"],"properties":{"b":{"type":"string"}}}`,
			`v1.a.b.required: true, was missing (narrowed)`, narrow,
		},
		{
			`{"type":"object","properties":{"b":{"type":"string"}}}`,
			`{"type":"object","required":["b"],"properties":{"b":{"type":"string","default":"x"}}}`, `v1.a.b.required: true, was missing`, wide,
		},
		{
			`{"type":"object","required":["b"],"properties":{"b":{"type":"string","default":"x"}}}`,
			`{"type":"object","required":["b"],"properties":{"b":{"type":"string"}}}`, `v1.a.b.required: true, was true, with a default (narrowed)`, narrow,
		},
		{`{"type":"array","items":{"type":"string"}}`, `{"type":"array","items":{"type":"string","maxLength":1}}`, `v1.a[].maxLength: 1, was missing (narrowed)`, narrow},
		{`{"type":"array","items":{"type":"string"}}`, `{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set"}`, `(narrowed)`, narrow},
		{`{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set"}`, `{"type":"array","items":{"type":"string"}}`, `v1.a.x-kubernetes-list-type`, wide},
		{`{"type":"array","items":{"type":"string"},"maxItems":2}`, `{"type":"array","items":{"type":"string"},"maxItems":1}`, `v1.a.maxItems: 1, was 2 (narrowed)`, narrow},
	} {
		changes := Compare(withMember(t, test.was), withMember(t, test.is)).Changes
		text, narrowed := "", false
		for _, c := range changes {
			text += c.String() + "\n"
			narrowed = narrowed || c.Danger == Narrowed
		}
		if !strings.Contains(text, test.want) || narrowed != test.narrowed {
			t.Errorf("%s\nto %s\nis %swant %s", test.was, test.is, text, test.want)
		}
		if same := Compare(withMember(t, test.was), withMember(t, test.was)).Changes; len(same) > 0 {
			t.Errorf("%s differs from itself: %v", test.was, same)
		}
	}
}

// withMember returns a definition of objects with the member a.
func withMember(t *testing.T, schema string) *Definition {
	t.Helper()
	s := new(Schema)
	if err := json.Unmarshal([]byte(`{"type":"object","properties":{"a":`+schema+`}}`), s); err != nil {
		t.Fatal(err)
	}
	return &Definition{Spec: Spec{Versions: []Version{{Name: "v1", Served: true, Schema: Validation{s}}}}}
}
