package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// Gadgets is a custom resource with lists and maps of every kind. The server has it, with status and with
// GadgetSchema, before the suite runs.
var Gadgets = client.Type[*meta.Unstructured]{Group: "conformance.bowline.example", Version: "v1", Kind: "Gadget", Resource: "gadgets"}

// GadgetSchema is the openAPIV3Schema of Gadgets.
const GadgetSchema = `{"type": "object", "properties": {
	"spec": {"type": "object", "properties": {
		"text": {"type": "string"}, "number": {"type": "integer"}, "ratio": {"type": "number"}, "flag": {"type": "boolean"},
		"maybe": {"type": "string", "nullable": true},
		"either": {"x-kubernetes-int-or-string": true},
		"set": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
		"numbers": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "integer"}},
		"atomic": {"type": "array", "x-kubernetes-list-type": "atomic", "items": {"type": "string"}},
		"plain": {"type": "array", "items": {"type": "string"}},
		"ports": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port", "protocol"], "items": {
			"type": "object", "required": ["port"], "properties": {
				"port": {"type": "integer"}, "protocol": {"type": "string", "default": "TCP"}, "note": {"type": "string"},
				"tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
				"inner": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], "items": {
					"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "value": {"type": "string"}}}}}}},
		"labels": {"type": "object", "additionalProperties": {"type": "string"}},
		"whole": {"type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": {"type": "string"}},
		"wholeObject": {"type": "object", "x-kubernetes-map-type": "atomic", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}},
		"deep": {"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {"type": "string"}, "c": {"type": "string"}}}}},
		"open": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
		"half": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"known": {"type": "string"}}},
		"maps": {"type": "object", "additionalProperties": {"type": "object", "properties": {"x": {"type": "string"}, "y": {"type": "string"}}}}}},
	"status": {"type": "object", "properties": {"phase": {"type": "string"},
		"conditions": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"], "items": {
			"type": "object", "required": ["type"], "properties": {"type": {"type": "string"}, "status": {"type": "string"}}}}}}}}`

