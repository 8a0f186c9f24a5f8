package client_test

import (
	"encoding/json"
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
			"metadata.name must be of another JSON type: json: cannot unmarshal number into Go value of type string",
		},
		{
			"metadata that are none", named,
			map[string]any{"metadata": "a"},
			"patch.Apply: metadata must be an object",
		},
		{
			"managed fields", named, managed,
			"patch.Apply: metadata.managedFields must be left out of a configuration that is applied: only the server sets it",
		},
		{
			"a patch of another kind", named, noChange,
			"the configuration must not be a patch other than that of patch.Apply, got application/merge-patch+json",
		},
		{"a patch that could not be built", named, patch.Apply(map[string]any{}, "a"), `patch.Apply: pointer "a" must be empty or start with a slash`},
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
