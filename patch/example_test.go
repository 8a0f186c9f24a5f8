package patch_test

import (
	"errors"
	"fmt"

	"github.com/bowline-go/bowline/patch"
)

// A merge patch says what is to change, and null removes.
func Example() {
	p := patch.Merge(map[string]any{
		"metadata": map[string]any{"labels": map[string]any{"tier": nil}},
		"data":     map[string]any{"color": "blue"},
	})
	body, err := p.Body()
	fmt.Println(p.MediaType(), string(body), err)
	// Output:
	// application/merge-patch+json {"data":{"color":"blue"},"metadata":{"labels":{"tier":null}}} <nil>
}

func ExampleApplyMerge() {
	doc, err := patch.ApplyMerge([]byte(`{"data":{"color":"green","size":"3"}}`), []byte(`{"data":{"color":null}}`))
	fmt.Println(string(doc), err)
	// Output:
	// {"data":{"size":"3"}} <nil>
}

// The test and the two changes happen together, or not at all.
func ExampleJSON() {
	p := patch.JSON(
		patch.Test("/spec/paused", true),
		patch.Remove("/spec/paused"),
		patch.Replace("/spec/replicas", 3),
	)
	body, err := p.Body()
	fmt.Println(p.MediaType())
	fmt.Println(string(body), err)
	// Output:
	// application/json-patch+json
	// [{"op":"test","path":"/spec/paused","value":true},{"op":"remove","path":"/spec/paused"},{"op":"replace","path":"/spec/replicas","value":3}] <nil>
}

func ExamplePointer() {
	fmt.Println(patch.Pointer("metadata", "annotations", "example.com/owner"))
	// Output:
	// /metadata/annotations/example.com~1owner
}

func ExampleApplyJSON() {
	change := []byte(`[{"op":"add","path":"/args/-","value":"--verbose"},{"op":"test","path":"/replicas","value":3}]`)
	doc, err := patch.ApplyJSON([]byte(`{"args":["serve"],"replicas":3.0}`), change)
	fmt.Println(string(doc), err)
	doc, err = patch.ApplyJSON([]byte(`{"args":["serve"],"replicas":4}`), change)
	fmt.Println(string(doc), err)
	fmt.Println(errors.Is(err, patch.ErrTestFailed))
	// Output:
	// {"args":["serve","--verbose"],"replicas":3.0} <nil>
	//  patch: operation 1 (test "/replicas"): the document has a different value there
	// true
}

func ExampleDiff() {
	type spec struct {
		Replicas int    `json:"replicas"`
		Paused   bool   `json:"paused,omitempty"`
		Image    string `json:"image"`
	}
	p := patch.Diff(spec{Replicas: 2, Paused: true, Image: "web:1"}, spec{Replicas: 3, Image: "web:1"})
	body, err := p.Body()
	fmt.Println(string(body), err)
	fmt.Println(patch.Diff(spec{Replicas: 2}, spec{Replicas: 2}).IsEmpty())
	// Output:
	// {"paused":null,"replicas":3} <nil>
	// true
}

// A guarded diff applies only to an object that still has what is to be changed.
func ExampleDiffGuarded() {
	old := map[string]any{"replicas": 2, "args": []string{"serve", "--port=8080"}}
	changed := map[string]any{"replicas": 3, "args": []string{"serve", "--port=8080"}, "paused": true}
	body, err := patch.DiffGuarded(old, changed).Body()
	fmt.Println(string(body), err)
	// Output:
	// [{"op":"add","path":"/paused","value":true},{"op":"test","path":"/replicas","value":2},{"op":"replace","path":"/replicas","value":3}] <nil>
}

// The server refuses the patch if the object is no longer the one that it was computed from.
func ExamplePatch_WithResourceVersion() {
	p := patch.Merge(map[string]any{"data": map[string]any{"color": "blue"}}).WithResourceVersion("41")
	body, err := p.Body()
	fmt.Println(string(body), err)
	// Output:
	// {"data":{"color":"blue"},"metadata":{"resourceVersion":"41"}} <nil>
}
