package discovery_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/discovery"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// A server that answers 404 to everything, such as an ingress or a wrong path, looked like one that has nothing.
func TestAServerWithoutAnAPIIsAnError(t *testing.T) {
	for _, test := range []struct {
		name string
		gone func(path string) bool
		core bool // whether the core group is known all the same
	}{
		{"nothing at all", func(string) bool { return true }, false},
		{"no groups", func(path string) bool { return path == "/apis" }, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, discovery.Options{}, widgets("v1"))
			r.server.Intercept(func(q *http.Request) http.HandlerFunc {
				if test.gone(q.URL.Path) {
					return http.NotFound
				}
				return nil
			})
			check := func(what string, err error) {
				t.Helper()
				if err == nil || errors.Is(err, apierrors.NotFound) ||
					!strings.HasPrefix(err.Error(), "found no Kubernetes API at "+r.server.Config().Server+"; check the URL's path: ") {
					t.Errorf("%s: error is %v", what, err)
				}
			}
			for _, gvk := range []meta.GVK{widget, {Group: "example.dev"}, {Group: "example.dev", Version: "v1"}, {Group: "other.dev"}} {
				has, err := r.catalog.Has(t.Context(), gvk)
				if check(gvk.String(), err); has {
					t.Errorf("it has %s", gvk)
				}
			}
			_, err := r.catalog.Resource(t.Context(), widget)
			check("Resource", err)
			_, _, err = r.catalog.Find(t.Context(), "widgets")
			check("Find", err)
			_, err = r.catalog.Preferred(t.Context())
			check("Preferred", err)
			_, err = r.catalog.Resources(t.Context())
			check("Resources", err)
			has, err := r.catalog.Has(t.Context(), meta.GVK{Version: "v1", Kind: "Pod"})
			if test.core && (err != nil || !has) {
				t.Errorf("Has of the core group: %v, %v", has, err)
			} else if !test.core {
				check("Has of the core group", err)
			}
		})
	}
}

// The server of an extension has no core group.
func TestDiscoveryWorksWithoutACoreGroup(t *testing.T) {
	r := newRig(t, discovery.Options{}, widgets("v1"))
	r.server.Intercept(func(q *http.Request) http.HandlerFunc {
		if q.URL.Path == "/api" {
			return http.NotFound
		}
		return nil
	})
	if has, err := r.catalog.Has(t.Context(), meta.GVK{Version: "v1", Kind: "Pod"}); has || err != nil {
		t.Errorf("it has pods: %v, %v", has, err)
	}
	if has, err := r.catalog.Has(t.Context(), widget); !has || err != nil {
		t.Errorf("it has widgets: %v, %v", has, err)
	}
}
