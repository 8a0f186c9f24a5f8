package conformance

import (
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/discovery"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// testDiscovery reads what the server serves, in both forms. A server answers in the old form if the request asks for
// no other.
func testDiscovery(t *testing.T, s suite) {
	for _, form := range []string{"aggregated", "the old form"} {
		t.Run(form, func(t *testing.T) {
			var mu sync.Mutex
			codes := map[int]int{}
			cfg := s.cfg
			cfg.Wrap = func(next http.RoundTripper) http.RoundTripper {
				return roundTripper(func(r *http.Request) (*http.Response, error) {
					if form != "aggregated" && r.Header.Get("Accept") != "" {
						r = r.Clone(r.Context())
						r.Header.Set("Accept", "application/json")
					}
					resp, err := next.RoundTrip(r)
					if err == nil {
						mu.Lock()
						defer mu.Unlock()
						codes[resp.StatusCode]++
					}
					return resp, err
				})
			}
			c, err := client.New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.Close)
			catalog := discovery.New(c, discovery.Options{})
			t.Run("resources", func(t *testing.T) { testDiscoveredResources(t, catalog) })
			t.Run("names", func(t *testing.T) { testDiscoveredNames(t, catalog) })
			t.Run("groups", func(t *testing.T) { testDiscoveredGroups(t, catalog) })
			t.Run("a handle", func(t *testing.T) {
				r, _, err := catalog.Find(t.Context(), "cm")
				if err != nil {
					t.Fatal(err)
				}
				namespace := s.namespace(t)
				s.configMap(t, namespace, "found", nil)
				got := must[*meta.Unstructured](t)(client.For(c, r.Type()).Get(t.Context(), meta.Key{Namespace: namespace, Name: "found"}))
				equal(t, "kind", got.Object["kind"], any("ConfigMap"))
			})
			if form == "aggregated" {
				catalog.Invalidate()
				must[[]discovery.Resource](t)(catalog.Resources(t.Context()))
				equal(t, "answers that nothing has changed, of /api and /apis", codes[http.StatusNotModified], 2)
			}
		})
	}
	t.Run("headers", func(t *testing.T) { testDiscoveryHeaders(t, s) })
	t.Run("OpenAPI", func(t *testing.T) { testOpenAPI(t, s) })
	t.Run("version", func(t *testing.T) {
		v := must[discovery.ServerVersion](t)(discovery.New(s.client, discovery.Options{}).Version(t.Context()))
		// A server that was built by go build does not know its release.
		if !strings.HasPrefix(v.GitVersion, "v") || v.Platform == "" {
			t.Errorf("version is %+v", v)
		}
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func testDiscoveredResources(t *testing.T, catalog *discovery.Catalog) {
	d := must[discovery.Resource](t)(catalog.Resource(t.Context(), meta.GVK{Group: "apps", Version: "v1", Kind: "Deployment"}))
	equal(t, "resource", d.GVR().String(), "deployments.apps/v1")
	equal(t, "singular", d.Singular, "deployment")
	equal(t, "scope", d.Scope, meta.Namespaced)
	equal(t, "short names", strings.Join(d.ShortNames, " "), "deploy")
	equal(t, "categories", strings.Join(d.Categories, " "), "all")
	equal(t, "verbs", strings.Join(slices.Sorted(slices.Values(d.Verbs)), " "),
		"create delete deletecollection get list patch update watch")
	status, _ := d.Subresource("status")
	equal(t, "kind of status", status.GVK.String(), "Deployment.apps/v1")
	equal(t, "verbs of status", strings.Join(slices.Sorted(slices.Values(status.Verbs)), " "), "get patch update")

	n := must[discovery.Resource](t)(catalog.Resource(t.Context(), meta.GVK{Version: "v1", Kind: "Namespace"}))
	equal(t, "resource", n.GVR().String(), "namespaces.v1")
	equal(t, "scope", n.Scope, meta.Cluster)
	equal(t, "namespaces can be deleted together", n.Can("deletecollection"), false)

	testDiscoveredSubresources(t, catalog)

	_, err := catalog.Resource(t.Context(), meta.GVK{Group: "apps", Version: "v1", Kind: "Conformance"})
	if !errors.As(err, new(*discovery.NoMatchError)) || !errors.Is(err, apierrors.NotFound) {
		t.Errorf("a kind that is not there: %v", err)
	}
	for gvk, want := range map[meta.GVK]bool{
		{Version: "v1"}: true, {Group: "apps"}: true, {Group: "apps", Version: "v7"}: false, {Group: "conformance.example"}: false,
	} {
		has, err := catalog.Has(t.Context(), gvk)
		if has != want || err != nil {
			t.Errorf("Has(%v) is %t, %v", gvk, has, err)
		}
	}
}

func testDiscoveredSubresources(t *testing.T, catalog *discovery.Catalog) {
	const create, part = "create", "get patch update"
	v1 := func(group, kind string) meta.GVK { return meta.GVK{Group: group, Version: "v1", Kind: kind} }
	verbs := func(of []string) string { return strings.Join(slices.Sorted(slices.Values(of)), " ") }
	pod, csr := v1("", "Pod"), v1("certificates.k8s.io", "CertificateSigningRequest")
	for _, test := range []struct {
		of    meta.GVK
		name  string
		kind  meta.GVK
		verbs string
	}{
		{pod, "binding", v1("", "Binding"), create},
		{pod, "ephemeralcontainers", pod, part},
		{pod, "eviction", v1("policy", "Eviction"), create},
		{pod, "resize", pod, part},
		{pod, "status", pod, part},
		{v1("", "ServiceAccount"), "token", v1("authentication.k8s.io", "TokenRequest"), create},
		{v1("", "Namespace"), "finalize", v1("", "Namespace"), "update"},
		{v1("apps", "Deployment"), "scale", v1("autoscaling", "Scale"), part},
		{csr, "approval", csr, part},
		{csr, "status", csr, part},
	} {
		r := must[discovery.Resource](t)(catalog.Resource(t.Context(), test.of))
		sub, found := r.Subresource(test.name)
		if !found || sub.GVK != test.kind || verbs(sub.Verbs) != test.verbs {
			t.Errorf("%s of %s is %v, %v, want %s with %s", test.name, test.of, sub, found, test.kind, test.verbs)
		}
	}
	for _, name := range []string{"ConfigMap", "Secret", "Event"} {
		equal(t, "subresources of "+name, len(must[discovery.Resource](t)(catalog.Resource(t.Context(), v1("", name))).Subresources), 0)
	}
	for kind, scope := range map[meta.GVK]meta.Scope{
		v1("authorization.k8s.io", "SelfSubjectAccessReview"):  meta.Cluster,
		v1("authorization.k8s.io", "SelfSubjectRulesReview"):   meta.Cluster,
		v1("authorization.k8s.io", "SubjectAccessReview"):      meta.Cluster,
		v1("authorization.k8s.io", "LocalSubjectAccessReview"): meta.Namespaced,
		v1("authentication.k8s.io", "SelfSubjectReview"):       meta.Cluster,
	} {
		r := must[discovery.Resource](t)(catalog.Resource(t.Context(), kind))
		lower := strings.ToLower(kind.Kind)
		if r.Name != lower+"s" || r.Singular != lower || r.Scope != scope || verbs(r.Verbs) != create || len(r.Subresources) > 0 {
			t.Errorf("%s is %+v", kind, r)
		}
	}
}

func testDiscoveredNames(t *testing.T, catalog *discovery.Catalog) {
	for name, want := range map[string]string{
		"po": "pods.v1", "pod": "pods.v1", "Pod": "pods.v1", "pods.v1": "pods.v1", "cm": "configmaps.v1", "ns": "namespaces.v1",
		"deploy": "deployments.apps/v1", "deployments.v1.apps": "deployments.apps/v1", "lease": "leases.coordination.k8s.io/v1",
		"lease.coordination": "leases.coordination.k8s.io/v1", "Deployment.app": "deployments.apps/v1",
	} {
		r, _, err := catalog.Find(t.Context(), name)
		if err != nil || r.GVR().String() != want {
			t.Errorf("%q is %s, %v, want %s", name, r.GVR(), err, want)
		}
	}
	all := must[[]discovery.Resource](t)(catalog.Category(t.Context(), "all"))
	if !slices.ContainsFunc(all, func(r discovery.Resource) bool { return r.Name == "pods" }) {
		t.Error(`pods are not in the category "all"`)
	}
}

func testDiscoveredGroups(t *testing.T, catalog *discovery.Catalog) {
	all := must[[]discovery.Resource](t)(catalog.Resources(t.Context()))
	equal(t, "the first group", all[0].Group, "")
	i := slices.IndexFunc(all, func(r discovery.Resource) bool { return r.Group == "apps" })
	if i < 0 {
		t.Fatal("there is no group apps")
	}
	equal(t, "the preferred version of apps", all[i].Version, "v1")
	seen := map[meta.GVR]bool{}
	for _, r := range must[[]discovery.Resource](t)(catalog.Preferred(t.Context())) {
		if r.Version = ""; seen[r.GVR()] {
			t.Errorf("%s comes twice", r.GVR())
		}
		seen[r.GVR()] = true
	}
}

// testDiscoveryHeaders compares the headers that a client may rely on.
func testDiscoveryHeaders(t *testing.T, s suite) {
	const v2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	const v2beta1 = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"
	for _, test := range []struct {
		path, accept, contentType, cache string
		tag                              bool
	}{
		{"/api", v2 + ",application/json", v2, "public", true},
		{"/apis", v2 + "," + v2beta1 + ",application/json", v2, "public", true},
		{"/apis", v2beta1 + ",application/json", "application/json", "no-cache, private", false},
		{"/apis/apps/v1", "application/json", "application/json", "no-cache, private", false},
		{"/openapi/v3", "application/json", "text/plain; charset=utf-8", "no-cache, private", false},
		{"/openapi/v3/apis/apps/v1", "application/json", "application/json", "no-cache, private", true},
		{"/openapi/v2", "application/json", "application/json", "no-cache, private", true},
		{
			"/openapi/v2", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
			"application/com.github.proto-openapi.spec.v2.v1.0+protobuf", "no-cache, private", true,
		},
	} {
		resp := must[*http.Response](t)(s.client.Raw(t.Context(), client.RawRequest{
			Path: test.path, Header: http.Header{"Accept": {test.accept}},
		}))
		_ = resp.Body.Close()
		equal(t, "type of "+test.path, resp.Header.Get("Content-Type"), test.contentType)
		equal(t, "Cache-Control of "+test.path, resp.Header.Get("Cache-Control"), test.cache)
		tag := resp.Header.Get("ETag")
		if test.tag != regexp.MustCompile(`^"[0-9A-F]{128}"$`).MatchString(tag) || !test.tag && tag != "" {
			t.Errorf("ETag of %s is %q", test.path, tag)
		}
	}
}

func testOpenAPI(t *testing.T, s suite) {
	catalog := discovery.New(s.client, discovery.Options{})
	apps := meta.GVK{Group: "apps", Version: "v1"}
	doc, err := catalog.OpenAPI(t.Context(), apps)
	if err != nil || !strings.Contains(string(doc), `"/apis/apps/v1/namespaces/{namespace}/deployments/{name}"`) {
		t.Errorf("the document of %s has %d bytes, %v", apps.APIVersion(), len(doc), err)
	}
	_, err = catalog.OpenAPI(t.Context(), meta.GVK{Group: "conformance.example", Version: "v1"})
	if !errors.As(err, new(*discovery.NoMatchError)) {
		t.Errorf("a document that is not there: %v", err)
	}
	// A path with an old hash redirects to the present one.
	resp := must[*http.Response](t)(s.client.Raw(t.Context(), client.RawRequest{
		Path: "/openapi/v3/apis/apps/v1", Query: map[string][]string{"hash": {"0"}},
	}))
	_ = resp.Body.Close()
	if tag := resp.Header.Get("ETag"); tag != `"`+resp.Request.URL.Query().Get("hash")+`"` {
		t.Errorf("ETag is %s, of %s", tag, resp.Request.URL)
	}
}
