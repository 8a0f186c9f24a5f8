package crd_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/crd"
	"github.com/bowline-go/bowline/client/meta"
)

// fuzzed are the types of the fields that get a tag.
func fuzzed() []reflect.Type {
	type element struct {
		Name string `json:"name" crd:"maxLength=5"`
		Port int    `json:"port,omitempty" crd:"default=1"`
	}
	return []reflect.Type{
		reflect.TypeFor[string](), reflect.TypeFor[int32](), reflect.TypeFor[float64](), reflect.TypeFor[bool](), reflect.TypeFor[[]byte](),
		reflect.TypeFor[[]string](), reflect.TypeFor[[][]int](), reflect.TypeFor[[2]bool](), reflect.TypeFor[[]element](),
		reflect.TypeFor[map[string]element](), reflect.TypeFor[map[string][]string](), reflect.TypeFor[*element](), reflect.TypeFor[struct{}](),
		reflect.TypeFor[any](), reflect.TypeFor[map[string]any](), reflect.TypeFor[json.RawMessage](), reflect.TypeFor[selfCoding](),
		reflect.TypeFor[meta.Time](), reflect.TypeFor[meta.Quantity](), reflect.TypeFor[meta.IntOrString](), reflect.TypeFor[[]meta.Condition](),
		reflect.TypeFor[meta.LabelSelector](), reflect.TypeFor[meta.ObjectMeta](), reflect.TypeFor[*meta.Unstructured](),
	}
}

// Any tag on any field is an error that names the field and the tag, or makes a definition that the server takes.
func FuzzTagsMakeDefinitionsThatAServerTakes(f *testing.F) {
	for _, seed := range []string{
		"required", "minLength=1; maxLength=63; pattern=^a;;b$", "enum=a,b,; default=a", "minimum=-1e2; exclusiveMaximum=0.5; multipleOf=3",
		"items.items.minimum=1; listType=set", "listType=map; listMapKeys=name,port", `default={"name":"a"}; mapType=atomic`, "type=object; preserveUnknown",
		"rule=self > 0; message=no; rule=true; reason=FieldValueInvalid; optionalOldSelf", "format=date; nullable", "embedded; preserveUnknown", ";;;;", "=",
		"items.", "items.nullable; listType=map", "items.enum=a; items.default=b", "default=null; nullable", "type=any; default=[1,{}]", "items.mapType=atomic; listType=set",
		"enum=1,2; default=3", "minItems=3; maxItems=1", "minProperties=1; default={}", "items.listType=atomic; listType=set", "fieldPath=.a; rule=a", "rule=a; fieldPath=.name",
		"required; optional", "messageExpression=a", "type=intOrString; enum=1,a", "multipleOf=1e99", "maxLength=99999999999", "pattern=(", "nullable; enum=a", "rule=a\nb; message=c", "rule=a\nb",
	} {
		for i := range fuzzed() {
			f.Add(seed, uint8(i))
		}
	}
	types := fuzzed()
	c, err := client.New(clienttest.Start(f, clienttest.Options{Lenient: true}).Config())
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(c.Close)
	definitions := client.For(c, crd.Definitions()).With(client.WriteOptions{DryRun: true})
	f.Fuzz(func(t *testing.T, tag string, which uint8) {
		typ := types[int(which)%len(types)]
		object := reflect.StructOf([]reflect.StructField{{
			Name: "Field", Type: typ, Tag: reflect.StructTag(`json:"field,omitempty" crd:` + strconv.Quote(tag)),
		}})
		v, err := crd.VersionOf(reflect.PointerTo(object), "v1", crd.Options{})
		if err != nil {
			namesFieldAndTag(t, err)
			return
		}
		v.Storage = true
		d := crd.MustOf(Zoos, crd.Options{})
		d.Spec.Versions = []crd.Version{v}
		// Of does not check the formats of defaults.
		if _, err := definitions.Create(t.Context(), d); err != nil && !strings.Contains(err.Error(), "in body must be of type ") {
			t.Errorf("%v with the tag %q: %v", typ, tag, err)
		}
	})
}

// namesFieldAndTag checks that an error says where it is, and that a tag is wrong or can help.
func namesFieldAndTag(t *testing.T, err error) {
	t.Helper()
	joined, ok := errors.AsType[interface {
		error
		Unwrap() []error
	}](err)
	if !ok {
		t.Fatalf("the error does not join mistakes: %v", err)
	}
	for _, one := range joined.Unwrap() {
		text := one.Error()
		if !strings.HasPrefix(text, "field Field") || !strings.Contains(text, "tag") && !strings.Contains(text, "the word") {
			t.Errorf("the error does not name the field and the tag: %v", one)
		}
	}
}
