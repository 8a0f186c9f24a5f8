package e2e

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/discovery"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

func TestDiscoveryKnowsWhatTheServerServes(t *testing.T) {
	t.Parallel()
	cfg := adminConfig()
	c := open(t, cfg)
	catalog := discovery.New(c, discovery.Options{})

	version := must(catalog.Version(t.Context()))(t)
	if is136 := plane.Kubernetes == "1.36"; !version.AtLeast(1, 36) || version.AtLeast(1, 37) == is136 || version.AtLeast(1, 38) {
		t.Errorf("the version is %s, want %s", version.GitVersion, plane.Kubernetes)
	}
	for name, want := range map[string]meta.GVR{
		"po":                      {Version: "v1", Resource: "pods"},
		"Pod":                     {Version: "v1", Resource: "pods"},
		"deploy":                  {Group: "apps", Version: "v1", Resource: "deployments"},
		"deployments.v1.apps":     {Group: "apps", Version: "v1", Resource: "deployments"},
		"events":                  {Version: "v1", Resource: "events"},
		"events.events.k8s.io":    {Group: "events.k8s.io", Version: "v1", Resource: "events"},
		"csr":                     {Group: "certificates.k8s.io", Version: "v1", Resource: "certificatesigningrequests"},
		"poddisruptionbudget":     {Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"},
		"clusterroles." + rbac:    {Group: rbac, Version: "v1", Resource: "clusterroles"},
		"crd":                     {Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
		"apiservices":             {Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"},
		"HorizontalPodAutoscaler": {Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"},
	} {
		match, _, err := catalog.Find(t.Context(), name)
		if err != nil || match.GVR() != want {
			t.Errorf("%s is %v, %v; want %v", name, match.GVR(), err, want)
		}
	}
	_, _, err := catalog.Find(t.Context(), "knotholes.apps") // without a group, a group of another test that comes and goes would count
	wantReason(t, err, apierrors.NotFound)

	scalable := must(catalog.Resource(t.Context(), meta.GVK{Group: "apps", Kind: "Deployment"}))(t)
	if scale, found := scalable.Subresource("scale"); !found || scale.GVK != (meta.GVK{Group: "autoscaling", Version: "v1", Kind: "Scale"}) {
		t.Errorf("the scale of deployments is %+v, %v", scale, found)
	}
	if eviction, found := must(catalog.Resource(t.Context(), meta.GVK{Version: "v1", Kind: "Pod"}))(t).Subresource("eviction"); !found ||
		eviction.GVK != (meta.GVK{Group: "policy", Version: "v1", Kind: "Eviction"}) || !slices.Equal(eviction.Verbs, []string{"create"}) {
		t.Errorf("the eviction of pods is %+v, %v", eviction, found)
	}
	if all := despiteOthers(catalog.Category(t.Context(), "all"))(t); len(all) < 8 {
		t.Errorf("the category all has %d resources", len(all))
	}
}

// Whatever the server says that it can list, a handle made of its description lists.
func TestDiscoveredResourcesCanBeListed(t *testing.T) {
	t.Parallel()
	c, _ := admin(t)
	catalog := discovery.New(c, discovery.Options{})
	listed := 0
	for _, r := range despiteOthers(catalog.Resources(t.Context()))(t) {
		if !r.Can("list") || ofOthers(r.Group) {
			continue
		}
		listed++
		list, err := client.Retype[*meta.Raw](client.For(c, r.Type())).List(t.Context(), client.ListOptions{})
		if err != nil {
			t.Errorf("%v: %v", r.GVR(), err)
			continue
		}
		for _, obj := range list.Items {
			if namespaced := obj.GetNamespace() != ""; namespaced != (r.Scope == meta.Namespaced) {
				t.Errorf("%v has an object in the namespace %q, and its scope is %v", r.GVR(), obj.GetNamespace(), r.Scope)
				break
			}
		}
	}
	if listed < 50 {
		t.Errorf("%d resources can be listed, want those of Kubernetes", listed)
	}
}

func TestTheServersDocumentsAreFound(t *testing.T) {
	t.Parallel()
	catalog := discovery.New(open(t, adminConfig()), discovery.Options{})
	apps := meta.GVK{Group: "apps", Version: "v1"}
	if _, err := catalog.OpenAPI(t.Context(), meta.GVK{Version: "v1"}); err != nil {
		t.Errorf("the document of the core group: %v", err)
	}
	var document struct {
		OpenAPI string                     `json:"openapi"`
		Paths   map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal(must(catalog.OpenAPI(t.Context(), apps))(t), &document); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(document.OpenAPI, "3.") || document.Paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"] == nil {
		t.Errorf("the document is of OpenAPI %s with %d paths", document.OpenAPI, len(document.Paths))
	}
	_, err := catalog.OpenAPI(t.Context(), meta.GVK{Group: "absent.example", Version: "v1"})
	wantReason(t, err, apierrors.NotFound)
}

// ofOthers says that another test has made the group of this name, or the group version. It may be down, and go at any moment.
func ofOthers(group string) bool { return strings.Contains(group, ".example") }

// despiteOthers is must for what discovery says of the whole server.
func despiteOthers(found []discovery.Resource, err error) func(*testing.T) []discovery.Resource {
	return func(t *testing.T) []discovery.Resource {
		t.Helper()
		var down *discovery.DownError
		if errors.As(err, &down) && !slices.ContainsFunc(slices.Collect(maps.Keys(down.Failed)), func(groupVersion string) bool {
			return !ofOthers(groupVersion)
		}) {
			err = nil
		}
		return must(found, err)(t)
	}
}
