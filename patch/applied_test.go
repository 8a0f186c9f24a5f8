package patch_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/patch"
)

// Whether the server agrees is the question of TestIsAppliedAgreesWithTheServer in internal/proof/e2e.
func TestAnObjectProvesThatAConfigurationIsApplied(t *testing.T) {
	one := patch.FieldManager{Name: "one"}
	applied := recorded(t, "deployment-applied.json")
	for _, file := range []string{"deployment-applied.json", "deployment-shared.json", "deployment-status.json"} {
		if !patch.Apply(raw(deploymentApplied)).IsApplied(recorded(t, file), one) {
			t.Errorf("%s does not prove it", file)
		}
	}
	if !patch.Apply(raw(deploymentOfTwo)).IsApplied(recorded(t, "deployment-shared.json"), patch.FieldManager{Name: "two"}) {
		t.Error("the object does not prove the other's")
	}
	status := patch.FieldManager{Name: "one", Subresource: "status"}
	ready := `{"status":{"replicas":3,"conditions":[{"type":"Available","status":"True"}]}}`
	if !patch.Apply(raw(ready)).IsApplied(recorded(t, "deployment-status.json"), status) {
		t.Error("the object does not prove the status")
	}
	for name, change := range map[string][2]string{
		"another value":              {`"image":"web:1"`, `"image":"web:2"`},
		"a value written otherwise":  {`"replicas":2`, `"replicas":"2"`},
		"a field more":               {`"replicas":2`, `"replicas":2,"paused":false`},
		"a field less":               {`"replicas":2,`, ``},
		"an element less":            {`,{"name":"log","image":"log:1"}`, ``},
		"an element more":            {`{"name":"log","image":"log:1"}`, `{"name":"log","image":"log:1"},{"name":"c","image":"c:1"}`},
		"an element twice":           {`{"name":"log","image":"log:1"}`, `{"name":"web","image":"web:1"}`},
		"elements in another order":  {`[{"containerPort":80},{"containerPort":53,"protocol":"UDP"}]`, `[{"containerPort":53,"protocol":"UDP"},{"containerPort":80}]`},
		"the default of a key, said": {`{"containerPort":80}`, `{"containerPort":80,"protocol":"TCP"}`},
		"no default of a key":        {`,"protocol":"UDP"`, ``},
		"a set in another order":     {`["example.com/a","example.com/b"]`, `["example.com/b","example.com/a"]`},
		"a set with less":            {`["example.com/a","example.com/b"]`, `["example.com/a"]`},
		"a list that is owned whole": {`["a","b"]`, `["b","a"]`},
		"what is owned whole":        {`{"name":"s","key":"k"}`, `{"name":"s"}`},
		"an empty object with more":  {`"emptyDir":{}`, `"emptyDir":{"medium":""}`},
		"a label less":               {`,"tier":"front"`, ``},
		"another name":               {`"name":"web","namespace"`, `"name":"other","namespace"`},
		"another kind":               {`"kind":"Deployment"`, `"kind":"StatefulSet"`},
		"another version":            {`"apps/v1"`, `"apps/v1beta1"`},
		"a resource version":         {`"namespace":"web"`, `"namespace":"web","resourceVersion":"1"`},
		"an object for a list":       {`"args":["a","b"]`, `"args":{"a":"b"}`},
		"a scalar for an object":     {`"selector":{"matchLabels":{"app":"web"}}`, `"selector":"app=web"`},
		"a list of keyless elements": {`{"name":"log","image":"log:1"}`, `"log"`},
	} {
		config := strings.Replace(deploymentApplied, change[0], change[1], 1)
		if config == deploymentApplied {
			t.Fatalf("%s changes nothing", name)
		}
		if patch.Apply(raw(config)).IsApplied(applied, one) {
			t.Errorf("%s is known to be applied", name)
		}
	}
	same := patch.Apply(raw(deploymentApplied))
	body, _ := same.Body()
	for name, known := range map[string]bool{
		"another manager":     same.IsApplied(applied, patch.FieldManager{Name: "two"}),
		"no manager":          same.IsApplied(applied, patch.FieldManager{}),
		"another subresource": same.IsApplied(applied, status),
		"kubectl": patch.Apply(raw(deploymentApplied)).IsApplied(
			raw(strings.ReplaceAll(string(applied), `"manager": "one"`, `"manager": "kubectl"`)), patch.FieldManager{Name: "kubectl"}),
		"another patch":          patch.Merge(json.RawMessage(body)).IsApplied(applied, one),
		"no patch":               patch.Apply(nil).IsApplied(applied, one),
		"no object":              same.IsApplied(nil, one),
		"no managed fields":      same.IsApplied(raw(deploymentApplied), one),
		"fields that are none":   same.IsApplied(raw(strings.ReplaceAll(string(applied), `"f:replicas"`, `"replicas"`)), one),
		"an object in another":   patch.Apply(raw(`{"a":{"b":1}}`)).IsApplied(managed(`"a":{"b":1}`, `{"f:a":{}}`), patch.FieldManager{Name: "m"}),
		"a set of two kinds":     patch.Apply(raw(`{"l":["a"]}`)).IsApplied(managed(`"l":["a"]`, `{"f:l":{"v:\"a\"":{},"i:0":{}}}`), patch.FieldManager{Name: "m"}),
		"an owned list in parts": patch.Apply(raw(`{"l":["a"]}`)).IsApplied(managed(`"l":["a"]`, `{"f:l":{".":{},"v:\"a\"":{}}}`), patch.FieldManager{Name: "m"}),
		"a zero that nobody writes, where somebody has applied since": patch.Apply(raw(`{"s":{"off":false}}`)).IsApplied(
			managed(`"s":{}`, `{"f:s":{"f:off":{}}}`, `{}`), patch.FieldManager{Name: "m"}),
		"a removed empty object": patch.Apply(raw(`{"s":{"e":{}}}`)).IsApplied(managed(`"s":{}`, `{"f:s":{"f:e":{}}}`), patch.FieldManager{Name: "m"}),
	} {
		if known {
			t.Errorf("%s: it is known to be applied", name)
		}
	}
	for config, obj := range map[string]json.RawMessage{
		`{}`:                            managed(`"s":{}`, `{}`),
		`{"metadata":{"labels":{}}}`:    raw(strings.Replace(string(managed(`"s":1`, `{"f:metadata":{"f:labels":{}}}`)), `"name":"a"`, `"name":"a","labels":{}`, 1)),
		`{"s":{"off":false,"none":""}}`: managed(`"s":{}`, `{"f:s":{"f:off":{},"f:none":{}}}`),
		`{"selector":{"a":"b"}}`:        managed(`"selector":{"a":"b"}`, `{"f:selector":{}}`),
		`{"l":[2]}`:                     managed(`"l":[1,2.0,3]`, `{"f:l":{"v:2":{}}}`),
	} {
		if !patch.Apply(raw(config)).IsApplied(obj, patch.FieldManager{Name: "m"}) {
			t.Errorf("%s is not known to be applied to %s", config, obj)
		}
	}
}
