package client_test

import (
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/patch"
)

type (
	widget[S any] struct {
		meta.ObjectMeta `json:"metadata"`
		Spec            S `json:"spec"`
	}
	bare struct{ N int }
)

// Create of N: 3 returned nil, and the server had dropped N.
func TestAFieldThatTheServerDoesNotKnowIsAnError(t *testing.T) {
	s := &script{answers: []answer{{code: 404}}}
	c := dial(t, serve(t, s))
	err := misplaced[*widget[bare]](t.Context(), c)
	wantErr(t, err, "field Spec.N of client_test.widget[")
	wantErr(t, err, `must have a name in a json tag: without one it is "spec.N" to the server`)
	is[*client.UsageError](t, err)
	sub := client.SubOf[*widget[bare]](client.For(c, slims), "scale")
	_, err = sub.Get(t.Context(), web)
	wantErr(t, err, "field Spec.N of")
	if calls := s.all(); len(calls) > 0 {
		t.Errorf("the server got %v", calls)
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
