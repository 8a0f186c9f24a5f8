package discovery_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/discovery"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

var exampleV1 = meta.GVK{Group: "example.dev", Version: "v1"}

// A document is downloaded once for each hash that the index has had for it.
func TestOpenAPIByHash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, discovery.Options{}, widgets("v1"))
		get := func() string {
			t.Helper()
			return string(must[json.RawMessage](t)(r.catalog.OpenAPI(t.Context(), exampleV1)))
		}
		if got := get(); !strings.Contains(got, "/apis/example.dev/v1/namespaces/{namespace}/widgets/{name}") {
			t.Errorf("got %s", got)
		}
		r.wantRequests(t, "/openapi/v3, /openapi/v3/apis/example.dev/v1")
		get()
		r.wantRequests(t, "")
		time.Sleep(time.Minute)
		get()
		r.wantRequests(t, "/openapi/v3")

		// Another group changes: its document has nothing to do with this one.
		gadgets := widgets("v1")
		gadgets.Group = "other.dev"
		if err := r.server.Register(gadgets); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		get()
		r.wantRequests(t, "/openapi/v3")

		gadgets.Group, gadgets.Kind, gadgets.Resource = "example.dev", "Gadget", "gadgets"
		if err := r.server.Register(gadgets); err != nil {
			t.Fatal(err)
		}
		r.catalog.Invalidate()
		if got := get(); !strings.Contains(got, "gadgets/{name}") {
			t.Errorf("got %s", got)
		}
		r.wantRequests(t, "/openapi/v3, /openapi/v3/apis/example.dev/v1")

		for _, gvk := range []meta.GVK{{Version: "v1", Kind: "Pod"}, {Group: "other.dev", Version: "v1"}} {
			must[json.RawMessage](t)(r.catalog.OpenAPI(t.Context(), gvk))
		}
	})
}

// The document changed after the index was read: the server leads to the present one.
func TestOpenAPIWhoseHashIsOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, discovery.Options{}, widgets("v1"))
		must[json.RawMessage](t)(r.catalog.OpenAPI(t.Context(), meta.GVK{Version: "v1"}))
		r.wantRequests(t, "/openapi/v3, /openapi/v3/api/v1")
		gadgets := widgets("v1")
		gadgets.Kind, gadgets.Resource = "Gadget", "gadgets"
		if err := r.server.Register(gadgets); err != nil {
			t.Fatal(err)
		}
		got := must[json.RawMessage](t)(r.catalog.OpenAPI(t.Context(), exampleV1))
		if !strings.Contains(string(got), "gadgets/{name}") {
			t.Errorf("got %s", got)
		}
		r.wantRequests(t, "/openapi/v3/apis/example.dev/v1 301, /openapi/v3/apis/example.dev/v1")
		time.Sleep(time.Minute)
		must[json.RawMessage](t)(r.catalog.OpenAPI(t.Context(), exampleV1))
		r.wantRequests(t, "/openapi/v3") // it is known by the hash to which the server led
	})
}

// Of two servers behind one address the one that is asked for a document may lag behind the one that told its hash. Its answer
// was kept under that hash, for good.
func TestOpenAPIOfAServerThatLags(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, discovery.Options{}, widgets("v1"))
		const path = "/openapi/v3/apis/example.dev/v1"
		lags := true
		r.server.Intercept(func(q *http.Request) http.HandlerFunc {
			switch {
			case q.URL.Path == "/openapi/v3":
				return jsonBody(`{"paths":{"apis/example.dev/v1":{"serverRelativeURL":"` + path + `?hash=NEW"}}}`)
			case q.URL.Path == path && lags && q.URL.Query().Get("hash") != "OLD":
				return http.RedirectHandler(path+"?hash=OLD", http.StatusMovedPermanently).ServeHTTP
			case q.URL.Path == path && lags:
				return jsonBody(`{"of":"before"}`)
			case q.URL.Path == path:
				return jsonBody(`{"of":"now"}`)
			}
			return nil
		})
		get := func() string { return string(must[json.RawMessage](t)(r.catalog.OpenAPI(t.Context(), exampleV1))) }
		if got := get(); got != `{"of":"before"}` {
			t.Errorf("got %s", got)
		}
		r.requests()
		get()
		r.wantRequests(t, "") // not a request with every call
		lags = false
		time.Sleep(time.Minute)
		if got := get(); got != `{"of":"now"}` {
			t.Errorf("after a minute got %s", got)
		}
	})
}

func TestOpenAPIThatIsNotThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, discovery.Options{})
		for range 3 {
			_, err := r.catalog.OpenAPI(t.Context(), exampleV1)
			if !errors.As(err, new(*discovery.NoMatchError)) || !errors.Is(err, apierrors.NotFound) ||
				err.Error() != `the server has no OpenAPI v3 document of "example.dev/v1"` {
				t.Errorf("error is %v", err)
			}
		}
		r.wantRequests(t, "/openapi/v3")
		if err := r.server.Register(widgets("v1")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		must[json.RawMessage](t)(r.catalog.OpenAPI(t.Context(), exampleV1))

		r.catalog.Invalidate()
		r.server.Intercept(func(*http.Request) http.HandlerFunc { return http.NotFound })
		if _, err := r.catalog.OpenAPI(t.Context(), exampleV1); !errors.As(err, new(*discovery.NoMatchError)) {
			t.Errorf("a server without OpenAPI v3: %v", err)
		}
	})
}

// An index without hashes is no reason to keep a document forever, nor is one from elsewhere to leave the server.
func TestOpenAPIWithoutAHash(t *testing.T) {
	for _, url := range []string{"", "/openapi/v3/apis/example.dev/v1", "https://elsewhere.example/x", "%zz"} {
		t.Run(url, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, discovery.Options{}, widgets("v1"))
				r.answer("/openapi/v3", "application/json", `{"paths":{"apis/example.dev/v1":{"serverRelativeURL":"`+url+`"}}}`)
				get := func() { must[json.RawMessage](t)(r.catalog.OpenAPI(t.Context(), exampleV1)) }
				get()
				get()
				r.wantRequests(t, "/openapi/v3, /openapi/v3/apis/example.dev/v1")
				time.Sleep(time.Minute)
				get()
				r.wantRequests(t, "/openapi/v3, /openapi/v3/apis/example.dev/v1 304")
			})
		})
	}
}
