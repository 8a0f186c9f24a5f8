//lint:file-ignore SA5008 that encoding/json accepts such tags, or does not, is what some of these types are for

package client_test

import (
	"errors"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/patch"
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
func unfit[S any](t *testing.T, c *client.Client) error {
	t.Helper()
	return misplaced[*widget[S]](t.Context(), c)
}

// Create of N: 3 returned nil, and the server had dropped N.
func TestAFieldThatTheServerDoesNotKnowIsAnError(t *testing.T) {
	s := &script{answers: []answer{{code: 404}}}
	c := dial(t, serve(t, s))
	for _, test := range []struct {
		err            error
		fields, member string
	}{
		{unfit[bare](t, c), "field Spec.N of client_test.widget[", `"spec.N"`},
		{unfit[*bare](t, c), "field Spec.N of", `"spec.N"`},
		{unfit[option](t, c), "field Spec.N of", `"spec.N"`},
		{unfit[badName](t, c), "field Spec.N of", `"spec.N"`},
		{unfit[embeds](t, c), "field Spec.bare.N of", `"spec.N"`},
		{unfit[embedsPtr](t, c), "field Spec.bare.N of", `"spec.N"`},
		{unfit[embedsNamed](t, c), "field Spec.bare.N of", `"spec.inner.N"`},
		{unfit[embedsMap](t, c), "field Spec.Labels of", `"spec.Labels"`},
		{unfit[[]bare](t, c), "field Spec[].N of", `"spec[].N"`},
		{unfit[[2]*bare](t, c), "field Spec[].N of", `"spec[].N"`},
		{unfit[map[string][]bare](t, c), "field Spec[][].N of", `"spec[][].N"`},
		{unfit[sickTree](t, c), "field Spec.N of", `"spec.N"`},
		{unfit[struct{ widget[bare] }](t, c), "field Spec.widget.Spec.N of", `"spec.spec.N"`},
	} {
		wantErr(t, test.err, test.fields)
		wantErr(t, test.err, "must have a name in a json tag: without one it is "+test.member+" to the server")
		is[*client.UsageError](t, test.err)
	}
	sub := client.SubOf[*widget[bare]](client.For(c, slims), "scale")
	_, err := sub.Get(t.Context(), web)
	wantErr(t, err, "field Spec.N of")
	for _, err := range []error{
		misplaced[*optional](t.Context(), c), unfit[optional](t, c), unfit[tree](t, c), unfit[nested](t, c), unfit[map[string]any](t, c),
		unfit[client.Scale](t, c), unfit[meta.Status](t, c), unfit[time.Time](t, c),
	} {
		if errors.As(err, new(*client.UsageError)) {
			t.Errorf("a type as it should be is refused: %v", err)
		}
	}
}

// The server dropped N of a configuration and of a patch, and said nothing.
func TestAConfigurationWithAFieldThatTheServerDoesNotKnowIsNotSent(t *testing.T) {
	type good struct {
		N int `json:"n"`
	}
	for _, test := range []struct {
		name       string
		spec, list any
		fits       bool
	}{
		{"without a name", widget[bare]{Spec: bare{1}}, &widget[[]bare]{}, false},
		{"with a name", widget[good]{Spec: good{1}}, &widget[[]good]{}, true},
		{"a map", map[string]any{"spec": map[string]any{"N": 1}}, map[string]any{}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := says(object("a", "1"))
			r := client.For(connect(t, s), slims).With(client.WriteOptions{FieldManager: "m"})
			for what, call := range map[string]func(v any) (*Slim, error){
				"apply": func(v any) (*Slim, error) { return r.Apply(t.Context(), web, v, client.ApplyOptions{}) },
				"patch": func(v any) (*Slim, error) { return r.Patch(t.Context(), web, patch.Merge(v)) },
			} {
				for _, v := range []any{test.spec, test.list} {
					_, err := call(v)
					if test.fits {
						if err != nil {
							t.Errorf("%s of %T: %v", what, v, err)
						}
						continue
					}
					is[*client.UsageError](t, err)
					wantErr(t, err, what+" configmaps")
					wantErr(t, err, "N of client_test.widget[")
				}
			}
			if sent := len(s.all()); sent != map[bool]int{true: 4}[test.fits] {
				t.Errorf("%d requests were sent", sent)
			}
		})
	}
}
