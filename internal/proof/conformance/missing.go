package conformance

import (
	"errors"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/patch"
)

// testMissingSubresource asks for a subresource that a resource does not have. For a custom resource the server
// answers that the object is not found, whether it exists or not. The client tells the two cases apart.
func testMissingSubresource(t *testing.T, s suite) {
	ns := s.namespace(t)
	gizmos := client.For(s.client, Gizmos)
	made := new(meta.Unstructured)
	made.SetName("a")
	made.SetNamespace(ns)
	made = must[*meta.Unstructured](t)(gizmos.Create(t.Context(), made))

	names := strings.NewReplacer("{gizmos}", "/apis/conformance.bowline.example/v1/namespaces/"+ns+"/gizmos")
	const notFound = `gizmos.conformance.bowline.example "%" not found`
	for _, name := range []string{"a", "gone"} {
		for _, call := range []string{"GET ", "PUT ", "PATCH "} {
			media, body := asMerge, `{"status":{"ok":true}}`
			if call != "PATCH " {
				media, body = "", string(must[[]byte](t)(made.MarshalJSON()))
			}
			refused(call+name, call+"{gizmos}/"+name+"/status", media, body, 404, apierrors.NotFound,
				strings.Replace(notFound, "%", name, 1)).run(t, s, names)
		}
	}

	set := func(u *meta.Unstructured) error { return meta.SetNested(u.Object, true, "status", "ok") }
	for what, call := range map[string]func(meta.Key) error{
		"get":    func(k meta.Key) error { _, err := gizmos.Status().Get(t.Context(), k); return err },
		"modify": func(k meta.Key) error { _, err := gizmos.Status().Modify(t.Context(), k, set); return err },
		"patch": func(k meta.Key) error {
			_, err := gizmos.Status().Patch(t.Context(), k, patch.Merge(map[string]any{"status": map[string]any{"ok": true}}))
			return err
		},
	} {
		var wrong *client.UsageError
		if err := call(meta.KeyOf(made)); !errors.As(err, &wrong) || errors.Is(err, apierrors.NotFound) {
			t.Errorf("%s of the status of an object: %v, want a UsageError", what, err)
		}
		wantReason(t, call(meta.Key{Namespace: ns, Name: "gone"}), apierrors.NotFound, 404)
	}
}

// testNotServed asks for resources that the server does not serve. The answer does not name them. It is a Status only
// in groups of compiled-in resources.
func testNotServed(t *testing.T, s suite) {
	ns := s.namespace(t)
	s.configMap(t, ns, "a", nil)
	const (
		nothing = "the server could not find the requested resource"
		outside = "the answer is not a Status but text/plain; charset=utf-8: 404 page not found"
	)
	names := strings.NewReplacer("{ns}", "namespaces/"+ns, "{ours}", "/apis/conformance.bowline.example")
	for path, message := range map[string]string{
		"/apis/nobody.bowline.example/v1/{ns}/nopes":   outside,
		"/apis/nobody.bowline.example/v1/{ns}/nopes/a": outside,
		"/apis/nobody.bowline.example/v1/nopes":        outside,
		"{ours}/v2/{ns}/widgets":                       outside,
		"{ours}/v2/{ns}/widgets/a":                     outside,
		"{ours}/v1/{ns}/nopes":                         outside,
		"{ours}/v1/{ns}/nopes/a":                       outside,
		"{ours}/v2":                                    outside,
		"/apis/apps/v9":                                nothing,
		"/apis/apps/v9/{ns}/deployments":               nothing,
		"/apis/apps/v9/{ns}/deployments/a":             nothing,
		"/apis/apps/v1/{ns}/nopes":                     nothing,
		"/apis/apps/v1/{ns}/nopes/a":                   nothing,
		"/api/v9":                                      nothing,
		"/api/v9/{ns}/configmaps":                      nothing,
		"/api/v1/{ns}/nopes":                           nothing,
		"/api/v1/{ns}/nopes/a":                         nothing,
		"/api/v1/{ns}/configmaps/a/status":             nothing,
		"/api/v1/{ns}/configmaps/b/status":             nothing,
	} {
		refused(path, "GET "+path, "", "", 404, apierrors.NotFound, message).run(t, s, names)
	}
}
