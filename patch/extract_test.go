package patch_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/patch"
)

// recorded returns an object as the API server sent it. internal/proof/e2e writes these files, in the same tests that ask the server
// whether what is made of them is right, if BOWLINE_RECORD is set.
func recorded(t testing.TB, name string) json.RawMessage {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// deploymentApplied is what was applied to the recorded deployments by the manager called one, and deploymentOfTwo what was by two.
const (
	deploymentApplied = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"web","labels":{"app":"web","tier":"front"},
		"finalizers":["example.com/a","example.com/b"]},"spec":{"replicas":2,"selector":{"matchLabels":{"app":"web"}},
		"template":{"metadata":{"labels":{"app":"web"}},"spec":{"volumes":[{"name":"tmp","emptyDir":{}}],"containers":[
		{"name":"web","image":"web:1","args":["a","b"],"ports":[{"containerPort":80},{"containerPort":53,"protocol":"UDP"}],
		"env":[{"name":"A","value":"1"},{"name":"B","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}}],
		"volumeMounts":[{"mountPath":"/tmp","name":"tmp"}]},{"name":"log","image":"log:1"}]}}}}`
	deploymentOfTwo = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"web"},"spec":{"template":{"spec":{
		"containers":[{"name":"web","imagePullPolicy":"Always"},{"name":"side","image":"side:1"}],
		"volumes":[{"name":"tmp","emptyDir":{"medium":"Memory"}}]}}}}`
)

func TestExtractGivesBackWhatWasApplied(t *testing.T) {
	const empty = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"web"}}`
	status := `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"web"},` +
		`"status":{"replicas":3,"conditions":[{"type":"Available","status":"True"}]}}`
	for _, test := range []struct {
		file string
		m    patch.FieldManager
		want string
	}{
		{"deployment-applied.json", patch.FieldManager{Name: "one"}, deploymentApplied},
		{"deployment-shared.json", patch.FieldManager{Name: "one"}, deploymentApplied},
		{"deployment-shared.json", patch.FieldManager{Name: "two"}, deploymentOfTwo},
		{"deployment-shared.json", patch.FieldManager{Name: "three"}, empty},
		{"deployment-status.json", patch.FieldManager{Name: "one"}, deploymentApplied},
		{"deployment-status.json", patch.FieldManager{Name: "one", Subresource: "status"}, status},
		{"deployment-csa.json", patch.FieldManager{Name: "kubectl-client-side-apply"}, empty}, // which has not applied
	} {
		obj := recorded(t, test.file)
		u := new(meta.Unstructured)
		if err := json.Unmarshal(obj, u); err != nil {
			t.Fatal(err)
		}
		for _, obj := range []any{obj, u} {
			got, err := patch.Extract(obj, test.m)
			if err != nil {
				t.Fatal(err)
			}
			if a, b := decodeAny(t, string(got)), decodeAny(t, test.want); a != b {
				t.Errorf("%s %v: what is extracted is\n%s\nwant\n%s", test.file, test.m, a, b)
			}
		}
	}
}

// managed returns an object with what a manager m has applied, and what others have.
func managed(rest, fields string, others ...string) json.RawMessage {
	entry := `{"manager":%q,"operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":%s}`
	entries := []string{fmt.Sprintf(entry, "m", fields)}
	for _, other := range others {
		entries = append(entries, fmt.Sprintf(entry, "o", other))
	}
	return raw(`{"apiVersion":"v1","metadata":{"name":"a","managedFields":[` + strings.Join(entries, ",") + `]},` + rest + `}`)
}

func TestExtractTakesEachFieldAsItIsOwned(t *testing.T) {
	const ab = `"l":[{"k":"a","v":1},{"k":"b","v":2}]`
	for _, test := range []struct {
		name string
		obj  json.RawMessage
		want string // without the identity
	}{
		{"an object that is owned whole", managed(`"s":{"a":{"b":1}}`, `{"f:s":{}}`), `"s":{"a":{"b":1}}`},
		{"an object that was empty: another owns what is in it", managed(`"s":{"a":1}`, `{"f:s":{}}`, `{"f:s":{"f:a":{}}}`), `"s":{}`},
		{"an element that was empty", managed(ab, `{"f:l":{"k:{\"k\":\"b\"}":{}}}`, `{"f:l":{"k:{\"k\":\"b\"}":{"f:v":{}}}}`), `"l":[{"k":"b"}]`},
		{"an element that is owned whole", managed(ab, `{"f:l":{"k:{\"k\":\"b\"}":{}}}`), `"l":[{"k":"b","v":2}]`},
		{"an element of which the key is not owned", managed(ab, `{"f:l":{"k:{\"k\":\"b\"}":{"f:v":{}}}}`), `"l":[{"k":"b","v":2}]`},
		{"elements in the object's order", managed(ab, `{"f:l":{"k:{\"k\":\"b\"}":{".":{}},"k:{\"k\":\"a\"}":{".":{},"f:k":{}}}}`), `"l":[{"k":"a"},{"k":"b","v":2}]`},
		{"an element that is gone", managed(ab, `{"f:l":{"k:{\"k\":\"c\"}":{".":{},"f:k":{}}}}`), ``},
		{"numbers in keys", managed(`"l":[{"n":80.0,"p":true,"v":null}]`, `{"f:l":{"k:{\"n\":80,\"p\":true}":{".":{},"f:n":{}}}}`), `"l":[{"n":80.0}]`},
		{"elements by value", managed(`"l":["a","b",3,[1]]`, `{"f:l":{"v:\"b\"":{},"v:3":{},"v:[1]":{},"v:\"c\"":{}}}`), `"l":["b",3,[1]]`},
		{"elements by index", managed(`"l":["a","b"]`, `{"f:l":{"i:1":{}}}`), `"l":["b"]`},
		{"elements that are not as they are named", managed(`"l":["a",{"x":1}]`, `{"f:l":{"k:{\"k\":\"c\"}":{}}}`), ``},
		{"a field that is gone", managed(`"s":{"a":1}`, `{"f:s":{"f:b":{}},"f:t":{}}`), ``},
		{"a field that is a scalar now", managed(`"s":1`, `{"f:s":{"f:b":{}}}`), ``},
		{"a field with and without what is in it", managed(`"s":{"a":1,"b":2}`, `{"f:s":{".":{},"f:b":{}}}`), `"s":{"b":2}`},
		{"names that have to be quoted", managed(`"s":{"a\"/~":1}`, `{"f:s":{"f:a\"/~":{}}}`), `"s":{"a\"/~":1}`},
	} {
		got, err := patch.Extract(test.obj, patch.FieldManager{Name: "m"})
		want := `{"apiVersion":"v1","metadata":{"name":"a"}`
		if test.want != "" {
			want += "," + test.want
		}
		if err != nil || string(got) != want+"}" {
			t.Errorf("%s: what is extracted is %s, %v\n want %s}", test.name, got, err, want)
		}
	}
}

func TestExtractRefusesInvalidArguments(t *testing.T) {
	m := patch.FieldManager{Name: "m"}
	const entry = `{"apiVersion":"v2","metadata":{"managedFields":[{"manager":"m","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{}}]}}`
	const none = "the object has no metadata.managedFields: a cache drops the field unless KeepManagedFields is set, and a struct must have it, as meta.ObjectMeta does"
	for _, test := range []struct {
		obj  any
		m    patch.FieldManager
		want string
	}{
		{raw(`{}`), patch.FieldManager{}, "FieldManager: Name must not be empty"},
		{nil, m, "the object is <nil>, which does not encode to a JSON object"},
		{raw(`{}`), m, none},
		{raw(`{"metadata":[]}`), m, `"managedFields" is not the index of an element`},
		{raw(`{"metadata":{"managedFields":[]}}`), m, none},
		{raw(`{"metadata":{"managedFields":{}}}`), m, "metadata.managedFields: json: cannot unmarshal object into Go value of type []meta.ManagedFields"},
		{raw(entry), m, `the manager applied the object as "v1", but it was read as "v2"; read it in the applied version`},
		{managed(`"a":1`, `{"a":{}}`), m, `metadata.managedFields of "m": fieldset: key "a" must start with i:, k:, v: or f: and a name`},
		{raw(strings.Replace(entry, "FieldsV1", "FieldsV2", 1)), m, `metadata.managedFields: fieldsType must be FieldsV1, got "FieldsV2"`},
	} {
		got, err := patch.Extract(test.obj, test.m)
		if err == nil || err.Error() != "patch.Extract: "+test.want {
			t.Errorf("what is extracted is %s, %v\n want patch.Extract: %s", got, err, test.want)
		}
	}
}

// What is extracted is applied already, and extracts again as the same.
func FuzzExtract(f *testing.F) {
	for _, name := range []string{"deployment-applied.json", "deployment-shared.json", "deployment-status.json", "deployment-migrated.json"} {
		f.Add([]byte(recorded(f, name)), "one", []byte(deploymentApplied))
	}
	f.Add([]byte(managed(`"l":["a","b",3,[1]]`, `{"f:l":{"v:\"b\"":{},"v:3":{},"i:1":{}}}`)), "m", []byte(`{"l":["b",3]}`))
	f.Fuzz(func(t *testing.T, obj []byte, name string, config []byte) {
		m := patch.FieldManager{Name: name}
		p := patch.Apply(raw(string(config)))
		known := p.IsApplied(raw(string(obj)), m)
		got, err := patch.Extract(raw(string(obj)), m)
		if err != nil {
			if known {
				t.Fatalf("%s is applied, and cannot be extracted: %v", config, err)
			}
			return
		}
		if !json.Valid(got) {
			t.Fatalf("what is extracted is %s", got)
		}
		_, _ = patch.MigrateFields(raw(string(obj)), m, "one").Body()
	})
}

// An element was left out whose key has a default that the object does not have, and an element was given back without all of its
// key if the manager had taken over a part of it. Applying what was extracted removed the one, and added an element beside the other.
func TestElementsAreExtractedWithTheirKeys(t *testing.T) {
	const fields = `{"f:ports":{"k:{\"port\":1,\"protocol\":\"TCP\"}":{".":{},"f:port":{}},"k:{\"port\":1,\"protocol\":\"UDP\"}":{"f:protocol":{}},` +
		`"k:{\"port\":2}":{".":{},"f:port":{}}}}`
	obj := json.RawMessage(`{"apiVersion":"v1","metadata":{"name":"a","managedFields":[{"manager":"m","operation":"Apply","apiVersion":"v1",` +
		`"fieldsType":"FieldsV1","fieldsV1":` + fields + `}]},` +
		`"ports":[{"port":2,"note":"x"},{"port":1},{"protocol":"UDP","port":1,"note":"x"},{"port":2,"protocol":"UDP"}]}`)
	got, err := patch.Extract(obj, patch.FieldManager{Name: "m"})
	const want = `{"apiVersion":"v1","metadata":{"name":"a"},"ports":[{"port":2},{"port":1},{"protocol":"UDP","port":1}]}`
	if err != nil || string(got) != want {
		t.Errorf("what is extracted is\n%s, %v\nwant\n%s", got, err, want)
	}
}
