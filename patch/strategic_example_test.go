package patch_test

import (
	"fmt"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/patch"
)

// The types of k8s.io/api have these tags.
type pod struct {
	Containers []container `json:"containers" patchStrategy:"merge" patchMergeKey:"name"`
	Finalizers []string    `json:"finalizers,omitempty" patchStrategy:"merge"`
}

type container struct {
	Name  string `json:"name"`
	Image string `json:"image,omitempty"`
}

// A strategic merge patch changes one container and removes another; the others stay.
func ExampleStrategic() {
	p := patch.Strategic(map[string]any{"spec": map[string]any{"containers": []map[string]any{
		{"name": "web", "image": "web:2"},
		{"name": "debug", "$patch": "delete"},
	}}})
	body, err := p.Body()
	fmt.Println(p.MediaType(), string(body), err)
	// Output:
	// application/strategic-merge-patch+json {"spec":{"containers":[{"image":"web:2","name":"web"},{"$patch":"delete","name":"debug"}]}} <nil>
}

func ExampleApplyStrategic() {
	schema := patch.SchemaOf[pod]()
	live := `{"containers":[{"name":"web","image":"web:1"},{"name":"log","image":"log:1"}]}`
	doc, err := patch.ApplyStrategic([]byte(live), []byte(`{"containers":[{"name":"web","image":"web:2"}]}`), schema)
	fmt.Println(string(doc), err)
	_, err = patch.ApplyStrategic([]byte(live), []byte(`{"containers":[{"image":"web:2"}]}`), schema)
	fmt.Println(err)
	// Output:
	// {"containers":[{"name":"web","image":"web:2"},{"name":"log","image":"log:1"}]} <nil>
	// patch: the patch at /containers/0: the item has no "name", which tells the items of this list apart
}

func ExampleDiffStrategic() {
	before := `{"containers":[{"name":"web","image":"web:1"},{"name":"log","image":"log:1"}],"finalizers":["a","b"]}`
	after := `{"containers":[{"name":"log","image":"log:2"}],"finalizers":["a"]}`
	p, err := patch.DiffStrategic([]byte(before), []byte(after), patch.SchemaOf[pod]())
	if err != nil {
		fmt.Println(err)
		return
	}
	body, err := p.Body()
	fmt.Println(string(body), err)
	// Output:
	// {"containers":[{"image":"log:2","name":"log"},{"name":"web","$patch":"delete"}],"$setElementOrder/containers":[{"name":"log"}],"$deleteFromPrimitiveList/finalizers":["b"],"$setElementOrder/finalizers":["a"]} <nil>
}

// The configuration no longer has the container debug. The container proxy, which something else has put there, stays.
func ExampleThreeWay() {
	last := `{"containers":[{"name":"web","image":"web:1"},{"name":"debug"}]}`
	next := `{"containers":[{"name":"web","image":"web:2"}]}`
	live := `{"containers":[{"name":"web","image":"web:1"},{"name":"debug"},{"name":"proxy"}]}`
	p, err := patch.ThreeWay([]byte(last), []byte(next), []byte(live), patch.SchemaOf[pod](), patch.ThreeWayOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	body, err := p.Body()
	fmt.Println(string(body), err)
	doc, err := patch.ApplyStrategic([]byte(live), body, patch.SchemaOf[pod]())
	fmt.Println(string(doc), err)
	// Output:
	// {"containers":[{"image":"web:2","name":"web"},{"name":"debug","$patch":"delete"}],"$setElementOrder/containers":[{"name":"web"}]} <nil>
	// {"containers":[{"name":"web","image":"web:2"},{"name":"proxy"}]} <nil>
}

func ExampleSchemaOf() {
	live := `{"containers":[{"name":"web","image":"web:1"},{"name":"log","image":"log:1"}]}`
	change := `{"containers":[{"name":"web","image":"web:2"}]}`
	for _, schema := range []patch.Schema{patch.SchemaOf[pod](), {}} {
		doc, err := patch.ApplyStrategic([]byte(live), []byte(change), schema)
		fmt.Println(string(doc), err)
	}
	// Output:
	// {"containers":[{"name":"web","image":"web:2"},{"name":"log","image":"log:1"}]} <nil>
	// {"containers":[{"name":"web","image":"web:2"}]} <nil>
}

// A server describes its kinds under /openapi/v3; this is the part of such a document that counts here.
func ExampleSchemaFromOpenAPI() {
	doc := `{"components":{"schemas":{"io.k8s.api.core.v1.Pod":{
		"x-kubernetes-group-version-kind":[{"group":"","version":"v1","kind":"Pod"}],
		"properties":{"containers":{"type":"array","items":{"type":"object"},
			"x-kubernetes-patch-strategy":"merge","x-kubernetes-patch-merge-key":"name"}}}}}}`
	schema, err := patch.SchemaFromOpenAPI([]byte(doc), meta.GVK{Version: "v1", Kind: "Pod"})
	if err != nil {
		fmt.Println(err)
		return
	}
	live := `{"containers":[{"name":"web"},{"name":"log"}]}`
	out, err := patch.ApplyStrategic([]byte(live), []byte(`{"containers":[{"name":"log","$patch":"delete"}]}`), schema)
	fmt.Println(string(out), err)
	// Output:
	// {"containers":[{"name":"web"}]} <nil>
}
