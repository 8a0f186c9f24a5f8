package discovery_test

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/discovery"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// What is not the document that was asked for is an error that says so, and is not downloaded again and again.
func TestAnInvalidDocumentIsAnError(t *testing.T) {
	const path = "/apis"
	for _, test := range []struct{ name, body, want string }{
		{"HTML", "<html>", "read /apis: invalid character '<' looking for beginning of value"},
		{"nothing", "", "read /apis: unexpected end of JSON input"},
		{
			"another kind", `{"kind":"PodList","apiVersion":"v1"}`,
			`read /apis: it must be an APIGroupDiscoveryList, APIGroupList or APIVersions, got "PodList" of "v1"`,
		},
		{
			"a version that was not asked for", `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v3"}`,
			`read /apis: it must be an APIGroupDiscoveryList, APIGroupList or APIVersions, got "APIGroupDiscoveryList" of "apidiscovery.k8s.io/v3"`,
		},
		{"too large", `{"kind":"APIGroupList","groups":[` + strings.Repeat(" ", 2000) + `]}`, "read /apis: it is larger than 1000 bytes"},
		{"another type", `{"kind":"APIGroupList","groups":"x"}`, "read /apis: groups must not be a JSON string"},
		{"another type in all", `1`, "read /apis: it must not be a JSON number"},
		{"a group of another type", `{"kind":"APIGroupList","groups":[{"name":{}}]}`, "read /apis: groups.0.name must not be a JSON object"},
		{"null", "null", `read /apis: it must be an APIGroupDiscoveryList, APIGroupList or APIVersions, got "" of ""`},
		{
			"a status", `{"kind":"Status","apiVersion":"v1"}`,
			`read /apis: it must be an APIGroupDiscoveryList, APIGroupList or APIVersions, got "Status" of "v1"`,
		},
		{"deep", `{"kind":"APIGroupList","groups":` + strings.Repeat("[", 900), "read /apis: unexpected end of JSON input"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, discovery.Options{})
				discovery.SetMaxDocument(r.catalog, 1000)
				r.answer(path, "application/json", test.body)
				for range 10 {
					_, err := r.catalog.Resource(t.Context(), widget)
					text := strings.Replace(fmt.Sprint(err), "groups.name", "groups.0.name", 1) // which Go 1.26 says without the index
					if !strings.HasPrefix(text, test.want) {
						t.Fatalf("error is %v, want %q", err, test.want)
					}
				}
				r.wantRequests(t, path)
				time.Sleep(time.Minute)
				r.server.Intercept(nil)
				r.answer(path, "application/json", `{"kind":"APIGroupList","groups":[]}`)
				if has, err := r.catalog.Has(t.Context(), widget); has || err != nil {
					t.Errorf("a minute later: %t, %v", has, err)
				}
			})
		})
	}
}

// A document whose elements are small takes far more room in memory than it has, and one with many groups takes no more than
// its share of time: one hundred times as much with ten times the groups.
func TestADocumentOfManyElements(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, discovery.Options{})
		for path, body := range map[string]string{
			"/apis":       `{"kind":"APIGroupList","groups":[` + strings.Repeat("{},", 1<<20+1) + `{}]}`,
			"/api":        `{"kind":"APIVersions","versions":[` + strings.Repeat(`"",`, 1<<20+1) + `"v1"]}`,
			"/openapi/v3": `{"paths":{` + strings.Repeat(`"a":{},`, 1<<20+1) + `"a":{}}}`,
		} {
			r.answer(path, "application/json", body)
			_, err := r.catalog.Resources(t.Context())
			if path == "/openapi/v3" {
				_, err = r.catalog.OpenAPI(t.Context(), exampleV1)
			}
			if want := "read " + path + ": it has more than 1048576 elements"; !strings.Contains(fmt.Sprint(err), want) {
				t.Errorf("error is %.200v, want %s", err, want)
			}
			r.catalog.Invalidate()
		}
		var many, versions strings.Builder
		for i := range 200_000 {
			fmt.Fprintf(&many, `{"name":"g%d","versions":[{"version":"v1"}]},`, i)
			fmt.Fprintf(&versions, `{"version":"v%d"},`, i)
		}
		r.answer("/apis", "application/json", `{"kind":"APIGroupList","groups":[`+many.String()+
			`{"name":"g","versions":[`+versions.String()+`{"version":"v1"}]}]}`)
		if groups := must[[]string](t)(discovery.GroupsOf(t.Context(), r.catalog)); len(groups) != 1+200_001 {
			t.Errorf("%d groups", len(groups))
		}
	})
}

