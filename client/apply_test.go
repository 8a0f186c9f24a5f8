package client_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/patch"
)

// behaviour 13, for an apply.
func TestConfigurationsThatCannotBeAppliedAreRefused(t *testing.T) {
	srv := says(object("a", "1"))
	r := client.For(connect(t, srv), configMaps)
	named := r.With(client.WriteOptions{FieldManager: "me"})
	in := func(field string, v any) any { return map[string]any{"metadata": map[string]any{field: v}} }
	managed := &ConfigMap{ObjectMeta: meta.ObjectMeta{ManagedFields: []meta.ManagedFields{{Manager: "m"}}}}
	for _, test := range []struct {
		name   string
		r      client.Resource[*ConfigMap]
		config any
		want   string
	}{
		{"no manager", r, map[string]any{}, "client.WriteOptions: FieldManager must be set for an apply"},
		{"nil", named, nil, "patch.Apply: the configuration is <nil>, which does not encode to a JSON object"},
		{"a nil pointer", named, (*ConfigMap)(nil), "patch.Apply: the configuration is *client_test.ConfigMap, which does not encode to a JSON object"},
		{"bytes", named, []byte("{}"), "patch.Apply: the configuration is []byte, which does not encode to a JSON object; use json.RawMessage"},
		{"no JSON", named, json.RawMessage("{"), "patch.Apply: the configuration is not JSON: it ends too early"},
		{"another kind", named, map[string]any{"kind": "Secret"}, `kind must be "ConfigMap", as in the descriptor, or be left out, got "Secret"`},
		{
			"another version", named,
			map[string]any{"apiVersion": "v2"},
			`apiVersion must be "v1", as in the descriptor, or be left out, got "v2"`,
		},
		{"another name", named, in("name", "b"), `metadata.name must be "a", as in the key, or be left out, got "b"`},
		{"another namespace", named, in("namespace", "b"), `metadata.namespace must be "web", as in the key, or be left out, got "b"`},
		{
			"a name that is none", named, in("name", 1),
			"metadata.name must be a string: json: cannot unmarshal number into Go value of type string",
		},
		{
			"metadata that are none", named,
			map[string]any{"metadata": "a"},
			"patch.Apply: metadata must be an object",
		},
		{
			"managed fields", named, managed,
			"patch.Apply: metadata.managedFields must be left out of a configuration, because only the server sets it; " +
				"to apply a part of an object that was read, use patch.Extract or the paths of patch.Apply",
		},
		{
			"a patch of another kind", named, noChange,
			"the patch must come from patch.Apply, got application/merge-patch+json",
		},
		{"a patch that could not be built", named, patch.Apply(map[string]any{}, "a"), `patch.Apply: pointer "a" must be empty or start with a slash`},
		{
			"a pointer to a patch", named, new(patch.Patch),
			"patch.Apply: encode the configuration: json: error calling MarshalJSON for type *patch.Patch: " +
				"a patch.Patch must be passed directly, not inside another value or behind a pointer",
		},
		{"a patch that is none", named, patch.Patch{}, "patch: the zero Patch changes nothing and has no media type; use patch.Merge"},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := `apply configmaps "web/a": ` + test.want
			if err := drop(test.r.Apply(t.Context(), web, test.config, client.ApplyOptions{})); err == nil || err.Error() != want {
				t.Errorf("error is %v\n         want %s", err, want)
			} else {
				is[*client.UsageError](t, err)
			}
			want = `apply configmaps/status "web/a": ` + test.want
			if err := drop(test.r.Status().Apply(t.Context(), web, test.config, client.ApplyOptions{})); err == nil || err.Error() != want {
				t.Errorf("error is %v\n         want %s", err, want)
			}
		})
	}
	is[*client.UsageError](t, drop(named.Apply(t.Context(), meta.Key{Namespace: "web"}, map[string]any{}, client.ApplyOptions{})))
	if calls := srv.all(); len(calls) != 0 {
		t.Errorf("the server got %v", calls)
	}
}

