package conformance

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// testApply checks the effects of an apply other than on fields (behaviour 325).
func testApply(t *testing.T, s suite) {
	ns := s.namespace(t)
	path := "/api/v1/namespaces/" + ns + "/configmaps/"
	c, warnings := s.warned(t)
	apply := func(name, body string, query ...string) (int, error) {
		t.Helper()
		q := url.Values{"fieldManager": {"a"}}
		for _, p := range query {
			k, v, _ := strings.Cut(p, "=")
			q.Set(k, v)
		}
		resp, err := c.Raw(t.Context(), client.RawRequest{
			Method: http.MethodPatch, Path: path + name, Query: q, Header: http.Header{"Content-Type": {"application/apply-patch+yaml"}},
			Body: []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"` + name + `"},` + body[1:]),
		})
		if err != nil {
			return 0, err
		}
		_ = resp.Body.Close()
		return resp.StatusCode, nil
	}
	get := func(name string) *ConfigMap {
		t.Helper()
		return must[*ConfigMap](t)(s.configMaps.Get(t.Context(), meta.Key{Namespace: ns, Name: name}))
	}

	code := must[int](t)(apply("dry", `{"data":{"k":"1"}}`, "dryRun=All"))
	equal(t, "code of a dry run that would create", code, http.StatusCreated)
	_, err := s.configMaps.Get(t.Context(), meta.Key{Namespace: ns, Name: "dry"})
	wantReason(t, err, apierrors.NotFound, 404)

	equal(t, "code of a first apply", must[int](t)(apply("a", `{"data":{"k":"1"}}`)), http.StatusCreated)
	made := get("a")
	equal(t, "code of the same apply again", must[int](t)(apply("a", `{"data":{"k":"1"}}`)), http.StatusOK)
	same := get("a")
	equal(t, "version after an apply that changes nothing", same.ResourceVersion, made.ResourceVersion)
	equal(t, "its time", same.ManagedFields[0].Time.String(), made.ManagedFields[0].Time.String())
	must[int](t)(apply("a", `{"data":{"k":"2"}}`, "dryRun=All"))
	equal(t, "data after a dry run", get("a").Data["k"], "1")
	must[int](t)(apply("a", `{"data":{"k":"1"}}`, "fieldManager=b"))
	if shared := get("a"); shared.ResourceVersion == made.ResourceVersion || len(shared.ManagedFields) != 2 {
		t.Errorf("a second owner makes %+v, want a new version with it", shared.ObjectMeta)
	}
	_, err = apply("a", `{"data":{"k":"2"}}`)
	wantReason(t, err, apierrors.Conflict, 409)
	var status *apierrors.StatusError
	if !errors.As(err, &status) || status.Status.Details == nil {
		t.Fatalf("error is %v, want one with details", err)
	}
	causes := status.Status.Details.Causes
	if len(causes) != 1 || causes[0].Reason != "FieldManagerConflict" || causes[0].Field != ".data.k" || causes[0].Message != `conflict with "b"` {
		t.Errorf("the causes are %+v, want the field and who owns it", causes)
	}

	// A duplicate member causes a warning unless fieldValidation says otherwise; an unknown member is always refused.
	const twice = `{"data":{"k":"1","k":"1"}}`
	const words = `line 1: key "k" already set in map`
	must[int](t)(apply("a", twice))
	must[int](t)(apply("a", twice, "fieldValidation=Ignore"))
	if got, want := warnings(), []string{words}; !slices.Equal(got, want) {
		t.Errorf("the warnings are %q, want %q", got, want)
	}
	_, err = apply("a", twice, "fieldValidation=Strict")
	wantReason(t, err, apierrors.BadRequest, 400)
	const refusal = "400 BadRequest: error strict decoding %s: error converting YAML to JSON: yaml: unmarshal errors:\n  %s"
	want := in136(fmt.Sprintf(refusal, "patch", words), fmt.Sprintf(refusal, "YAML", words))
	equal(t, "what a strict apply is told", told(err), s.words(want))
	for _, v := range []string{"Ignore", "Warn", "Strict"} {
		_, err = apply("a", `{"nope":1}`, "fieldValidation="+v)
		wantStatus(t, err, 500)
	}
}
