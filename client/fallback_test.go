package client_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// page is an object of a resource that has several versions.
type page struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Spec            map[string]string `json:"spec,omitempty"`
	Status          map[string]string `json:"status,omitempty"`
}

func pagesIn(version string, fallback ...string) client.Type[*page] {
	var f client.Fallback
	if len(fallback) > 0 {
		f = client.Versions(fallback...)
	}
	return client.Type[*page]{Group: "example.com", Version: version, Kind: "Page", Resource: "pages", Fallback: f}
}

// asking returns a client of a server with pages in one version, and what it asks.
func asking(t *testing.T, version string) (*client.Client, func() string) {
	t.Helper()
	server := clienttest.Start(t, clienttest.Options{Resources: []clienttest.Resource{
		{Group: "example.com", Version: version, Kind: "Page", Resource: "pages", Status: true},
	}})
	cfg := server.Config()
	var mu sync.Mutex
	var asked []string
	cfg.Wrap = func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			mu.Lock()
			_, path, _ := strings.Cut(r.URL.Path, "/example.com/")
			asked = append(asked, r.Method+" "+path)
			mu.Unlock()
			return next.RoundTrip(r)
		})
	}
	return dial(t, cfg), func() string {
		mu.Lock()
		defer mu.Unlock()
		all := strings.Join(asked, ", ")
		asked = nil
		return all
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestTheNextVersionIsTriedAndRemembered(t *testing.T) {
	c, asked := asking(t, "v1beta1")
	pages := client.For(c, pagesIn("v1", "v1beta2", "v1beta1"))
	if v := pages.Served().Version; v != "v1" || asked() != "" {
		t.Errorf("before any request the version is %s", v)
	}
	key := meta.Key{Namespace: "default", Name: "a"}
	created, err := pages.Create(t.Context(), &page{ObjectMeta: key.ObjectMeta(), Spec: map[string]string{"a": "1"}})
	if err != nil || created.APIVersion != "example.com/v1beta1" || created.Spec["a"] != "1" {
		t.Fatal(created, err)
	}
	const in = "/namespaces/default/pages"
	if got := asked(); got != "POST v1"+in+", POST v1beta2"+in+", POST v1beta1"+in {
		t.Errorf("it asked %s", got)
	}
	if v := pages.Served(); v.Version != "v1beta1" || v.Fallback != client.Versions("v1beta2", "v1beta1") || pages.GVR().Version != "v1" || pages.Type().Version != "v1" {
		t.Errorf("the version is %+v", v)
	}
	again := client.For(c, pagesIn("v1", "v1beta2", "v1beta1")) // another handle knows too
	if again != pages {
		t.Error("the handles differ")
	}
	ctx := t.Context()
	for what, err := range map[string]error{
		"get": drop(again.Get(ctx, key)),
		"modify": drop(again.Modify(ctx, key, func(p *page) error {
			p.Spec["a"] = "2"
			return nil
		})),
		"apply": drop(again.With(client.WriteOptions{FieldManager: "m"}).Apply(ctx, key, map[string]any{"spec": map[string]string{"b": "1"}}, client.ApplyOptions{})),
		"status": drop(again.Status().Modify(ctx, key, func(p *page) error {
			p.Status = map[string]string{"s": "1"}
			return nil
		})),
		"metadata": drop(client.Metadata(again).Get(ctx, key)),
		"patch":    drop(again.Patch(ctx, key, noChange)),
		"table":    drop(again.Table(ctx, client.ListOptions{}, client.TableOptions{})),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	list, err := again.List(ctx, client.ListOptions{})
	if err != nil || len(list.Items) != 1 || list.Items[0].APIVersion != "example.com/v1beta1" || list.Items[0].Spec["a"] != "2" || list.Items[0].Spec["b"] != "1" {
		t.Errorf("the list is %v, %v", list, err)
	}
	for event, err := range again.Watch(ctx, client.WatchOptions{}) {
		if err != nil || event.Object.Name != "a" {
			t.Errorf("the watch has %v, %v", event, err)
		}
		break
	}
	if _, err := again.Get(ctx, meta.Key{Namespace: "default", Name: "none"}); !errors.Is(err, apierrors.NotFound) || strings.Contains(err.Error(), "does not serve") {
		t.Error(err)
	}
	if got := asked(); strings.Contains(got, "v1/") || strings.Contains(got, "v1beta2/") || !strings.Contains(got, "GET v1beta1") {
		t.Errorf("it asked %s", got)
	}
	if err := again.Delete(ctx, key, client.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}

func TestEachVerbMayBeTheFirstInAnotherVersion(t *testing.T) {
	key := meta.Key{Namespace: "default", Name: "a"}
	for what, call := range map[string]func(ctx context.Context, c *client.Client, r client.Resource[*page]) error{
		"list": func(ctx context.Context, c *client.Client, r client.Resource[*page]) error {
			return drop(r.List(ctx, client.ListOptions{}))
		},
		"ensure": func(ctx context.Context, c *client.Client, r client.Resource[*page]) error {
			want := &page{ObjectMeta: key.ObjectMeta(), Spec: map[string]string{"a": "1"}}
			for i := range 2 {
				obj, did, err := r.Ensure(ctx, want, client.EnsureOptions{})
				if err != nil || obj.Spec["a"] != "1" || did.New != (i == 0) {
					return errors.Join(err, errors.New(did.String()))
				}
			}
			return nil
		},
		"apply": func(ctx context.Context, c *client.Client, r client.Resource[*page]) error {
			return drop(r.With(client.WriteOptions{FieldManager: "m"}).Apply(ctx, key, map[string]any{"spec": map[string]string{"b": "1"}}, client.ApplyOptions{}))
		},
		"watch": func(ctx context.Context, c *client.Client, r client.Resource[*page]) error {
			if err := drop(client.For(c, pagesIn("v1beta1")).Create(ctx, &page{ObjectMeta: key.ObjectMeta()})); err != nil {
				return err
			}
			for _, err := range r.Watch(ctx, client.WatchOptions{}) {
				return err
			}
			return errors.New("no event")
		},
		"get": func(ctx context.Context, c *client.Client, r client.Resource[*page]) error {
			if err := drop(r.Get(ctx, key)); !errors.Is(err, apierrors.NotFound) || strings.Contains(err.Error(), "does not serve") {
				return err
			}
			return nil
		},
		"table": func(ctx context.Context, c *client.Client, r client.Resource[*page]) error {
			return drop(r.Table(ctx, client.ListOptions{}, client.TableOptions{}))
		},
	} {
		c, asked := asking(t, "v1beta1")
		pages := client.For(c, pagesIn("v1", "v1beta1"))
		if err := call(t.Context(), c, pages); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if got := pages.Served().Version; got != "v1beta1" || strings.Count(asked(), " v1/") != 1 {
			t.Errorf("%s: the version is %s", what, got)
		}
	}
}

func TestAVersionThatIsServedStays(t *testing.T) {
	c, asked := asking(t, "v1")
	pages := client.For(c, pagesIn("v1", "v1beta1"))
	key := meta.Key{Namespace: "default", Name: "a"}
	if _, err := pages.Get(t.Context(), key); !errors.Is(err, apierrors.NotFound) {
		t.Error(err)
	}
	// No page has a scale: that is no reason to ask in another version.
	if err := drop(pages.Sub("scale").Get(t.Context(), key)); !errors.Is(err, apierrors.NotFound) {
		t.Error(err)
	}
	if got := asked(); strings.Contains(got, "v1beta1") {
		t.Errorf("it asked %s", got)
	}
	// A resource that the server has in none of the versions is an error about the first.
	none := client.For(c, client.Type[*page]{Group: "example.com", Version: "v2", Kind: "Widget", Resource: "widgets", Fallback: client.Versions("v1", "v0")})
	for range 2 {
		_, err := none.Get(t.Context(), key)
		if !errors.Is(err, apierrors.NotFound) || !strings.Contains(err.Error(), "does not serve widgets.example.com/v2") {
			t.Error(err)
		}
		if got := asked(); strings.Count(got, "GET") != 3 || none.Served().Version != "v2" {
			t.Errorf("it asked %s", got)
		}
	}
}

// The server is upgraded, and no longer has the version that was remembered.
func TestAVersionThatIsNoLongerServedIsReplaced(t *testing.T) {
	var served string
	c := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.URL.Path, "/"+served+"/") {
			http.Error(w, "404 page not found", http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"kind":"Page","apiVersion":"example.com/` + served + `","metadata":{"name":"a","namespace":"web","resourceVersion":"1"}}`))
	}))
	pages := client.For(c, pagesIn("v1", "v1beta1"))
	for _, served = range []string{"v1beta1", "v1", "v1beta1"} {
		got, err := pages.Get(t.Context(), web)
		if err != nil || got.APIVersion != "example.com/"+served || pages.Served().Version != served {
			t.Errorf("%s: %v, %v", served, got, err)
		}
	}
}

func TestFallbackNamesOtherVersions(t *testing.T) {
	c := connect(t, answers())
	for fallback, want := range map[string]string{
		"v1": `got "v1" twice`, "v2 v2": `got "v2" twice`, "v2 ": "a version of Fallback must not be empty", "a%": "one path segment", " ": "must not be empty",
	} {
		if err := drop(client.For(c, pagesIn("v1", strings.Split(fallback, " ")...)).Get(t.Context(), web)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want an error with %s", fallback, err, want)
		}
	}
}
