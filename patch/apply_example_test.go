package patch_test

import (
	"encoding/json"
	"fmt"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/patch"
)

// scaled is a struct of a user's own: with it a deployment's replicas are read, and applied. Their zero is an opinion.
type scaled struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Replicas int  `json:"replicas"`
		Paused   bool `json:"paused"`
	} `json:"spec"`
}

// Of an object that has been read and changed only what the paths name is applied, zeros too.
func ExampleApply() {
	var d scaled
	d.Name, d.UID = "web", "6f1c"
	d.Spec.Replicas = 0
	p := patch.Apply(&d, "/spec/replicas")

	body, err := p.Body()
	fmt.Println(p.MediaType())
	fmt.Println(string(body), err)
	// Output:
	// application/apply-patch+yaml
	// {"metadata":{"name":"web"},"spec":{"replicas":0}} <nil>
}

// shared is an object of which two managers own a part.
const shared = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"web","namespace":"default","resourceVersion":"7","managedFields":[
	{"manager":"operator","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:color":{}}}},
	{"manager":"kubectl-client-side-apply","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:size":{}}}}
]},"data":{"color":"blue","size":"3"}}`

func ExampleExtract() {
	config, err := patch.Extract(json.RawMessage(shared), patch.FieldManager{Name: "operator"})
	fmt.Println(string(config), err)
	// Output:
	// {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"web","namespace":"default"},"data":{"color":"blue"}} <nil>
}

func ExamplePatch_IsApplied() {
	operator := patch.FieldManager{Name: "operator"}
	for _, color := range []string{"blue", "green"} {
		p := patch.Apply(map[string]any{"data": map[string]any{"color": color}})
		fmt.Println(color, p.IsApplied(json.RawMessage(shared), operator))
	}
	// Output:
	// blue true
	// green false
}

// After the patch an apply by the operator that leaves the size out removes it, as nobody else owns it any more.
func ExampleMigrateFields() {
	p := patch.MigrateFields(json.RawMessage(shared), patch.FieldManager{Name: "operator"}, "kubectl-client-side-apply")
	body, err := p.Body()
	if err != nil {
		fmt.Println(err)
		return
	}
	after, err := patch.ApplyJSON([]byte(shared), body)
	if err != nil {
		fmt.Println(err)
		return
	}
	config, err := patch.Extract(json.RawMessage(after), patch.FieldManager{Name: "operator"})
	fmt.Println(string(config), err)
	// Output:
	// {"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"web","namespace":"default"},"data":{"color":"blue","size":"3"}} <nil>
}