// The name and the kind are added, and no digit of the rest is lost.
func TestAnAppliedConfigurationIsSentAsItIs(t *testing.T) {
	srv := says(object("a", "1"))
	r := client.For(connect(t, srv), configMaps).With(client.WriteOptions{FieldManager: "me"})
	for config, want := range map[any]string{
		jsonText(`{"spec":{"n":12345678901234567890,"f":1.10}}`): `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"web"},` +
			`"spec":{"n":12345678901234567890,"f":1.10}}`,
		jsonText(`{"metadata":{"labels":{"a":"b"},"name":"","managedFields":null},"kind":"ConfigMap"}`): `{"apiVersion":"v1","kind":"ConfigMap",` +
			`"metadata":{"labels":{"a":"b"},"name":"a","namespace":"web"}}`,
		jsonText(`{"metadata":null}`): `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"web"}}`,
	} {
		before := len(srv.all())
		must[*ConfigMap](t)(r.Apply(t.Context(), web, config, client.ApplyOptions{}))
		if got := srv.all()[before]; got.body != want {
			t.Errorf("the body is %s\n        want %s", got.body, want)
		}
	}
}

// jsonText is JSON that can be a key of a map.
type jsonText string

func (j jsonText) MarshalJSON() ([]byte, error) { return []byte(j), nil }

// behaviour 325: a patch of package patch that is an apply is one, whichever call it goes through.
func TestAnApplyIsSentAsAPatch(t *testing.T) {
	srv := says(object("a", "1"))
	r := client.For(connect(t, srv), configMaps)
	named := r.With(client.WriteOptions{FieldManager: "me"})
	c := &ConfigMap{ObjectMeta: meta.ObjectMeta{Name: "a", UID: "u", Labels: map[string]string{"l": "", "m": "x"}}, Data: map[string]string{"k": "v"}}
	p := patch.Apply(c, "/metadata/labels/l", "/data").WithResourceVersion("7")
	const want = `{"apiVersion":"v1","data":{"k":"v"},"kind":"ConfigMap",` +
		`"metadata":{"name":"a","labels":{"l":""},"resourceVersion":"7","namespace":"web"}}`
	must[*ConfigMap](t)(named.Patch(t.Context(), web, p))
	must[*ConfigMap](t)(named.Apply(t.Context(), web, p, client.ApplyOptions{Force: true}))
	must[*ConfigMap](t)(named.Sub("x").Patch(t.Context(), web, p))
	got := srv.all()
	for i, uri := range []string{
		"/api/v1/namespaces/web/configmaps/a?fieldManager=me", "/api/v1/namespaces/web/configmaps/a?fieldManager=me&force=true",
		"/api/v1/namespaces/web/configmaps/a/x?fieldManager=me",
	} {
		if got[i].uri != uri || got[i].header.Get("Content-Type") != patch.ApplyType || !sameJSON(t, got[i].body, want) {
			t.Errorf("the request is %s (%s)\n%s\nwant %s\n%s", got[i], got[i].header.Get("Content-Type"), got[i].body, uri, want)
		}
	}
	for _, err := range []error{drop(r.Patch(t.Context(), web, p)), drop(r.Status().Patch(t.Context(), web, p))} {
		is[*client.UsageError](t, err)
	}
	err := drop(r.Patch(t.Context(), web, p))
	if want := `patch configmaps "web/a": client.WriteOptions: FieldManager must be set for an apply`; err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
	err = drop(named.Patch(t.Context(), meta.Key{Namespace: "web", Name: "b"}, p))
	if want := `patch configmaps "web/b": metadata.name must be "b", as in the key, or be left out, got "a"`; err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
	if n := len(srv.all()); n != 3 {
		t.Errorf("the server got %d requests, want 3", n)
	}
}

func TestAStatusIsAppliedThroughItsSubresource(t *testing.T) {
	srv := says(object("a", "1"))
	r := client.For(connect(t, srv), configMaps).With(client.WriteOptions{FieldManager: "me"})
	config := map[string]any{"status": map[string]any{"ready": true}}
	err := drop(r.Apply(t.Context(), web, config, client.ApplyOptions{}))
	is[*client.UsageError](t, err)
	const want = `apply configmaps "web/a": status must be left out of a configuration of the object itself; ` +
		`apply it to the subresource status, or name /status in the paths of patch.Apply`
	if err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
	must[*ConfigMap](t)(r.Status().Apply(t.Context(), web, config, client.ApplyOptions{}))
	must[*ConfigMap](t)(r.Apply(t.Context(), web, patch.Apply(config, "/status"), client.ApplyOptions{}))
	must[*ConfigMap](t)(r.Apply(t.Context(), web, map[string]any{"status": map[string]any{}}, client.ApplyOptions{}))
	for i, want := range []string{`"status":{"ready":true}`, `"status":{"ready":true}`, ``} {
		if body := srv.all()[i].body; !strings.HasSuffix(body, want+"}") || strings.Contains(body, "status") != (want != "") {
			t.Errorf("the body is %s", body)
		}
	}
}

