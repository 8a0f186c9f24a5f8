//lint:file-ignore SA5008 that encoding/json accepts such tags, or does not, is what some of these types are for

package gotype_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/gotype"
)

type (
	widget[S any] struct {
		meta.ObjectMeta `json:"metadata"`
		Spec            S `json:"spec"`
	}
	bare   struct{ N int }
	option struct {
		N int `json:",omitempty"`
	}
	badName struct {
		N int `json:"it's"`
	}
	embeds      struct{ bare }
	embedsPtr   struct{ *bare }
	embedsNamed struct {
		bare `json:"inner"`
	}
	Labels    map[string]string
	embedsMap struct{ Labels }
	tree      struct {
		Children []tree          `json:"children"`
		ByName   map[string]tree `json:"byName"`
		Next     *tree           `json:"next"`
	}
	sickTree struct {
		Children []sickTree `json:"children"`
		N        int
	}
	nested   []nested
	optional struct {
		meta.Identity `json:"metadata"`
		Embedded
		*Further
		Left    int                `json:"-"`
		Dash    int                `json:"-,"`
		At      meta.Time          `json:"at"`
		Took    ownText            `json:"took"`
		Any     any                `json:"any"`
		Raw     []byte             `json:"raw"`
		Tree    tree               `json:"tree"`
		Nested  nested             `json:"nested"`
		Times   map[string]ownJSON `json:"times"`
		private int
	}
	Embedded struct {
		A int `json:"a"`
	}
	Further struct {
		B int `json:"b"`
	}
	ownText struct{ D time.Duration }
	ownJSON struct{ N int }
)

var _ = optional{}.private

func (ownText) MarshalText() ([]byte, error) { return []byte("x"), nil }
func (*ownJSON) UnmarshalJSON([]byte) error  { return nil }

// Create of N: 3 returned nil, and the server had dropped N.
func TestAFieldThatTheServerDoesNotKnowIsAnError(t *testing.T) {
	for _, test := range []struct {
		of             reflect.Type
		fields, member string
	}{
		{reflect.TypeFor[*widget[bare]](), "field Spec.N of gotype_test.widget[", `"spec.N"`},
		{reflect.TypeFor[*widget[*bare]](), "field Spec.N of", `"spec.N"`},
		{reflect.TypeFor[*widget[option]](), "field Spec.N of", `"spec.N"`},
		{reflect.TypeFor[*widget[badName]](), "field Spec.N of", `"spec.N"`},
		{reflect.TypeFor[*widget[embeds]](), "field Spec.bare.N of", `"spec.N"`},
		{reflect.TypeFor[*widget[embedsPtr]](), "field Spec.bare.N of", `"spec.N"`},
		{reflect.TypeFor[*widget[embedsNamed]](), "field Spec.bare.N of", `"spec.inner.N"`},
		{reflect.TypeFor[*widget[embedsMap]](), "field Spec.Labels of", `"spec.Labels"`},
		{reflect.TypeFor[*widget[[]bare]](), "field Spec[].N of", `"spec[].N"`},
		{reflect.TypeFor[*widget[[2]*bare]](), "field Spec[].N of", `"spec[].N"`},
		{reflect.TypeFor[*widget[map[string][]bare]](), "field Spec[][].N of", `"spec[][].N"`},
		{reflect.TypeFor[*widget[sickTree]](), "field Spec.N of", `"spec.N"`},
		{reflect.TypeFor[*widget[struct{ widget[bare] }]](), "field Spec.widget.Spec.N of", `"spec.spec.N"`},
	} {
		err := gotype.Unnamed(test.of)
		for _, want := range []string{test.fields, "must have a name in a json tag: without one it is " + test.member + " to the server"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v: %v; want %q in the error", test.of, err, want)
			}
		}
	}
	for _, of := range []reflect.Type{
		nil, reflect.TypeFor[*optional](), reflect.TypeFor[widget[optional]](), reflect.TypeFor[widget[tree]](), reflect.TypeFor[widget[nested]](),
		reflect.TypeFor[widget[map[string]any]](), reflect.TypeFor[widget[client.Scale]](), reflect.TypeFor[widget[meta.Status]](), reflect.TypeFor[widget[time.Time]](),
	} {
		if err := gotype.Unnamed(of); err != nil {
			t.Errorf("a type as it should be is refused: %v", err)
		}
	}
}