// Whatever is null is left out, with what else has no name.
func TestNullsInDocumentsAreLeftOut(t *testing.T) {
	const resource = `null,{"resource":"../pods","responseKind":{"kind":"Widget"}},{"responseKind":{"kind":"Widget"}},` +
		`{"resource":"widgets","responseKind":null,"verbs":[null],"subresources":[null]}`
	old := strings.NewReplacer(`"resource"`, `"name"`, `"responseKind":{"kind":"Widget"}`, `"kind":"Widget"`)
	for name, lists := range map[string]map[string]string{
		"aggregated": {"/apis": `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[null,{"metadata":null},` +
			`{"metadata":{"name":"g"},"versions":[null,{"version":"v1","resources":[` + resource + `]},{"version":"v2","resources":null}]}]}`},
		"the old form": {
			"/apis":      `{"kind":"APIGroupList","groups":[null,{"name":"g","versions":[null,{"version":"v1"},{"version":"v2"}],"preferredVersion":null}]}`,
			"/apis/g/v1": `{"kind":"APIResourceList","resources":[` + old.Replace(resource) + `]}`,
			"/apis/g/v2": `{"kind":"APIResourceList","resources":null}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, discovery.Options{})
				r.server.Intercept(func(q *http.Request) http.HandlerFunc { return jsonBody(lists[q.URL.Path]) })
				got, err := r.catalog.Resources(t.Context(), "g")
				if names(got) != "widgets.g/v1" || err == nil || err.Error() != "discover g/: version must not be empty" {
					t.Errorf("got %s, %v", names(got), err)
				}
				if _, err := r.catalog.Resource(t.Context(), meta.GVK{Group: "g", Version: "v1", Kind: "Widget"}); !errors.Is(err, apierrors.NotFound) {
					t.Errorf("a kind whose resource has no name: %v", err)
				}
			})
		})
	}
}

// Names that cannot be part of a path are failures; nothing is asked elsewhere because of them.
func TestInvalidNamesInDocumentsAreFailures(t *testing.T) {
	for _, test := range []struct{ name, body string }{
		{"aggregated", `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[` +
			`{"metadata":{"name":"../api"},"versions":[{"version":"v1"}]},{"metadata":{"name":"g"},"versions":[{"version":".."},{"version":"v1"}]}]}`},
		{"the old form", `{"kind":"APIGroupList","groups":[` +
			`{"name":"../api","versions":[{"version":"v1"}]},{"name":"g","versions":[{"version":".."},{"version":"v1"}]}]}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, discovery.Options{})
				r.answer("/apis", "application/json", test.body)
				var down *discovery.DownError
				if _, err := r.catalog.Resources(t.Context(), "../api", "g"); !errors.As(err, &down) {
					t.Fatalf("error is %v", err)
				}
				if got := strings.Join(slices.Sorted(maps.Keys(down.Failed)), ", "); !strings.HasPrefix(got, "../api/v1, g/..") {
					t.Errorf("failed are %s", got)
				}
				if got := r.requests(); strings.Contains(got, "..") || strings.Contains(got, "/apis/api") {
					t.Errorf("requests are %s", got)
				}
			})
		})
	}
}
