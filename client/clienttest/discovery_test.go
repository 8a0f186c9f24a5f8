package clienttest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/clienttest"
)

const (
	aggregatedV2      = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	aggregatedV2beta1 = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"
)

// The first form in the Accept header that the server has is the one that it answers in.
func TestDiscoveryAnswersInTheFirstFormThatItHas(t *testing.T) {
	h := newHarness(t, clienttest.Options{})
	for _, test := range []struct{ name, accept, contentType, kind string }{
		{"v2", aggregatedV2 + "," + aggregatedV2beta1 + ",application/json", aggregatedV2, `"apiVersion":"apidiscovery.k8s.io/v2",`},
		{"the beta, which 1.37 no longer has", aggregatedV2beta1 + ",application/json", "application/json", `"kind":"APIGroupList"`},
		{"the old form first", "application/json," + aggregatedV2, "application/json", `"kind":"APIGroupList"`},
		{"a version that it does not have", strings.Replace(aggregatedV2, "v=v2", "v=v3", 1) + ",application/json", "application/json", `"kind":"APIGroupList"`},
		{"no wish", "", "application/json", `"kind":"APIGroupList"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := h.do(t, "GET", "/apis", "", "Accept", test.accept)
			if a.header.Get("Content-Type") != test.contentType || !strings.Contains(a.body, test.kind) {
				t.Errorf("got %s: %.200s", a.header.Get("Content-Type"), a.body)
			}
		})
	}
}

// What has not changed is not sent again, and what is registered, taken away or stale is a change.
func TestTheETagOfDiscoveryChangesWithTheResources(t *testing.T) {
	h := newHarness(t, clienttest.Options{})
	tags := map[string]string{}
	get := func(path, when string) {
		t.Helper()
		for _, want := range []int{http.StatusOK, http.StatusNotModified} {
			a := h.do(t, "GET", path, "", "Accept", aggregatedV2, "If-None-Match", tags[path])
			if a.code != want || (want == http.StatusNotModified) != (a.body == "") {
				t.Errorf("%s %s: got %d with %d bytes, want %d", path, when, a.code, len(a.body), want)
			}
			tags[path] = a.header.Get("ETag")
		}
	}
	get("/api", "at first")
	for _, step := range []struct {
		when string
		do   func() error
	}{
		{"at first", func() error { return nil }},
		{"after a registration", func() error { return h.server.Register(widgets()) }},
		{"when it is stale", func() error { h.server.SetStale("example.dev", "v1", true); return nil }},
		{"when it is current", func() error { h.server.SetStale("example.dev", "v1", false); return nil }},
		{"when it has gone", func() error { return h.server.Unregister(widgets().GVR()) }},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		get("/apis", step.when)
		if step.when == "after a registration" {
			get("/openapi/v3/apis/example.dev/v1", step.when)
		}
	}
	if a := h.do(t, "GET", "/api", "", "Accept", aggregatedV2, "If-None-Match", tags["/api"]); a.code != http.StatusNotModified {
		t.Errorf("the core group has not changed, and is answered with %d", a.code)
	}
}

func TestAStaleGroupVersionIsMarkedInDiscovery(t *testing.T) {
	h := newHarness(t, clienttest.Options{Resources: []clienttest.Resource{widgets()}})
	h.server.SetStale("example.dev", "v1", true)
	if got := h.must(t, "GET", "/apis", "", "Accept", aggregatedV2); strings.Count(got, `"freshness":"Stale"`) != 1 {
		t.Errorf("got %s", got)
	}
	if a := h.do(t, "GET", "/apis/example.dev/v1", ""); a.code != http.StatusServiceUnavailable {
		t.Errorf("the old form is answered with %d", a.code)
	}
	h.must(t, "GET", widgetPath, "") // the resources go on
}

func TestAServerMayLackAggregatedDiscovery(t *testing.T) {
	h := newHarness(t, clienttest.Options{})
	h.server.SetAggregated(false)
	a := h.do(t, "GET", "/apis", "", "Accept", aggregatedV2+",application/json")
	if a.header.Get("Content-Type") != "application/json" || a.header.Get("ETag") != "" || !strings.Contains(a.body, "APIGroupList") {
		t.Errorf("got %v: %.200s", a.header, a.body)
	}
	h.server.SetAggregated(true)
	if a := h.do(t, "GET", "/apis", "", "Accept", aggregatedV2); a.header.Get("Content-Type") != aggregatedV2 {
		t.Errorf("got %v", a.header)
	}
}

// The versions of a group are in the order of preference that Kubernetes has, and custom groups after those that are built in.
func TestDiscoveryOrdersVersionsByPreference(t *testing.T) {
	var resources []clienttest.Resource
	for _, version := range []string{"v1", "v2beta1", "v2", "v10", "v1alpha2", "v11alpha1", "v2beta10", "foo1", "v1beta1"} {
		resources = append(resources, clienttest.Resource{Group: "a.dev", Version: version, Kind: "K" + version, Resource: "r" + version})
	}
	h := newHarness(t, clienttest.Options{Resources: resources})
	got := h.must(t, "GET", "/apis", "")
	want := []string{"apps", "coordination.k8s.io", "a.dev", "v10", "v2", "v1", "v2beta10", "v2beta1", "v1beta1", "v11alpha1", "v1alpha2", "foo1"}
	for _, w := range want {
		_, rest, found := strings.Cut(got, `"`+w+`"`)
		if !found {
			t.Fatalf("%s is not there, or too early: %s", w, got)
		}
		got = rest
	}
}

func TestTheIndexOfOpenAPIHasTheHashesOfItsDocuments(t *testing.T) {
	h := newHarness(t, clienttest.Options{})
	const path = "/openapi/v3/apis/apps/v1"
	doc := h.do(t, "GET", path, "")
	hash := strings.Trim(doc.header.Get("ETag"), `"`)
	if index := h.must(t, "GET", "/openapi/v3", ""); !strings.Contains(index, `"apis/apps/v1":{"serverRelativeURL":"`+path+`?hash=`+hash+`"}`) {
		t.Errorf("%s is not in %s", hash, index)
	}
	if old := h.do(t, "GET", path+"?hash=0", ""); old.body != doc.body { // after a redirect
		t.Errorf("an old hash is answered with %d", old.code)
	}
	if a := h.do(t, "GET", "/openapi/v3/apis/none/v1", ""); a.code != http.StatusNotFound {
		t.Errorf("what is not there is answered with %d", a.code)
	}
}

// The bytes are those of kube-apiserver 1.37.1, but for the storage versions.
func TestTheOldFormOfDiscoveryHasTheServersBytes(t *testing.T) {
	h := newHarness(t, clienttest.Options{})
	for path, wants := range map[string][]string{
		"/api/v1": {
			`{"kind":"APIResourceList","groupVersion":"v1","resources":[` + // no apiVersion
				`{"name":"bindings","singularName":"binding","namespaced":true,"kind":"Binding","verbs":["create"]},` +
				`{"name":"componentstatuses","singularName":"componentstatus","namespaced":false,"kind":"ComponentStatus","verbs":["get","list"],` +
				`"shortNames":["cs"]},{"name":"configmaps","singularName":"configmap",`,
			`{"name":"namespaces/finalize","singularName":"","namespaced":false,"kind":"Namespace","verbs":["update"]},` +
				`{"name":"namespaces/status","singularName":"","namespaced":false,"kind":"Namespace","verbs":["get","patch","update"]},`,
			`"kind":"Pod","verbs":["create","delete","deletecollection","get","list","patch","update","watch"],"shortNames":["po"],"categories":["all"]},` +
				`{"name":"pods/binding","singularName":"","namespaced":true,"kind":"Binding","verbs":["create"]},` +
				`{"name":"pods/ephemeralcontainers","singularName":"","namespaced":true,"kind":"Pod","verbs":["get","patch","update"]},` +
				`{"name":"pods/eviction","singularName":"","namespaced":true,"group":"policy","version":"v1","kind":"Eviction","verbs":["create"]},` +
				`{"name":"pods/resize","singularName":"","namespaced":true,"kind":"Pod","verbs":["get","patch","update"]},` +
				`{"name":"pods/status","singularName":"","namespaced":true,"kind":"Pod","verbs":["get","patch","update"]},`,
			`{"name":"serviceaccounts/token","singularName":"","namespaced":true,"group":"authentication.k8s.io","version":"v1",` +
				`"kind":"TokenRequest","verbs":["create"]},`,
		},
		"/apis/apps/v1": {
			`{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"apps/v1","resources":[`,
			`{"name":"deployments/scale","singularName":"","namespaced":true,"group":"autoscaling","version":"v1","kind":"Scale",` +
				`"verbs":["get","patch","update"]},{"name":"deployments/status",`,
		},
		"/apis/authentication.k8s.io/v1": {
			`{"name":"selfsubjectreviews","singularName":"selfsubjectreview","namespaced":false,"kind":"SelfSubjectReview","verbs":["create"]},` +
				`{"name":"tokenreviews","singularName":"tokenreview","namespaced":false,"kind":"TokenReview","verbs":["create"]}`,
		},
		"/apis/authorization.k8s.io/v1": {`"resources":[` +
			`{"name":"localsubjectaccessreviews","singularName":"localsubjectaccessreview","namespaced":true,"kind":"LocalSubjectAccessReview","verbs":["create"]},` +
			`{"name":"selfsubjectaccessreviews","singularName":"selfsubjectaccessreview","namespaced":false,"kind":"SelfSubjectAccessReview","verbs":["create"]},` +
			`{"name":"selfsubjectrulesreviews","singularName":"selfsubjectrulesreview","namespaced":false,"kind":"SelfSubjectRulesReview","verbs":["create"]},` +
			`{"name":"subjectaccessreviews","singularName":"subjectaccessreview","namespaced":false,"kind":"SubjectAccessReview","verbs":["create"]}]}`},
		"/apis/certificates.k8s.io/v1": {
			`{"name":"certificatesigningrequests/approval","singularName":"","namespaced":false,"kind":"CertificateSigningRequest","verbs":["get","patch","update"]},` +
				`{"name":"certificatesigningrequests/status","singularName":"","namespaced":false,"kind":"CertificateSigningRequest","verbs":["get","patch","update"]},`,
		},
	} {
		got := h.must(t, "GET", path, "")
		for _, want := range wants {
			if !strings.Contains(got, want) {
				t.Errorf("%s is %s\nwant it to have %s", path, got, want)
			}
		}
	}
	if got := h.must(t, "GET", "/openapi/v3/apis/authorization.k8s.io/v1", ""); strings.Contains(got, "{name}") {
		t.Errorf("the document has paths of objects that are never stored: %s", got)
	}
}
