package patch_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/patch"
)

type (
	sized[S any] struct {
		meta.Identity `json:"metadata"`
		Spec          S `json:"spec"`
	}
	fitting struct {
		N int `json:"n"`
	}
	unnamed struct{ N int }
	private struct {
		fitting
		n int
	}
	// itself writes its own JSON.
	itself struct{ N int }
)

var _ = private{}.n

func (itself) MarshalJSON() ([]byte, error) { return []byte(`{"n":1}`), nil }

// patches returns a patch of each kind that has spec in it, by name.
func patches[S any](spec S) map[string]patch.Patch {
	object := sized[S]{Identity: meta.Identity{Name: "a"}, Spec: spec}
	return map[string]patch.Patch{
		"patch.Apply":          patch.Apply(object),
		"patch.Apply: ":        patch.Apply(&object, "/spec"),
		"patch.Merge":          patch.Merge(object),
		"patch.Strategic":      patch.Strategic(&object),
		"patch.Diff":           patch.Diff(json.RawMessage(`{}`), object),
		"patch.DiffJSON":       patch.DiffJSON(json.RawMessage(`{}`), &object),
		"patch.DiffGuarded":    patch.DiffGuarded(json.RawMessage(`{}`), object),
		"patch: operation 1":   patch.JSON(patch.Remove("/x"), patch.Add("/a", object)),
		"patch: operation 0":   patch.JSON(patch.Replace("/a", []S{spec})),
		"patch: operation 0: ": patch.JSON(patch.Test("/a", &spec)),
	}
}

// A server drops a member under the Go name of a field: such a patch was sent, and changed nothing.
func TestAPatchOfAFieldWithoutANameIsAnError(t *testing.T) {
	for _, test := range []struct {
		name    string
		patches map[string]patch.Patch
		field   string // without its path, where it is an error
	}{
		{"a struct", patches(unnamed{1}), "N of "},
		{"a pointer", patches(&unnamed{1}), "N of "},
		{"a list", patches([]unnamed{{1}}), "[].N of "},
		{"a map of structs", patches(map[string]unnamed{"a": {1}}), "[].N of "},
		{"the zero", patches(unnamed{}), "N of "},
		{"a struct with names", patches(fitting{1}), ""},
		{"a list of structs with names", patches([]fitting{{1}}), ""},
		{"a private field", patches(private{}), ""},
		{"a map", patches(map[string]any{"N": 1}), ""},
		{"JSON", patches(json.RawMessage(`{"N":1}`)), ""},
		{"a type that encodes itself", patches(itself{1}), ""},
		{"an interface", patches[any](map[string]any{"N": 1}), ""},
		{"an unstructured", map[string]patch.Patch{
			"patch.Apply": patch.Apply(&meta.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "a"}, "N": 1}}),
			"patch.Merge": patch.Merge(map[string]any{"N": 1}),
		}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			for of, p := range test.patches {
				body, err := p.Body()
				if test.field == "" {
					if err != nil || len(body) == 0 {
						t.Errorf("%s is %s, %v", of, body, err)
					}
					continue
				}
				for _, want := range []string{strings.TrimRight(of, ":, "), test.field, "must have a name in a json tag: without one it is ", `N" to the server`} {
					if err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("%s is %s, %v; want %q in the error", of, body, err, want)
					}
				}
			}
		})
	}
	_, err := patch.JSON(patch.Remove("/x"), patch.Add("/a", unnamed{})).Body()
	if e := (*patch.OpError)(nil); !errors.As(err, &e) || e.Index != 1 || e.Path != "/a" {
		t.Errorf("error is %#v", err)
	}
}
