package client_test

import (
	"encoding/json"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
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
		{"nil", named, nil, "encode <nil>: it is a JSON null, not an object"},
		{"a nil pointer", named, (*ConfigMap)(nil), "encode *client_test.ConfigMap: it is a JSON null, not an object"},
		{"bytes", named, []byte("{}"), "encode []uint8: it is a JSON string, not an object"},
		{"no JSON", named, json.RawMessage("{"), "encode json.RawMessage: json: error calling MarshalJSON for type json.RawMessage: unexpected end of JSON input"},
		{"another kind", named, map[string]any{"kind": "Secret"}, `encode map[string]interface {}: its kind is "Secret", not "ConfigMap"`},
		{
			"another version", named,
			map[string]any{"apiVersion": "v2"},
			`encode map[string]interface {}: its apiVersion is "v2", not "v1"`,
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
			"metadata must be of another JSON type: json: cannot unmarshal string into Go value of type map[string]json.RawMessage",
		},
		{"managed fields", named, managed, "metadata.managedFields must be left out of a configuration that is applied"},
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
			`"metadata":{"labels":{"a":"b"},"managedFields":null,"name":"a","namespace":"web"}}`,
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
