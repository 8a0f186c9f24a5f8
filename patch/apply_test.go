package patch_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/patch"
)

// project is a struct of a user's own, some of whose zeros vanish from its JSON and some not.
type project struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            projectSpec `json:"spec"`
	Status          struct {
		Conditions struct{} `json:"conditions"`
	} `json:"status"`
}

type projectSpec struct {
	Replicas int               `json:"replicas"`
	Paused   bool              `json:"paused,omitempty"`
	Limit    *int              `json:"limit"`
	Labels   map[string]string `json:"labels,omitempty"`
	Items    []part            `json:"items,omitempty"`
	Inner    *inner            `json:"inner,omitempty"`
	Moment   meta.Time         `json:"moment"`
	Any      any               `json:"any,omitempty"`
	embedded
}

type embedded struct {
	Deep string `json:"deep,omitempty"`
}

type inner struct {
	Depth int `json:"depth,omitempty"`
}

type part struct {
	Name  string `json:"name"`
	Image string `json:"image,omitempty"`
}

func body(t *testing.T, p patch.Patch) string {
	t.Helper()
	b, err := p.Body()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestAConfigurationIsTheEncodedValue(t *testing.T) {
	w := &project{Spec: projectSpec{Labels: map[string]string{"a": ""}, Items: []part{{Name: "x"}}}}
	for name, test := range map[string]struct {
		v    any
		want string
	}{
		"a struct, with the zeros that do not vanish": {w, `{"spec":{"replicas":0,"labels":{"a":""},"items":[{"name":"x"}]}}`},
		"a map":                {map[string]any{"spec": map[string]any{"n": int64(9007199254740993)}}, `{"spec":{"n":9007199254740993}}`},
		"JSON, digit by digit": {raw(` { "a" : 1.10, "b": [ null, {"c": null, "d": 1} ] } `), `{"a":1.10,"b":[null,{"d":1}]}`},
		"unstructured":         {&meta.Unstructured{Object: map[string]any{"kind": "A", "spec": map[string]any{"a": "b"}}}, `{"kind":"A","spec":{"a":"b"}}`},
		"nothing":              {map[string]any{}, `{}`},
		"nulls, which say nothing, and objects that have nothing else, which are wanted": {
			raw(`{"a":null,"metadata":{"creationTimestamp":null},"spec":{"template":{"metadata":{"creationTimestamp":null}},"strategy":{},"n":{"m":{"o":null}}}}`),
			`{"spec":{"template":{"metadata":{}},"strategy":{},"n":{"m":{}}}}`,
		},
		"empty fields that only a server sets": {
			raw(`{"apiVersion":"","kind":"","metadata":{"name":"","namespace":"","uid":"","resourceVersion":"","generation":0,"managedFields":[],
				"selfLink":"","deletionTimestamp":null,"labels":{}},"status":{"a":{},"b":{"c":{}}}}`), `{"metadata":{"labels":{}}}`,
		},
		"an identity and a version": {
			raw(`{"apiVersion":"v1","kind":"A","metadata":{"name":"a","namespace":"b","resourceVersion":"7"}}`),
			`{"apiVersion":"v1","kind":"A","metadata":{"name":"a","namespace":"b","resourceVersion":"7"}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := patch.Apply(test.v)
			if got := body(t, p); got != test.want {
				t.Errorf("the body is %s\n        want %s", got, test.want)
			}
			if p.MediaType() != "application/apply-patch+yaml" || p.IsEmpty() { // behaviours 325 and 327
				t.Errorf("the patch is %s, empty: %t", p.MediaType(), p.IsEmpty())
			}
		})
	}
}

func TestApplySendsOnlyTheGivenPaths(t *testing.T) {
	read := &project{
		ObjectMeta: meta.ObjectMeta{Name: "a", Namespace: "web", UID: "u", ResourceVersion: "7", Labels: map[string]string{"x/y": "1", "z": "2"}},
		Spec:       projectSpec{Replicas: 3, Items: []part{{"one", "i:1"}, {"two", ""}}, Any: &inner{}},
	}
	const named = `"metadata":{"name":"a","namespace":"web"}`
	for _, test := range []struct {
		paths []string
		want  string
	}{
		{[]string{"/spec/replicas"}, `{` + named + `,"spec":{"replicas":3}}`},
		{[]string{"/metadata/labels/x~1y", "/spec/replicas"}, `{"metadata":{"namespace":"web","name":"a","labels":{"x/y":"1"}},"spec":{"replicas":3}}`},
		{[]string{"/metadata/labels"}, `{"metadata":{"namespace":"web","name":"a","labels":{"x/y":"1","z":"2"}}}`},
		{[]string{"/spec/paused"}, `{` + named + `,"spec":{"paused":false}}`},
		{[]string{"/spec/deep"}, `{` + named + `,"spec":{"deep":""}}`},
		{[]string{"/spec/any/depth"}, `{` + named + `,"spec":{"any":{"depth":0}}}`},
		{[]string{"/spec/items/0"}, `{` + named + `,"spec":{"items":[{"name":"one","image":"i:1"}]}}`},
		{
			[]string{"/spec/items/1/image", "/spec/items/0/name", "/spec/items/1/name"},
			`{` + named + `,"spec":{"items":[{"name":"one"},{"name":"two","image":""}]}}`,
		},
		{[]string{"/spec/items/1/name", "/spec/items"}, `{` + named + `,"spec":{"items":[{"name":"one","image":"i:1"},{"name":"two"}]}}`},
		{[]string{"/spec/items", "/spec/items/1/name"}, `{` + named + `,"spec":{"items":[{"name":"one","image":"i:1"},{"name":"two"}]}}`},
		{[]string{"/metadata/resourceVersion", "/spec/replicas"}, `{"metadata":{"namespace":"web","name":"a","resourceVersion":"7"},"spec":{"replicas":3}}`},
		{[]string{"/status"}, `{` + named + `,"status":{"conditions":{}}}`},
	} {
		p := patch.Apply(read, test.paths...)
		got := body(t, p)
		if a, b := decodeAny(t, got), decodeAny(t, test.want); a != b {
			t.Errorf("%q give %s\n want %s", test.paths, got, test.want)
		}
		if err := p.CheckSubresource(""); err != nil {
			t.Errorf("%q: %v", test.paths, err)
		}
	}
	if read.Spec.Replicas != 3 || read.UID != "u" {
		t.Error("the value has changed")
	}
}

// decodeAny returns a text that is the same for all that is the same JSON.
func decodeAny(t *testing.T, text string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// behaviour 325: what a server would refuse, or what was not meant, is an error with its path.
func TestInvalidConfigurationsAreRefused(t *testing.T) {
	meta1 := func(field, value string) json.RawMessage { return raw(`{"metadata":{"` + field + `":` + value + `}}`) }
	only := func(field string) string {
		return "metadata." + field + " must be left out of a configuration, because only the server sets it; " +
			"to apply a part of an object that was read, use patch.Extract or the paths of patch.Apply"
	}
	value := func() string {
		return "encode the configuration: json: error calling MarshalJSON for type *patch.Patch: " +
			"a patch.Patch must be passed directly, not inside another value or behind a pointer"
	}
	for _, test := range []struct {
		v     any
		paths []string
		want  string
		kind  error
	}{
		{nil, nil, "the configuration is <nil>, which does not encode to a JSON object", nil},
		{"s3cr3t", nil, "the configuration is string, which does not encode to a JSON object", nil},
		{[]byte("{}"), nil, "the configuration is []byte, which does not encode to a JSON object; use json.RawMessage", nil},
		{raw("{"), nil, "the configuration is not JSON: it ends too early", nil},
		{patch.Merge(nil), nil, value(), nil},
		{&patch.Patch{}, nil, value(), nil},
		{map[string]any{"spec": patch.Patch{}}, nil, value(), nil},
		{func() {}, nil, "encode the configuration: json: unsupported type: func()", nil},
		{raw(`{"metadata":"a"}`), nil, "metadata must be an object", patch.ErrMalformed},
		{meta1("managedFields", `[{"manager":"a"}]`), nil, only("managedFields"), patch.ErrMalformed},
		{meta1("uid", `"u"`), nil, only("uid"), patch.ErrMalformed},
		{meta1("generation", "1"), nil, only("generation"), patch.ErrMalformed},
		{meta1("creationTimestamp", `"2026-11-21T21:16:48Z"`), nil, only("creationTimestamp"), patch.ErrMalformed},
		{meta1("deletionTimestamp", `"2026-11-21T21:16:48Z"`), nil, only("deletionTimestamp"), patch.ErrMalformed},
		{meta1("deletionGracePeriodSeconds", "1"), nil, only("deletionGracePeriodSeconds"), patch.ErrMalformed},
		{meta1("selfLink", `"/a"`), nil, only("selfLink"), patch.ErrMalformed},
		{meta1("uid", `"u"`), []string{"/metadata/uid"}, only("uid"), patch.ErrMalformed},

		{&project{}, []string{"spec"}, `pointer "spec" must be empty or start with a slash`, patch.ErrMalformed},
		{&project{}, []string{""}, `path "" must name a member`, patch.ErrMalformed},
		{&project{}, []string{"/spec/absent"}, `path "/spec/absent": the configuration does not have it`, patch.ErrNotFound},
		{&project{}, []string{"/spec/replicas/a"}, `path "/spec/replicas/a": the configuration does not have it`, patch.ErrNotFound},
		{&project{}, []string{"/spec/inner/depth"}, `path "/spec/inner/depth": the configuration does not have it`, patch.ErrNotFound},
		{&project{}, []string{"/spec/moment/a"}, `path "/spec/moment/a": the configuration does not have it`, patch.ErrNotFound},
		{&project{}, []string{"/spec/items/0"}, `path "/spec/items/0": the configuration does not have it`, patch.ErrNotFound},
		{raw(`{"l":[1]}`), []string{"/l/1"}, `path "/l/1": index "1" is out of range: the list has length 1`, patch.ErrNotFound},
		{raw(`{"l":[1]}`), []string{"/l/a"}, `path "/l/a": "a" is not the index of an element`, patch.ErrNotFound},
		{raw(`{"l":[1]}`), []string{"/l/-"}, `path "/l/-": "-" is not the index of an element`, patch.ErrNotFound},
		{map[int]any{1: 1}, []string{"/2"}, `path "/2": the configuration does not have it`, patch.ErrNotFound},
		{
			&project{},
			[]string{"/spec/limit"},
			`path "/spec/limit" is null, which applies nothing; to empty a field, use an empty object, list or string`, patch.ErrMalformed,
		},
		{
			&project{},
			[]string{"/spec/labels"},
			`path "/spec/labels" is null, which applies nothing; to empty a field, use an empty object, list or string`, patch.ErrMalformed,
		},
	} {
		p := patch.Apply(test.v, test.paths...)
		_, err := p.Body()
		text := strings.Replace(fmt.Sprint(err), "for type patch.Patch:", "for type *patch.Patch:", 1) // Go 1.27 says it with a star
		if err == nil || text != "patch.Apply: "+test.want || test.kind != nil && !errors.Is(err, test.kind) {
			t.Errorf("error is %v\n    want patch.Apply: %s", err, test.want)
		}
		if p.IsEmpty() || p.CheckSubresource("") != nil {
			t.Errorf("%v is empty, or for no object", p)
		}
	}
}

func TestAStatusIsForItsSubresource(t *testing.T) {
	config := raw(`{"status":{"ready":0}}`)
	p := patch.Apply(config)
	want := "status must be left out of a configuration of the object itself; apply it to the subresource status, or name /status in the paths of patch.Apply"
	for _, p := range []patch.Patch{p, p.WithResourceVersion("7")} {
		if err := p.CheckSubresource(""); err == nil || err.Error() != want || !errors.Is(err, patch.ErrMalformed) {
			t.Errorf("error is %v", err)
		}
	}
	for _, err := range []error{
		p.CheckSubresource("status"), patch.Apply(config, "/status/ready").CheckSubresource(""),
		patch.Apply(raw(`{"status":{}}`)).CheckSubresource(""), patch.Merge(config).CheckSubresource(""),
	} {
		if err != nil {
			t.Error(err)
		}
	}
}

func TestAnApplyHasTheMethodsOfAPatch(t *testing.T) {
	p := patch.Apply(map[string]any{"spec": map[string]any{"password": "s3cr3t"}})
	if got := body(t, p.WithResourceVersion("7")); got != `{"spec":{"password":"s3cr3t"},"metadata":{"resourceVersion":"7"}}` {
		t.Errorf("with a version the body is %s", got)
	}
	if got := fmt.Sprintf("%v %#v", p, p); got != "application/apply-patch+yaml (30 bytes) application/apply-patch+yaml (30 bytes)" {
		t.Errorf("the text is %s", got)
	}
	key := meta.Key{Namespace: "web", Name: "a"}
	for config, want := range map[string]string{
		`{}`: "", `{"metadata":{"name":"a"}}`: "", `{"metadata":{"namespace":"web","name":"a"}}`: "",
		`{"metadata":{"name":"b"}}`: `patch: metadata.name must stay "a", which no patch can change`,
	} {
		err := patch.Apply(raw(config)).CheckKey(key)
		if err == nil && want != "" || err != nil && err.Error() != want {
			t.Errorf("%s: error is %v", config, err)
		}
	}
}
