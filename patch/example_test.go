package patch_test

import (
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

// A program that knows two members of a container adds a third to the list; the ports, which it does not know, stay.
func ExampleCarry() {
	live := `{"containers":[{"name":"web","image":"web:1","ports":[{"containerPort":80}]}],"hostNetwork":true}`
	before := `{"containers":[{"name":"web","image":"web:1"}]}`
	after := `{"containers":[{"name":"log","image":"log:1"},{"name":"web","image":"web:2"}]}`
	doc, err := patch.Carry([]byte(live), []byte(before), []byte(after))
	fmt.Println(string(doc), err)
	// Output:
	// {"containers":[{"image":"log:1","name":"log"},{"image":"web:2","name":"web","ports":[{"containerPort":80}]}],"hostNetwork":true} <nil>
}
