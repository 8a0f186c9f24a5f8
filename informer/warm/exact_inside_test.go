package warm

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

type decodesOnly struct{ s string }

func (d *decodesOnly) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &d.s) }

type encodesOnly struct{ S string }

func (encodesOnly) MarshalText() ([]byte, error) { return nil, nil }

type byPointer struct{ S string }

func (*byPointer) MarshalJSON() ([]byte, error) { return nil, nil }
func (*byPointer) UnmarshalJSON([]byte) error   { return nil }

type whole struct {
	meta.TypeMeta
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Any   any               `json:"any"`
		Time  *time.Time        `json:"time"`
		Raw   json.RawMessage   `json:"raw"`
		Map   map[string][]*int `json:"map,omitempty"`
		Bytes []byte            `json:"bytes"`
		Self  *whole            `json:"self"`
	} `json:"spec"`
}

type with[F any] struct {
	meta.Identity `json:"metadata"`
	Field         F `json:"field"`
}

type hides struct {
	meta.Identity `json:"metadata"`
	Memo          string `json:"-"`
}

type hidesUnexported struct {
	meta.Identity `json:"metadata"`
	memo          string
}

type mapped map[string]any

func (mapped) GetNamespace() string       { return "" }
func (mapped) GetName() string            { return "" }
func (mapped) GetResourceVersion() string { return "" }

func TestATypeThatIsNotTheSameAfterItsJSONIsAnError(t *testing.T) {
	_ = hidesUnexported{}.memo
	for _, test := range []struct {
		name   string
		typ    reflect.Type
		shaped bool
		want   string // empty means that the type fits
	}{
		{"whole objects", reflect.TypeFor[*whole](), true, ""},
		{"metadata alone", reflect.TypeFor[*meta.Partial](), true, ""},
		{"raw objects", reflect.TypeFor[*meta.Raw](), true, ""},
		{"unstructured objects", reflect.TypeFor[*meta.Unstructured](), true, ""},
		{"an interface", reflect.TypeFor[meta.Object](), false, "a pointer to a struct, got meta.Object"},
		{"a map", reflect.TypeFor[mapped](), false, "a pointer to a struct, got warm.mapped"},
		{"a struct", reflect.TypeFor[with[int]](), false, "a pointer to a struct"},
		{"a field that only decodes", reflect.TypeFor[*with[decodesOnly]](), false, ".Field: warm.decodesOnly has only one of MarshalJSON and UnmarshalJSON"},
		{"a field that only encodes", reflect.TypeFor[*with[[]encodesOnly]](), false, ".Field: warm.encodesOnly has only one of MarshalText and UnmarshalText"},
		{"values with methods on the pointer", reflect.TypeFor[*with[map[string]byPointer]](), false, "on the value, not on the pointer"},
		{"pointers with methods", reflect.TypeFor[*with[*byPointer]](), false, ""},
		{"a function", reflect.TypeFor[*with[func()]](), false, ".Field is a func()"},
		{"an interface with methods", reflect.TypeFor[*with[error]](), false, ".Field is an interface, error"},
		{"a field that is not in the JSON", reflect.TypeFor[*hides](), false, ""},
		{"a field that is not in the JSON, and a Transform", reflect.TypeFor[*hides](), true, ".Memo is not in the JSON"},
		{"an unexported field", reflect.TypeFor[*hidesUnexported](), false, ""},
		{"an unexported field, and a Transform", reflect.TypeFor[*hidesUnexported](), true, ".memo is not in the JSON"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := exact(test.typ, test.shaped)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestTypesThatDifferHaveDifferentFingerprints(t *testing.T) {
	type a struct {
		meta.Identity `json:"metadata"`
		A             string `json:"a"`
	}
	type sameName struct {
		A string `json:"a"`
	}
	seen := map[string]reflect.Type{}
	for _, typ := range []reflect.Type{
		reflect.TypeFor[*a](), reflect.TypeFor[*whole](), reflect.TypeFor[*with[int]](), reflect.TypeFor[*with[int64]](), reflect.TypeFor[*with[*int]](),
		reflect.TypeFor[*with[[]int]](), reflect.TypeFor[*with[[2]int]](), reflect.TypeFor[*with[[3]int]](), reflect.TypeFor[*with[map[string]int]](),
		reflect.TypeFor[*with[sameName]](), reflect.TypeFor[*with[struct {
			A string `json:"a"`
		}]](), reflect.TypeFor[*with[struct {
			A string `json:"b"`
		}]](), reflect.TypeFor[*with[struct {
			B string `json:"a"`
		}]](), reflect.TypeFor[*with[struct {
			A []byte `json:"a"`
		}]](),
	} {
		print := fingerprint(typ)
		if print != fingerprint(typ) {
			t.Errorf("the fingerprint of %v changes", typ)
		}
		_, sum, _ := strings.Cut(print, " ")
		if was, ok := seen[sum[len(sum)-32:]]; ok {
			t.Errorf("%v and %v have the same fingerprint", was, typ)
		}
		seen[sum[len(sum)-32:]] = typ
	}
}
