package codec_test

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/codec"
	"github.com/bowline-go/bowline/internal/jsonstream"
)

func Example() {
	type Pod struct {
		meta.TypeMeta `json:",inline"`
		meta.Identity `json:"metadata"`
		Spec          struct {
			NodeName string `json:"nodeName"`
		} `json:"spec"`
	}
	body := strings.NewReader(`{"metadata":{"name":"web-1","managedFields":[{}]},` +
		`"spec":{"containers":[{"name":"web"}],"nodeName":"node-a"}}`)
	item, err := jsonstream.ReadObject(body, jsonstream.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := codec.Decode(reflect.TypeFor[*Pod](), item, codec.Options{APIVersion: "v1", Kind: "Pod"})
	if err != nil {
		fmt.Println(err)
		return
	}
	p := v.(*Pod)
	fmt.Println(p.Kind, p.Name, "on", p.Spec.NodeName)

	raw, err := codec.Marshal(struct {
		meta.Identity `json:"metadata"`
	}{p.Identity}, "v1", "Pod")
	fmt.Println(string(raw), err)
	// Output:
	// Pod web-1 on node-a
	// {"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-1"}} <nil>
}

func ExampleUnmarshal_error() {
	type Scale struct {
		Spec struct {
			Replicas int32 `json:"replicas"`
		} `json:"spec"`
	}
	_, err := codec.Unmarshal[*Scale]([]byte(`{"spec":{"replicas":"many"}}`))
	fmt.Println(err)
	// Output: decode into int32: a JSON string does not fit at spec.replicas (byte 20)
}
