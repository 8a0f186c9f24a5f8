package patch_test

import (
	"encoding/json"
	"fmt"

	"github.com/bowline-go/bowline/patch"
)

// What the server has filled in is no difference, and neither is another way to write a quantity.
func ExampleOverlay() {
	live := json.RawMessage(`{"spec":{"replicas":1,"containers":[{"name":"web","image":"web:1","imagePullPolicy":"Always","resources":{"limits":{"cpu":"1"}}}]}}`)
	want := json.RawMessage(`{"spec":{"containers":[{"name":"web","image":"web:1","resources":{"limits":{"cpu":"1000m"}}}]}}`)
	_, changed, err := patch.Overlay(live, want)
	fmt.Println(changed, err)

	result, changed, err := patch.Overlay(live, json.RawMessage(`{"spec":{"containers":[{"name":"web","image":"web:2"}]}}`))
	fmt.Println(changed, err)
	fmt.Println(string(result))

	// What is to go is said, as an overlay only sets.
	_, changed, err = patch.Overlay(live, want, patch.OverlayOptions{Absent: []string{"/spec/replicas", "/spec/containers/name=proxy"}})
	fmt.Println(changed, err)
	// Output:
	// [] <nil>
	// [/spec/containers/name=web/image] <nil>
	// {"spec":{"replicas":1,"containers":[{"name":"web","image":"web:2","imagePullPolicy":"Always","resources":{"limits":{"cpu":"1"}}}]}}
	// [/spec/replicas] <nil>
}
