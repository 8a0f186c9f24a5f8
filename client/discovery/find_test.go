package discovery_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/discovery"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// behaviour 153: every name that kubectl takes.
func TestFind(t *testing.T) {
	forms(t, func(t *testing.T, aggregated bool) {
		beta := widgets("v1beta1")
		beta.Kind, beta.Resource, beta.Singular, beta.ShortNames = "Sprocket", "sprockets", "sprocket", nil
		r := newRig(t, discovery.Options{}, widgets("v1"), beta)
		r.server.SetAggregated(aggregated)
		for name, want := range map[string]string{
			"deployments": "deployments.apps/v1", "deployment": "deployments.apps/v1", "Deployment": "deployments.apps/v1",
			"deploy": "deployments.apps/v1", "deployments.apps": "deployments.apps/v1", "deploy.apps": "deployments.apps/v1",
			"deployments.v1.apps": "deployments.apps/v1", "DEPLOYMENT.v1.apps": "deployments.apps/v1",
			"deployments.apps/v1": "deployments.apps/v1", "pods": "pods.v1", "po": "pods.v1", "pods.v1": "pods.v1", "pods.v1.": "pods.v1",
			"pods.": "pods.v1", "deploy.app": "deployments.apps/v1", "lease.coordination": "leases.coordination.k8s.io/v1",
			"wd": "widgets.example.dev/v1", "widget.example.dev": "widgets.example.dev/v1", "widgets.v1.example.dev": "widgets.example.dev/v1",
			"sprockets": "sprockets.example.dev/v1beta1", "sprocket.v1beta1.example.dev": "sprockets.example.dev/v1beta1",
		} {
			if got, others, err := r.catalog.Find(t.Context(), name); err != nil || got.GVR().String() != want || len(others) > 0 {
				t.Errorf("%q is %s and %s, %v, want %s", name, got.GVR(), names(others), err, want)
			}
		}
	})
}

// behaviour 153: of several the core group's wins, then the first group's, and a resource's own name before a short name. What else
// matched is told.
func TestAnAmbiguousName(t *testing.T) {
	forms(t, func(t *testing.T, aggregated bool) {
		metrics := clienttest.Resource{Group: "metrics.example.dev", Version: "v1", Kind: "PodMetrics", Resource: "pods", Singular: "pod"}
		short := clienttest.Resource{Group: "a.example.dev", Version: "v1", Kind: "Wide", Resource: "wides", ShortNames: []string{"wd", "widgets"}}
		near := clienttest.Resource{Group: "exam", Version: "v1", Kind: "WD", Resource: "nears", Singular: "near"}
		r := newRig(t, discovery.Options{}, metrics, short, near, widgets("v1"))
		r.server.SetAggregated(aggregated)
		for _, test := range []struct{ name, want, others string }{
			{"pods", "pods.v1", "pods.metrics.example.dev/v1"},
			{"pods.metrics.example.dev", "pods.metrics.example.dev/v1", ""},
			{"wd", "wides.a.example.dev/v1", "widgets.example.dev/v1 nears.exam/v1"},
			{"wd.exam", "nears.exam/v1", ""}, // a group's whole name is better than its beginning
			{"wd.example", "widgets.example.dev/v1", ""},
			{"widgets", "widgets.example.dev/v1", "wides.a.example.dev/v1"},
		} {
			got, others, err := r.catalog.Find(t.Context(), test.name)
			if err != nil || got.GVR().String() != test.want || names(others) != test.others {
				t.Errorf("%q is %s and %q, %v, want %s and %q", test.name, got.GVR(), names(others), err, test.want, test.others)
			}
		}
	})
}

// A name with a group asks a server of the old form for that group's versions and no other.
func TestFindAsksForTheGroupOfTheName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, discovery.Options{}, widgets("v1"))
		r.server.SetAggregated(false)
		must[discovery.Resource](t)(find(t.Context(), r.catalog, "widgets.example.dev"))
		r.wantRequests(t, "/apis, /apis/example.dev/v1")
	})
}

func TestErrorsOfMissingResourcesNameTheSearchedGroups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, discovery.Options{}, widgets("v1"))
		for _, test := range []struct {
			call func() error
			want string
		}{
			{
				func() error { _, _, err := r.catalog.Find(t.Context(), "Gadgets"); return err },
				`the server has no resource "Gadgets": searched every group`,
			},
			{
				func() error { _, _, err := r.catalog.Find(t.Context(), "gadgets.v1.example.dev"); return err },
				`the server has no resource "gadgets.v1.example.dev": searched group version example.dev/v1, group "v1.example.dev", the groups whose names begin with it`,
			},
			{
				func() error { _, _, err := r.catalog.Find(t.Context(), "gadgets.v1"); return err },
				`the server has no resource "gadgets.v1": searched group version v1, group "v1", the groups whose names begin with it`,
			},
			{
				func() error { _, err := r.catalog.Resource(t.Context(), meta.GVK{Kind: "Gadget"}); return err },
				`the server has no resource "Gadget": searched the core group`,
			},
			{
				func() error {
					_, err := r.catalog.ResourceOf(t.Context(), meta.GVR{Group: "example.dev", Version: "v1", Resource: "gadgets"})
					return err
				},
				`the server has no resource "gadgets.example.dev/v1": searched group version example.dev/v1`,
			},
			{
				func() error { _, err := r.catalog.Category(t.Context(), "none"); return err },
				`the server has no resource "none": searched the categories of every group`,
			},
		} {
			err := test.call()
			var no *discovery.NoMatchError
			if !errors.As(err, &no) || err.Error() != test.want || !errors.Is(err, apierrors.NotFound) {
				t.Errorf("error is %v, want %q", err, test.want)
			}
		}
		// All are proved by the same answers, which were asked for at the same time.
		if got := r.requests(); got != "/api, /apis" && got != "/apis, /api" {
			t.Errorf("requests are %s", got)
		}
	})
}

