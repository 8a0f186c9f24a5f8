package discovery_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/discovery"
	"github.com/bowline-go/bowline/client/meta"
)

func widgets(version string) clienttest.Resource {
	return clienttest.Resource{
		Group: "example.dev", Version: version, Kind: "Widget", Resource: "widgets", Status: true,
		ShortNames: []string{"wd"}, Categories: []string{"all", "toys"},
	}
}

var widget = meta.GVK{Group: "example.dev", Version: "v1", Kind: "Widget"}

// rig is a server, a catalog of it, and what the catalog asked.
type rig struct {
	server  *clienttest.Server
	client  *client.Client
	catalog *discovery.Catalog

	mu    sync.Mutex
	asked []string
}

// newRig starts a server with resources of its own.
func newRig(t *testing.T, o discovery.Options, resources ...clienttest.Resource) *rig {
	t.Helper()
	r := &rig{server: clienttest.Start(t, clienttest.Options{Resources: resources})}
	r.connect(t, o)
	return r
}

// connect makes a further catalog, as another run of the program has it.
func (r *rig) connect(t *testing.T, o discovery.Options) {
	t.Helper()
	cfg := r.server.Config()
	cfg.Wrap = func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(q *http.Request) (*http.Response, error) {
			resp, err := next.RoundTrip(q)
			line := q.URL.Path
			if err == nil && resp.StatusCode != http.StatusOK {
				line += " " + resp.Status[:3]
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			r.asked = append(r.asked, line)
			return resp, err
		})
	}
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	r.client, r.catalog = c, discovery.New(c, o)
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// requests returns what was asked since it was last called, with the code of every answer that is not 200.
func (r *rig) requests() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := strings.Join(r.asked, ", ")
	r.asked = nil
	return all
}

// wantRequests fails the test unless exactly these were made since the last time.
func (r *rig) wantRequests(t *testing.T, want string) {
	t.Helper()
	if got := r.requests(); got != want {
		t.Errorf("requests are %q, want %q", got, want)
	}
}

func must[V any](t *testing.T) func(V, error) V {
	return func(v V, err error) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// answer makes the server answer a path with a body of a type, and every other as usual.
func (r *rig) answer(path, contentType, body string) {
	r.server.Intercept(func(q *http.Request) http.HandlerFunc {
		if q.URL.Path != path {
			return nil
		}
		return typedBody(contentType, body)
	})
}

func jsonBody(body string) http.HandlerFunc { return typedBody("application/json", body) }

func typedBody(contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write([]byte(body))
	}
}

func names(rs []discovery.Resource) string {
	var all []string
	for _, r := range rs {
		all = append(all, r.GVR().String())
	}
	return strings.Join(all, " ")
}

func groupNames(t *testing.T, ctx context.Context, c *discovery.Catalog) string {
	t.Helper()
	return strings.Join(must[[]string](t)(discovery.GroupsOf(ctx, c)), ", ")
}

// find returns the best match of Find.
func find(ctx context.Context, c *discovery.Catalog, name string) (discovery.Resource, error) {
	best, _, err := c.Find(ctx, name)
	return best, err
}
