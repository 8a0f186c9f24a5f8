package patch_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/patch"
)

func TestMergeEncodesWhatItIsGiven(t *testing.T) {
	type spec struct {
		Replicas *int32 `json:"replicas,omitempty"`
		Paused   bool   `json:"paused"`
	}
	two := int32(2)
	for _, test := range []struct {
		name string
		v    any
		want string // the body; empty: it is an error
		err  string
	}{
		{"a map", map[string]any{"a": nil, "b": 1}, `{"a":null,"b":1}`, ""},
		{"an empty map, which changes nothing", map[string]any{}, `{}`, ""},
		{"a struct", spec{Replicas: &two}, `{"replicas":2,"paused":false}`, ""},
		{"a pointer", &spec{}, `{"paused":false}`, ""},
		{"JSON", json.RawMessage(` {"a": 9007199254740993}`), `{"a":9007199254740993}`, ""},

		{"nothing", nil, "", "patch.Merge: <nil> does not encode to a JSON object"},
		{"a nil map", map[string]any(nil), "", "does not encode to a JSON object"},
		{"a nil pointer", (*spec)(nil), "", "does not encode to a JSON object"},
		{"text, which the error does not show", "s3cr3t", "", "patch.Merge: string does not encode to a JSON object"},
		{"a list", []int{1}, "", "does not encode to a JSON object"},
		{"bytes, which are not JSON", []byte(`{}`), "", "does not encode to a JSON object"},
		{"what is not JSON", json.RawMessage(`{"a":}`), "", "patch.Merge: "},
		{"a function", func() {}, "", "patch.Merge: json: unsupported type"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := patch.Merge(test.v)
			body, err := p.Body()
			if string(body) != test.want || (err == nil) != (test.err == "") {
				t.Errorf("got %s, %v; want %s", body, err, test.want)
			}
			if err != nil && (!strings.Contains(err.Error(), test.err) || strings.Contains(err.Error(), "s3cr3t")) {
				t.Errorf("error is %v, want %q", err, test.err)
			}
			if got := p.MediaType(); got != "application/merge-patch+json" { // behaviour 327
				t.Errorf("media type is %q", got)
			}
		})
	}
}

func TestTheZeroPatchIsAnError(t *testing.T) {
	var p patch.Patch
	if body, err := p.Body(); err == nil || body != nil || p.MediaType() != "" {
		t.Errorf("got %s, %v", body, err)
	}
}