// A kind may have a further resource that takes objects of it and keeps none, and old servers say no singular.
func TestAKindOfTwoResources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, discovery.Options{})
		r.server.Intercept(func(q *http.Request) http.HandlerFunc {
			switch q.URL.Path {
			case "/apis":
				return jsonBody(`{"kind":"APIGroupList","groups":[{"name":"g","versions":[{"version":"v1"}]}]}`)
			case "/apis/g/v1":
				return jsonBody(`{"kind":"APIResourceList","resources":[` +
					`{"name":"processedforms","kind":"Form","verbs":["create"]},{"name":"forms","kind":"Form","verbs":["create","get"]},` +
					`{"name":"drafts","kind":"Draft","verbs":["create"]}]}`)
			}
			return nil
		})
		for _, gvk := range []meta.GVK{{Group: "g", Kind: "Form"}, {Group: "g", Version: "v1", Kind: "Form"}} {
			if got := must[discovery.Resource](t)(r.catalog.Resource(t.Context(), gvk)); got.Name != "forms" {
				t.Errorf("%s is %s", gvk, got.Name)
			}
		}
		for name, want := range map[string]string{"form": "forms", "Form.g": "forms", "processedforms": "processedforms", "draft": "drafts"} {
			if got := must[discovery.Resource](t)(find(t.Context(), r.catalog, name)); got.Name != want {
				t.Errorf("%q is %s, want %s", name, got.Name, want)
			}
		}
	})
}

func TestCategory(t *testing.T) {
	forms(t, func(t *testing.T, aggregated bool) {
		r := newRig(t, discovery.Options{}, widgets("v1"))
		r.server.SetAggregated(aggregated)
		if got := must[[]discovery.Resource](t)(r.catalog.Category(t.Context(), "toys")); names(got) != "widgets.example.dev/v1" {
			t.Errorf("got %s", names(got))
		}
		got := names(must[[]discovery.Resource](t)(r.catalog.Category(t.Context(), "all")))
		if !strings.HasPrefix(got, "pods.v1 ") || !strings.HasSuffix(got, " widgets.example.dev/v1") {
			t.Errorf("got %s", got)
		}
		r.server.SetStale("apps", "v1", true)
		r.catalog.Invalidate()
		all, err := r.catalog.Category(t.Context(), "all")
		if !errors.As(err, new(*discovery.DownError)) || len(all) == 0 {
			t.Errorf("got %s, %v", names(all), err)
		}
	})
}

// What is found is a client's handle in one more line.
func TestType(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, discovery.Options{}, widgets("v1"))
		res := must[discovery.Resource](t)(r.catalog.ResourceOf(t.Context(), meta.GVR{Group: "example.dev", Resource: "widgets"}))
		obj := &meta.Unstructured{}
		if err := meta.SetNested(obj, "w", "metadata", "name"); err != nil {
			t.Fatal(err)
		}
		if err := meta.SetNested(obj, "default", "metadata", "namespace"); err != nil {
			t.Fatal(err)
		}
		must[*meta.Unstructured](t)(client.For(r.client, res.Type()).Create(t.Context(), obj))
		partial := must[*meta.Partial](t)(client.Retype[*meta.Partial](client.For(r.client, res.Type())).
			Get(t.Context(), meta.Key{Namespace: "default", Name: "w"}))
		if partial.Name != "w" {
			t.Errorf("got %+v", partial)
		}
	})
}

// A request that fails is its caller's error, whatever the question.
func TestAFailedRequestIsNotAMiss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, discovery.Options{})
		r.server.Intercept(func(*http.Request) http.HandlerFunc {
			return clienttest.Answer(meta.Status{Code: 403, Reason: "Forbidden"})
		})
		for _, call := range []func() error{
			func() error { _, _, err := r.catalog.Find(t.Context(), "pods"); return err },
			func() error { _, _, err := r.catalog.Find(t.Context(), "pods.v1"); return err },
			func() error { _, err := r.catalog.Resource(t.Context(), widget); return err },
			func() error { _, err := r.catalog.Has(t.Context(), widget); return err },
			func() error { _, err := r.catalog.Category(t.Context(), "all"); return err },
			func() error { _, err := r.catalog.Preferred(t.Context()); return err },
			func() error { _, err := r.catalog.OpenAPI(t.Context(), exampleV1); return err },
		} {
			if err := call(); !errors.Is(err, apierrors.Forbidden) || errors.As(err, new(*discovery.NoMatchError)) {
				t.Errorf("error is %v", err)
			}
		}
	})
}
