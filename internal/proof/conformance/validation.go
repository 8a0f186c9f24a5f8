package conformance

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/patch"
)

// Doubled is a ConfigMap with a duplicate member.
type Doubled struct {
	ConfigMap
}

// MarshalJSON implements json.Marshaler.
func (d *Doubled) MarshalJSON() ([]byte, error) {
	return []byte(`{"metadata":{"namespace":"` + d.Namespace + `","name":"` + d.Name + `"},"data":{"k":"1","k":"2"}}`), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (d *Doubled) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &d.ConfigMap) }

func testFieldValidation(t *testing.T, s suite) {
	ns := s.namespace(t)
	c, warnings := s.warned(t)
	r := client.For(c, client.Type[*Doubled](ConfigMaps))
	create := func(name string, v client.FieldValidation) error {
		_, err := r.With(client.WriteOptions{FieldValidation: v}).Create(t.Context(),
			&Doubled{ConfigMap{ObjectMeta: meta.ObjectMeta{Namespace: ns, Name: name}}})
		return err
	}
	if err := create("ignored", client.ValidateIgnore); err != nil {
		t.Error(err)
	}
	equal(t, "warnings", strings.Join(warnings(), "; "), "")
	err := create("strict", client.ValidateStrict)
	wantReason(t, err, apierrors.BadRequest, 400)
	const twice = `duplicate field "data.k"`
	if want := `ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: ` + twice; !strings.HasSuffix(err.Error(), want) {
		t.Errorf("error is %v, want %s at its end", err, want)
	}
	if err := create("warned", client.ValidateWarn); err != nil {
		t.Error(err)
	}
	equal(t, "warnings", strings.Join(warnings(), "; "), twice)
	equal(t, "what counts", must[*Doubled](t)(r.Get(t.Context(), meta.Key{Namespace: ns, Name: "warned"})).Data["k"], "2")

	twofold := patch.Merge(json.RawMessage(`{"data":{"p":"1","p":"2"}}`))
	key := meta.Key{Namespace: ns, Name: "warned"}
	_, err = r.With(client.WriteOptions{FieldValidation: client.ValidateStrict}).Patch(t.Context(), key, twofold)
	if !errors.Is(err, apierrors.Invalid) || !strings.Contains(err.Error(), `strict decoding error: duplicate field "data.p"`) {
		t.Errorf("error is %v, want it to be Invalid and to say why", err)
	}
	must[*Doubled](t)(r.Patch(t.Context(), key, twofold))
	equal(t, "warnings", strings.Join(warnings(), "; "), twice+`; duplicate field "data.p"`)

	t.Run("the words", func(t *testing.T) { testStrictWords(t, s, ns) })
}

// testStrictWords compares the text about duplicate members, wherever they are and however they are sent.
func testStrictWords(t *testing.T, s suite, ns string) {
	s.configMap(t, ns, "a", nil)
	s.pod(t, ns, "a")
	must[*Deployment](t)(s.deployments.Create(t.Context(), newDeployment(ns, "a")))
	must[*Namespace](t)(client.For(s.client, accounts).Create(t.Context(), &Namespace{ObjectMeta: meta.ObjectMeta{Namespace: ns, Name: "a"}}))
	core, apps := "/api/v1/namespaces/"+ns, "/apis/apps/v1/namespaces/"+ns
	const merge = "PATCH"
	for _, test := range []struct{ kind, method, path, body, paths string }{
		{
			"ConfigMap", "POST", core + "/configmaps",
			`{"kind":"ConfigMap","kind":"ConfigMap","metadata":{"name":"b","name":"b","labels":{"x.y/z":"1","x.y/z":"2"}}}`,
			"kind metadata.name metadata.labels.x.y/z",
		},
		{"ConfigMap", "POST", core + "/configmaps", `{"metadata":{"name":"b"},"data":{"k":"1","k":"2","k":"3"},"data":{"k":"1","k":"2"}}`, "data.k data"},
		{
			"Pod", "POST", core + "/pods", `{"metadata":{"name":"b"},"spec":{"containers":[{"name":"a","name":"a"},` +
				`{"name":"b","env":[{"name":"a","name":"b"}],"name":"b"}],"nodeName":"a","nodeName":"b"}}`,
			"spec.containers[0].name spec.containers[1].env[0].name spec.containers[1].name spec.nodeName",
		},
		{"ConfigMap", "PUT", core + "/configmaps/a", `{"metadata":{"name":"a"},"data":{"k":"1","k":"2"}}`, "data.k"},
		{"", merge, core + "/configmaps/a", `{"data":{"p":"1","p":"2"},"metadata":{"labels":{"a":"1","a":"2"}}}`, "data.p metadata.labels.a"},
		{"Deployment", "PUT", apps + "/deployments/a/status", `{"metadata":{"name":"a"},"status":{"replicas":1,"replicas":2}}`, "status.replicas"},
		{"Scale", "PUT", apps + "/deployments/a/scale", `{"metadata":{"name":"a"},"spec":{"replicas":1,"replicas":2}}`, "spec.replicas"},
		{"", merge, apps + "/deployments/a/scale", `{"spec":{"replicas":1,"replicas":2}}`, "spec.replicas"},
		{"Eviction", "POST", core + "/pods/a/eviction", `{"metadata":{"name":"a","name":"a"}}`, "metadata.name"},
		{"Binding", "POST", core + "/pods/a/binding", `{"metadata":{"name":"a"},"target":{"kind":"Node","name":"a","name":"b"}}`, "target.name"},
		{"TokenRequest", "POST", core + "/serviceaccounts/a/token", `{"spec":{"expirationSeconds":600,"expirationSeconds":700}}`, "spec.expirationSeconds"},
		{
			"SelfSubjectAccessReview", "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
			`{"spec":{"nonResourceAttributes":{"path":"/","path":"/"}}}`, "spec.nonResourceAttributes.path",
		},
	} {
		header := http.Header{"Content-Type": {"application/json"}}
		if test.method == merge {
			header.Set("Content-Type", "application/merge-patch+json")
		}
		query := map[string][]string{"fieldValidation": {"Strict"}}
		if test.kind != "TokenRequest" { // the create of a TokenRequest has no dry run
			query["dryRun"] = []string{"All"}
		}
		resp, err := s.client.Raw(t.Context(), client.RawRequest{
			Method: test.method, Path: test.path, Query: query, Header: header, Body: []byte(test.body),
		})
		if err == nil {
			_ = resp.Body.Close()
		}
		var status *apierrors.StatusError
		if !errors.As(err, &status) {
			t.Errorf("%s %s: %v", test.method, test.path, err)
			continue
		}
		words := []string{}
		for _, path := range strings.Fields(test.paths) {
			words = append(words, `duplicate field "`+path+`"`)
		}
		want, reason := `: strict decoding error: `+strings.Join(words, ", "), apierrors.BadRequest
		if test.method == merge {
			reason = apierrors.Invalid
		} else {
			want = test.kind + ` in version "v1" cannot be handled as a ` + test.kind + want
		}
		if got := status.Status.Message; !errors.Is(err, reason) || got != want && test.method != merge || !strings.HasSuffix(got, want) {
			t.Errorf("%s %s: %s, want %s at its end", test.method, test.path, got, want)
		}
	}
}
