package crd

import (
	"reflect"
	"strings"
	"testing"
)

// reflect finds no value in a tag that it cannot read, so the words were ignored.
func TestATagThatGoCannotReadIsAnError(t *testing.T) {
	if _, err := wordsOf(reflect.StructTag("json:\"a\" crd:\"pattern=\\d\"")); err == nil || !strings.Contains(err.Error(), "with a double backslash for a backslash") {
		t.Error(err)
	}
	if words, err := wordsOf(`json:"a" crd:"pattern=\\d"`); err != nil || len(words) != 1 || words[0].value != `\d` {
		t.Error(words, err)
	}
	if words, err := wordsOf(`json:"a"`); err != nil || words != nil {
		t.Error(words, err)
	}
}

// FuzzTags puts tags on fields of several types. No tag makes Of panic or hang, and the schema accepts its default.
func FuzzTags(f *testing.F) {
	for _, seed := range []string{
		"required", "minLength=1; maxLength=63; pattern=^a;;b$", "enum=a,b,; default=a", "minimum=-1e2; exclusiveMaximum=0.5; multipleOf=3",
		"items.items.minimum=1; listType=set", "listType=map; listMapKeys=name", `default={"name":"a"}; mapType=atomic`, "type=object; preserveUnknown",
		"rule=self > 0; message=no; rule=true; reason=FieldValueInvalid", "format=date; nullable", "embedded; preserveUnknown", ";;;;", "=", "items.",
	} {
		f.Add(seed)
	}
	type element struct {
		Name string `json:"name" crd:"maxLength=5"`
	}
	types := []reflect.Type{
		reflect.TypeFor[string](), reflect.TypeFor[int32](), reflect.TypeFor[float64](), reflect.TypeFor[bool](), reflect.TypeFor[[]string](),
		reflect.TypeFor[[][]uint8](), reflect.TypeFor[[]element](), reflect.TypeFor[map[string]element](), reflect.TypeFor[*element](),
		reflect.TypeFor[any](), reflect.TypeFor[map[string]any](), reflect.TypeFor[chan int](),
	}
	f.Fuzz(func(t *testing.T, tag string) {
		words, err := parseWords(tag)
		if err != nil {
			return
		}
		for _, typ := range types {
			b := &builder{root: typ, described: map[string]bool{}}
			s := b.value(typ, words, place{})
			if s == nil {
				if len(b.errs) == 0 {
					t.Errorf("%v: no schema and no error", typ)
				}
				continue
			}
			d := &Definition{Spec: Spec{Versions: []Version{{Schema: Validation{s}}}}}
			if _, err := YAML(d); err != nil {
				t.Errorf("%v: %v", typ, err)
			}
			if changes := Compare(d, d).Changes; len(changes) > 0 && len(s.Rules) == 0 {
				t.Errorf("%v: a definition differs from itself: %v", typ, changes)
			}
			if len(s.Default) > 0 {
				if err := s.check(s.Default); err != nil {
					t.Errorf("%v: the default %s: %v", typ, s.Default, err)
				}
			}
		}
	})
}