// GadgetDefinition is the CustomResourceDefinition of Gadgets, for a server that takes one.
const GadgetDefinition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
	"metadata":{"name":"gadgets.conformance.bowline.example"},
	"spec":{"group":"conformance.bowline.example","scope":"Namespaced","names":{"kind":"Gadget","plural":"gadgets"},
		"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},
			"schema":{"openAPIV3Schema":` + GadgetSchema + `}}]}}`

// testOwnership checks who owns which fields of an object, after any sequence of writes (behaviour 325).
func testOwnership(t *testing.T, s suite) {
	for _, test := range slices.Concat(ownershipsOfMaps, ownershipsOfTypes) {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s.ownership(t, test)
		})
	}
}

// write is one request of a field manager.
type write struct {
	by   string // the field manager
	how  string // apply, force, create, update, merge or json, and a subresource
	body string // without apiVersion, kind and name, which are added
	want string // the expected error, which in136 may have made; empty for success
}

// ownership is a sequence of writes to one object, and the resulting object and managedFields.
type ownership struct {
	name   string
	kind   string // ConfigMap, Deployment or Gadget
	writes []write
	object string   // the object, without fields that a server sets; only the owned fields of a Deployment
	owners []string // the managedFields, without times and sorted
}

// notDecoded returns the answer to an apply whose body cannot be decoded into an object.
func notDecoded(why string) string {
	return in136("400 BadRequest: error decoding patch: "+why, "400 BadRequest: error decoding YAML: "+why)
}

func notYAML(why string) string {
	return in136("400 BadRequest: error encoding patch: "+why, "400 BadRequest: error decoding YAML: error converting YAML to JSON: "+why)
}

func emptyOwner(fields ...string) string {
	var today, then []string
	for _, name := range fields {
		today = append(today, "metadata.ownerReferences[0]."+name+": Required value: must not be empty")
		what := ""
		if name == "apiVersion" {
			what = "version "
		}
		then = append(then, "metadata.ownerReferences."+name+`: Invalid value: "": `+what+"must not be empty")
	}
	const refusal = `422 Invalid: ConfigMap "a" is invalid: [%s]`
	return in136(fmt.Sprintf(refusal, strings.Join(today, ", ")), fmt.Sprintf(refusal, strings.Join(then, ", ")))
}

// kinds has, for each kind of an ownership, the path of the collection and the apiVersion of the object.
var kinds = map[string]struct{ path, apiVersion string }{
	"ConfigMap":  {"/api/v1/namespaces/%s/configmaps", "v1"},
	"Secret":     {"/api/v1/namespaces/%s/secrets", "v1"},
	"Deployment": {"/apis/apps/v1/namespaces/%s/deployments", "apps/v1"},
	"Gadget":     {"/apis/conformance.bowline.example/v1/namespaces/%s/gadgets", "conformance.bowline.example/v1"},
}

func (s suite) ownership(t *testing.T, test ownership) {
	got := s.play(t, test)
	for i, w := range test.writes {
		if answer, want := got.writes[i].want, s.words(w.want); answer != want {
			t.Errorf("write %d, %s by %s, is answered %q\n  want %q", i, w.how, w.by, answer, want)
		}
	}
	if got.object != test.object {
		t.Errorf("the object is %s\n         want %s", got.object, test.object)
	}
	if got, want := strings.Join(got.owners, "\n"), strings.Join(test.owners, "\n"); got != want {
		t.Errorf("its owners are\n%s\nwant\n%s", got, want)
	}
}

// play makes the writes and returns the result.
func (s suite) play(t *testing.T, test ownership) ownership {
	t.Helper()
	ns := s.namespace(t)
	collection := fmt.Sprintf(kinds[test.kind].path, ns)
	test.writes = slices.Clone(test.writes)
	for i, w := range test.writes {
		_, err := s.raw(t, w.request(test.kind, collection))
		test.writes[i].want = strings.ReplaceAll(told(err), ns, "NAMESPACE")
	}
	raw, err := s.raw(t, client.RawRequest{Path: collection + "/a"})
	if errors.Is(err, apierrors.NotFound) {
		test.object, test.owners = "", nil
		return test
	}
	if err != nil {
		t.Fatal(err)
	}
	test.object, test.owners = taken(t, raw)
	if test.kind == "Deployment" { // which has defaults on a real server
		test.object = containersOf(t, raw)
	}
	return test
}

// containersOf returns the containers of a Deployment, without their defaults.
func containersOf(t *testing.T, raw []byte) string {
	t.Helper()
	type variable struct {
		Name  string `json:"name"`
		Value string `json:"value,omitempty"`
	}
	var d struct {
		Spec struct {
			Template struct {
				Spec struct {
					Containers []struct {
						Name  string     `json:"name"`
						Image string     `json:"image"`
						Env   []variable `json:"env,omitempty"`
					}
				}
			}
		}
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(d.Spec.Template.Spec.Containers)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// request returns the request of a write to a collection.
func (w write) request(kind, collection string) client.RawRequest {
	how, subresource, _ := strings.Cut(w.how, " ")
	r := client.RawRequest{
		Method: http.MethodPatch, Path: collection + "/a", Query: url.Values{}, Header: http.Header{"Content-Type": {"application/json"}},
	}
	if w.by != "" {
		r.Query.Set("fieldManager", w.by)
	}
	head := `"apiVersion":"` + kinds[kind].apiVersion + `","kind":"` + kind + `",`
	if subresource != "" {
		r.Path += "/" + subresource
	}
	if subresource == "scale" {
		head = `"apiVersion":"autoscaling/v1","kind":"Scale",`
	}
	switch how {
	case "create":
		r.Method, r.Path = http.MethodPost, collection
	case "update":
		r.Method = http.MethodPut
	case "merge":
		r.Header.Set("Content-Type", "application/merge-patch+json")
		r.Body = []byte(w.body)
		return r
	case "force":
		r.Query.Set("force", "true")
		fallthrough
	default:
		r.Header.Set("Content-Type", "application/apply-patch+yaml")
	}
	if body, found := strings.CutPrefix(w.body, "as it is: "); found {
		r.Body = []byte(body)
		return r
	}
	if !strings.HasPrefix(w.body, `{"metadata":`) {
		head += `"metadata":{"name":"a"},`
	}
	r.Body = []byte("{" + strings.TrimSuffix(head+w.body[1:len(w.body)-1], ",") + "}")
	return r
}

// raw sends a request and returns the body of the answer.
func (s suite) raw(t *testing.T, req client.RawRequest) ([]byte, error) {
	t.Helper()
	resp, err := s.client.Raw(t.Context(), req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}

// told returns the code and the words of an error.
func told(err error) string {
	var status *apierrors.StatusError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &status):
		return fmt.Sprintf("%d %s: %s", status.Status.Code, status.Status.Reason, status.Status.Message)
	}
	return err.Error()
}

// taken returns the managedFields of an object, without times, and the object without them and without the fields that
// a server sets.
func taken(t *testing.T, raw []byte) (object string, owners []string) {
	t.Helper()
	var m map[string]any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&m); err != nil {
		t.Fatal(err)
	}
	metadata := m["metadata"].(map[string]any)
	entries, _ := metadata["managedFields"].([]any)
	for _, e := range entries {
		e := e.(map[string]any)
		fields, err := json.Marshal(e["fieldsV1"])
		if err != nil {
			t.Fatal(err)
		}
		who := fmt.Sprintf("%v %v", e["manager"], e["operation"])
		if sub := e["subresource"]; sub != nil {
			who += fmt.Sprintf(" %v", sub)
		}
		if e["time"] == nil {
			who += " (no time)"
		}
		owners = append(owners, who+": "+string(fields))
	}
	slices.Sort(owners) // the server orders them by time
	for _, name := range []string{"managedFields", "uid", "resourceVersion", "creationTimestamp", "generation", "namespace", "name"} {
		delete(metadata, name)
	}
	delete(m, "apiVersion")
	delete(m, "kind")
	if len(metadata) == 0 {
		delete(m, "metadata")
	}
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(b), owners
}
