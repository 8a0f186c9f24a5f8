package define_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/crd"
	"github.com/bowline-go/bowline/client/typegen/internal/define"
)

// field returns a field of a type.
func field[T any](tag string) define.Field {
	return define.Field{Struct: reflect.StructField{Name: "A", Type: reflect.TypeFor[T](), Tag: reflect.StructTag(tag)}, Name: "a"}
}

func wanted(t *testing.T, text string) *crd.Schema {
	t.Helper()
	s := new(crd.Schema)
	if err := json.Unmarshal([]byte(text), s); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAFieldHasTheFewestWordsThatSayItsSchema(t *testing.T) {
	for _, c := range []struct {
		field    define.Field
		schema   string
		required bool
		want     string
	}{
		{field[string](`json:"a"`), `{"type":"string"}`, true, ""},
		{field[string](`json:"a"`), `{"type":"string"}`, false, "optional"},
		{field[*string](`json:"a,omitempty"`), `{"type":"string"}`, true, "required"},
		{field[*string](`json:"a"`), `{"type":"string","nullable":true}`, false, ""},
		{field[[]string](`json:"a"`), `{"type":"array","items":{"type":"string"},"nullable":true}`, true, ""},
		{field[[]string](`json:"a"`), `{"type":"array","items":{"type":"string"}}`, true, "required"},
		{field[*string](`json:"a"`), `{"type":"string","enum":["b"]}`, true, "required; enum=b"},
		{field[int64](`json:"a"`), `{"type":"integer","format":"int64"}`, true, ""},
		{field[int64](`json:"a"`), `{"type":"integer"}`, true, "type=integer"},
		{field[float64](`json:"a"`), `{"type":"number","format":"float","minimum":0.50}`, true, "format=float; minimum=0.50"},
		{field[[][]int64](`json:"a,omitzero"`), `{"type":"array","items":{"type":"array","items":{"type":"integer","maximum":3}}}`, false, "items.items.type=integer; items.items.maximum=3"},
		{field[json.RawMessage](`json:"a,omitzero"`), `{"type":"object","x-kubernetes-preserve-unknown-fields":true}`, false, "type=object; preserveUnknown"},
		{field[string](`json:"a,omitempty"`), `{"type":"string","default":";","pattern":"^;$"}`, false, "pattern=^;;$; default=;;"},
	} {
		text, refused, err := c.field.Tag(define.Property{Schema: wanted(t, c.schema), Required: c.required})
		if text != c.want || len(refused) > 0 || err != nil {
			t.Errorf("%s: the tag is %q, want %q; %q, %v", c.schema, text, c.want, refused, err)
			continue
		}
		p, err := c.field.With(text)
		if err != nil || p.Required != c.required || !same(t, p.Schema, wanted(t, c.schema)) {
			t.Errorf("%s: the tag %q makes %+v, %v", c.schema, text, p, err)
		}
	}
}

func same(t *testing.T, x, y *crd.Schema) bool {
	t.Helper()
	texts := make([]any, 2)
	for i, s := range []*crd.Schema{x, y} {
		text, err := json.Marshal(s)
		if err == nil {
			err = json.Unmarshal(text, &texts[i])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return reflect.DeepEqual(texts[0], texts[1])
}

// The other words stay, so that as much as possible comes back.
func TestWordsThatAreRefusedAreLeftOutAndNamed(t *testing.T) {
	schema := wanted(t, `{"type":"string","format":"vehicle","minLength":1,"default":""}`)
	text, refused, err := field[string](`json:"a,omitempty"`).Tag(define.Property{Schema: schema})
	if text != "minLength=1" || err != nil || len(refused) != 2 {
		t.Fatalf("the tag is %q; %q, %v", text, refused, err)
	}
	if !strings.Contains(refused[0], `the word format of the tag has the value "vehicle"`) || !strings.HasPrefix(refused[1], `the word default of the tag: the length of ""`) {
		t.Errorf("the command says %q", refused)
	}
}

func TestAFieldThatNoDefinitionCanHaveIsAnError(t *testing.T) {
	type element struct {
		Key *string `json:"key,omitempty"`
	}
	list := field[[]element](`json:"a" patchStrategy:"merge" patchMergeKey:"key"`)
	_, _, err := list.Tag(define.Property{Schema: wanted(t, `{"type":"array"}`)})
	if err == nil || !strings.HasPrefix(err.Error(), `package crd has no definition with the field: the word listMapKeys of the tag has "key", which may be missing`) {
		t.Error(err)
	}
}