// An apply that a known object proves to change nothing is not sent, and returns a copy.
func TestAnApplyThatIsKnownToChangeNothingIsNotSent(t *testing.T) {
	srv := says(object("a", "2"))
	r := client.For(connect(t, srv), configMaps).With(client.WriteOptions{FieldManager: "me"})
	known := &ConfigMap{
		ObjectMeta: meta.ObjectMeta{Namespace: "web", Name: "a", ResourceVersion: "1", ManagedFields: []meta.ManagedFields{{
			Manager: "me", Operation: "Apply", APIVersion: "v1", FieldsType: "FieldsV1", FieldsV1: json.RawMessage(`{"f:data":{"f:k":{}}}`),
		}}},
		Data: map[string]string{"k": "v", "other": "x"},
	}
	text, err := json.Marshal(known)
	if err != nil {
		t.Fatal(err)
	}
	u := new(meta.Unstructured)
	if err := json.Unmarshal(text, u); err != nil {
		t.Fatal(err)
	}
	same := map[string]any{"data": map[string]any{"k": "v"}}
	for _, k := range []any{known, u, json.RawMessage(text)} {
		for _, config := range []any{same, patch.Apply(same)} {
			got := must[*ConfigMap](t)(r.Apply(t.Context(), web, config, client.ApplyOptions{Known: k, Force: true}))
			if got == known || got.ResourceVersion != "1" || got.Data["other"] != "x" || len(got.ManagedFields) != 1 {
				t.Errorf("the apply returned %+v", got)
			}
		}
	}
	got := must[*Slim](t)(client.For(dial(t, serve(t, srv)), slims).With(client.WriteOptions{FieldManager: "me"}).Apply(
		t.Context(), web, same, client.ApplyOptions{Known: known}))
	if got.Data["k"] != "v" || got.ResourceVersion != "1" {
		t.Errorf("the apply returned %+v", got)
	}
	if calls := srv.all(); len(calls) != 0 {
		t.Fatalf("the server got %v", calls)
	}

	for name, o := range map[string]client.ApplyOptions{
		"a nil pointer":     {Known: (*ConfigMap)(nil)},
		"no managed fields": {Known: &ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: "web", Name: "a"}, Data: known.Data}},
	} {
		if got := must[*ConfigMap](t)(r.Apply(t.Context(), web, same, o)); got.ResourceVersion != "2" {
			t.Errorf("%s: the apply returned %+v, not the server's answer", name, got)
		}
	}
	for _, config := range []any{map[string]any{"data": map[string]any{"k": "w"}}, map[string]any{}} {
		must[*ConfigMap](t)(r.Apply(t.Context(), web, config, client.ApplyOptions{Known: known}))
	}
	must[*ConfigMap](t)(r.Status().Apply(t.Context(), web, same, client.ApplyOptions{Known: known})) // that is another apply
	if n := len(srv.all()); n != 5 {
		t.Errorf("the server got %d requests, want 5", n)
	}
	for _, test := range []struct {
		known any
		want  string
	}{
		{&ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: "web", Name: "b"}}, `the object must be "web/a", got "web/b"`},
		{map[string]any{"kind": "Secret"}, `encode map[string]interface {}: its kind must be "ConfigMap" or empty, got "Secret"`},
		{"text", "encode string: it must be a JSON object, got a JSON string"},
	} {
		err := drop(r.Apply(t.Context(), web, same, client.ApplyOptions{Known: test.known}))
		is[*client.UsageError](t, err)
		if want := `apply configmaps "web/a": client.ApplyOptions: Known: ` + test.want; err == nil || err.Error() != want {
			t.Errorf("error is %v\n    want %s", err, want)
		}
	}
	if n := len(srv.all()); n != 5 {
		t.Errorf("the server got %d requests, want 5", n)
	}
}
