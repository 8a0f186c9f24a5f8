package discovery_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/discovery"
	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// forms runs a test against a server that knows aggregated discovery and one that does not.
func forms(t *testing.T, test func(t *testing.T, aggregated bool)) {
	t.Helper()
	for _, aggregated := range []bool{true, false} {
		name := map[bool]string{true: "aggregated", false: "the old form"}[aggregated]
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, aggregated) })
		})
	}
}

// behaviours 143 and 149: only what the question needs is asked for, and asked for once.
func TestAQuestionAsksForItsGroupAlone(t *testing.T) {
	forms(t, func(t *testing.T, aggregated bool) {
		r := newRig(t, discovery.Options{}, widgets("v1"))
		r.server.SetAggregated(aggregated)
		r.wantRequests(t, "") // New does no I/O
		got := must[discovery.Resource](t)(r.catalog.Resource(t.Context(), widget))
		if want := "widgets.example.dev/v1"; got.GVR().String() != want || got.Scope != meta.Namespaced || got.Singular != "widget" {
			t.Errorf("got %+v, want %s", got, want)
		}
		if status, ok := got.Subresource("status"); !ok || status.GVK != widget || !slices.Contains(status.Verbs, "patch") {
			t.Errorf("status is %+v, %t", status, ok)
		}
		if aggregated {
			r.wantRequests(t, "/apis")
		} else {
			r.wantRequests(t, "/apis, /apis/example.dev/v1")
		}
		must[discovery.Resource](t)(r.catalog.Resource(t.Context(), widget))
		r.wantRequests(t, "")
		must[discovery.Resource](t)(r.catalog.Resource(t.Context(), meta.GVK{Version: "v1", Kind: "Pod"}))
		if aggregated {
			r.wantRequests(t, "/api")
		} else {
			r.wantRequests(t, "/api, /api/v1")
		}
	})
}

// An answer is confirmed by its ETag when it is older than TTL.
func TestAnAnswerIsConfirmedByItsETag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, discovery.Options{}, widgets("v1"))
		ask := func() { must[discovery.Resource](t)(r.catalog.Resource(t.Context(), widget)) }
		ask()
		time.Sleep(59 * time.Second)
		ask()
		r.wantRequests(t, "/apis")
		time.Sleep(time.Second)
		ask()
		ask()
		r.wantRequests(t, "/apis 304")
		r.catalog.Invalidate()
		ask()
		r.wantRequests(t, "/apis 304")
	})
}

// behaviour 143: the parameters of the media type come in any order and among others.
func TestTheFormOfAnAnswer(t *testing.T) {
	const list = `"items":[{"metadata":{"name":"g"},"versions":[{"version":"v1","resources":[` +
		`{"resource":"things","responseKind":{"group":"g","version":"v1","kind":"Thing"},"scope":"Cluster"}]}]}]}`
	for _, test := range []struct{ name, contentType, body string }{
		{"usual order", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", "{" + list},
		{"another order", "application/json; as=APIGroupDiscoveryList; v=v2; g=apidiscovery.k8s.io", "{" + list},
		{"others too", "application/json;charset=utf-8;g=apidiscovery.k8s.io;profile=nopeer;v=v2;as=APIGroupDiscoveryList", "{" + list},
		{"the older version", "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList", "{" + list},
		{"in the body alone", "application/json", `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2",` + list},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, discovery.Options{})
				r.answer("/apis", test.contentType, test.body)
				got, err := r.catalog.Resource(t.Context(), meta.GVK{Group: "g", Version: "v1", Kind: "Thing"})
				if err != nil || got.Scope != meta.Cluster {
					t.Errorf("got %+v, %v", got, err)
				}
			})
		})
	}
}

// behaviour 144: what worked comes along with an error that names what did not, and a stale version is nobody's preferred one.
func TestAPartialFailure(t *testing.T) {
	forms(t, func(t *testing.T, aggregated bool) {
		gadgets := clienttest.Resource{Group: "example.dev", Version: "v1beta1", Kind: "Gadget", Resource: "gadgets"}
		r := newRig(t, discovery.Options{}, widgets("v1"), gadgets)
		r.server.SetAggregated(aggregated)
		r.server.SetStale("example.dev", "v1", true)
		got, err := r.catalog.Resources(t.Context(), "example.dev", "apps")
		var down *discovery.DownError
		if !errors.As(err, &down) || len(down.Failed) != 1 || down.Failed["example.dev/v1"] == nil {
			t.Fatalf("error is %v", err)
		}
		if got := names(got); !strings.HasPrefix(got, "controllerrevisions.apps/v1 ") || !strings.HasSuffix(got, " gadgets.example.dev/v1beta1") {
			t.Errorf("got %s, want the resources of apps and of the version that answers", got)
		}
		if aggregated {
			if want := `discover example.dev/v1: the server does not reach its extension server`; err.Error() != want {
				t.Errorf("error is %q, want %q", err, want)
			}
			if got := groupNames(t, t.Context(), r.catalog); !strings.Contains(got, "example.dev@v1beta1 v1! v1beta1") {
				t.Errorf("groups are %s", got)
			}
		}
		// Nothing can be said about a kind that may be there.
		_, err = r.catalog.Resource(t.Context(), widget)
		if !errors.As(err, &down) || len(down.Failed) != 1 || errors.Is(err, apierrors.NotFound) ||
			errors.As(err, new(*discovery.NoMatchError)) {
			t.Errorf("error is %v", err)
		}
		if want := `find the resource "Widget.example.dev/v1": group version example.dev/v1 is down: `; !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error is %q, want %q", err, want)
		}
		for name, call := range map[string]func() error{
			"Find in the group":    func() error { _, _, err := r.catalog.Find(t.Context(), "widgets.example.dev"); return err },
			"Find everywhere":      func() error { _, _, err := r.catalog.Find(t.Context(), "nothing"); return err },
			"a group's beginning":  func() error { _, _, err := r.catalog.Find(t.Context(), "widgets.example"); return err },
			"ResourceOf":           func() error { _, err := r.catalog.ResourceOf(t.Context(), widgets("v1").GVR()); return err },
			"the category nothing": func() error { _, err := r.catalog.Category(t.Context(), "nothing"); return err },
		} {
			if err := call(); !errors.As(err, &down) || errors.As(err, new(*discovery.NoMatchError)) || !strings.Contains(err.Error(), "example.dev/v1 is down") {
				t.Errorf("%s: error is %v", name, err)
			}
		}
		if has, err := r.catalog.Has(t.Context(), widget); has || err == nil {
			t.Errorf("Has says %t, %v", has, err)
		}
		// The groups beside it are not touched.
		must[discovery.Resource](t)(r.catalog.Resource(t.Context(), meta.GVK{Group: "apps", Kind: "Deployment"}))

		r.server.SetStale("example.dev", "v1", false)
		time.Sleep(10 * time.Second)
		must[discovery.Resource](t)(r.catalog.Resource(t.Context(), widget))
		must[[]discovery.Resource](t)(r.catalog.Resources(t.Context(), "example.dev"))
	})
}

// behaviour 151: what may pass is asked for again by the next call, and what would be the same only later.
func TestAFailureIsRememberedOnlyIfItWouldBeTheSame(t *testing.T) {
	for _, test := range []struct {
		name  string
		code  int
		again bool
		lasts time.Duration
	}{
		{name: "unavailable", code: 503, again: true},
		{name: "too many requests", code: 429, again: true},
		{name: "forbidden", code: 403, lasts: time.Minute},
		{name: "not found", code: 404, lasts: 10 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, discovery.Options{}, widgets("v1"))
				r.server.SetAggregated(false)
				const path = "/apis/example.dev/v1"
				r.server.Intercept(func(q *http.Request) http.HandlerFunc {
					if q.URL.Path == path {
						return clienttest.Answer(meta.Status{Code: test.code})
					}
					return nil
				})
				asked := func() bool {
					t.Helper()
					if _, err := r.catalog.Resources(t.Context(), "example.dev"); !errors.As(err, new(*discovery.DownError)) || errors.Is(err, apierrors.NotFound) {
						t.Fatalf("error is %v", err)
					}
					return strings.Contains(r.requests(), path)
				}
				if !asked() {
					t.Error("the first call did not ask")
				}
				// A group version that is gone since it was listed has no kinds.
				if _, err := r.catalog.Resource(t.Context(), widget); errors.Is(err, apierrors.NotFound) != (test.code == 404) ||
					errors.As(err, new(*discovery.NoMatchError)) != (test.code == 404) {
					t.Errorf("the kind: %v", err)
				}
				r.requests()
				if got := asked(); got != test.again {
					t.Errorf("the second call asks: %t, want %t", got, test.again)
				}
				if !test.again {
					time.Sleep(test.lasts - time.Second)
					if asked() {
						t.Error("it was asked for again too early")
					}
					time.Sleep(time.Second)
					if !asked() {
						t.Error("it is not asked for again")
					}
					r.catalog.Invalidate()
				}
				r.server.Intercept(nil)
				must[[]discovery.Resource](t)(r.catalog.Resources(t.Context(), "example.dev"))
			})
		})
	}
}

// behaviour 146.
func TestASubresourceWithoutAKindOrAParent(t *testing.T) {
	for _, test := range []struct{ name, path, contentType, body, more string }{
		{
			"aggregated", "/apis", "application/json",
			`{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[{"metadata":{"name":"g"},"versions":[` +
				`{"version":"v1","resources":[` +
				`{"resource":"absent","subresources":[{"subresource":"x","responseKind":{"group":"h","version":"v2","kind":"X"}}]},` +
				`{"resource":"empty","responseKind":{},"scope":"Namespaced","subresources":[{"subresource":"x","responseKind":{}},` +
				`{"subresource":"y","responseKind":null}]}]}]}]}`, "",
		},
		{
			"the old form", "/apis/g/v1", "application/json",
			`{"kind":"APIResourceList","groupVersion":"g/v1","resources":[` +
				`{"name":"absent/x","group":"h","version":"v2","kind":"X"},{"name":"empty/x","namespaced":true},{"name":"empty/y","namespaced":true},` +
				`{"name":"empty","namespaced":true}]}`,
			`{"kind":"APIGroupList","groups":[{"name":"g","versions":[{"version":"v1"}]}]}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, discovery.Options{})
				r.server.Intercept(func(q *http.Request) http.HandlerFunc {
					switch {
					case q.URL.Path == test.path:
						return jsonBody(test.body)
					case q.URL.Path == "/apis":
						return jsonBody(test.more)
					}
					return nil
				})
				got := must[[]discovery.Resource](t)(r.catalog.Resources(t.Context(), "g"))
				if names(got) != "absent.g/v1 empty.g/v1" {
					t.Fatalf("got %s", names(got))
				}
				if x, ok := got[0].Subresource("x"); !ok || x.GVK != (meta.GVK{Group: "h", Version: "v2", Kind: "X"}) || got[0].Kind != "" {
					t.Errorf("got %+v", got[0])
				}
				if y, ok := got[1].Subresource("y"); !ok || y.GVK != (meta.GVK{}) || len(got[1].Subresources) != 2 {
					t.Errorf("got %+v", got[1])
				}
				if _, err := find(t.Context(), r.catalog, "absent.g"); !errors.Is(err, apierrors.NotFound) {
					t.Errorf("a name with nothing but subresources: %v", err)
				}
			})
		})
	}
}

// behaviour 147: a server that says nothing does not hold the caller, and one that goes on is given the time that it needs.
func TestADiscoveryCallEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gadgets, sprockets := widgets("v1"), widgets("v1")
		gadgets.Resource, gadgets.Kind = "gadgets", "Gadget"
		sprockets.Resource, sprockets.Kind = "sprockets", "Sprocket"
		r := newRig(t, discovery.Options{}, widgets("v1"), gadgets, sprockets)
		r.server.Intercept(func(*http.Request) http.HandlerFunc { return clienttest.Hang() })
		start := time.Now()
		if _, err := r.catalog.Resources(t.Context()); apierrors.NetworkOf(err) != apierrors.NetworkTimeout || time.Since(start) > 2*time.Minute {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start = time.Now()
		if _, err := r.catalog.Resources(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		r.server.Intercept(func(*http.Request) http.HandlerFunc {
			return r.server.Drip(1, 10*time.Second)
		})
		start = time.Now()
		_, err := r.catalog.Resources(t.Context())
		if took := time.Since(start); took > 2*time.Minute || apierrors.NetworkOf(err) != apierrors.NetworkTimeout {
			t.Errorf("a server that drips, after %v: %v", took, err)
		}
		r.server.Intercept(func(*http.Request) http.HandlerFunc {
			return r.server.Drip(1100, 25*time.Second)
		})
		start = time.Now()
		must[discovery.Resource](t)(r.catalog.Resource(t.Context(), widget))
		if took := time.Since(start); took <= time.Minute {
			t.Errorf("it took %v, which is too short to show anything", took)
		}
	})
}

// behaviour 148: groups are in the server's order with the core group first, and the preferred version is always the same.
func TestTheOrderOfGroupsAndVersions(t *testing.T) {
	forms(t, func(t *testing.T, aggregated bool) {
		old := clienttest.Resource{Group: "example.dev", Version: "v1alpha1", Kind: "Old", Resource: "olds"}
		next := clienttest.Resource{Group: "example.dev", Version: "v2beta1", Kind: "Next", Resource: "nexts"}
		r := newRig(t, discovery.Options{}, old, next, widgets("v1"))
		r.server.SetAggregated(aggregated)
		for range 20 {
			got := groupNames(t, t.Context(), r.catalog)
			if !strings.HasPrefix(got, "@v1 v1, apiregistration.k8s.io@v1 v1, apps@v1 v1, ") || !strings.HasSuffix(got, ", example.dev@v1 v1 v2beta1 v1alpha1") {
				t.Fatalf("groups are %s", got)
			}
			rs := must[[]discovery.Resource](t)(r.catalog.Resources(t.Context(), "example.dev"))
			if names(rs) != "widgets.example.dev/v1 nexts.example.dev/v2beta1 olds.example.dev/v1alpha1" {
				t.Fatalf("resources are %s", names(rs))
			}
			r.catalog.Invalidate()
		}
	})
}

// A kind that only another version than the preferred one has is found there, and a preferred version that a server of the old
// form names counts before the order.
func TestThePreferredVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, discovery.Options{})
		lists := map[string]string{
			"/api": `{"kind":"APIVersions","versions":["v1"]}`, "/api/v1": `{"kind":"APIResourceList","resources":[]}`,
			"/apis": `{"kind":"APIGroupList","groups":[{"name":"g","versions":[{"version":"v2"},{"version":"v1"}],` +
				`"preferredVersion":{"groupVersion":"g/v1","version":"v1"}}]}`,
			"/apis/g/v1": `{"kind":"APIResourceList","resources":[{"name":"as","kind":"A"}]}`,
			"/apis/g/v2": `{"kind":"APIResourceList","resources":[{"name":"as","kind":"A"},{"name":"bs","kind":"B"}]}`,
		}
		r.server.Intercept(func(q *http.Request) http.HandlerFunc { return jsonBody(lists[q.URL.Path]) })
		if got := must[[]discovery.Resource](t)(r.catalog.Preferred(t.Context())); names(got) != "as.g/v1 bs.g/v2" {
			t.Errorf("preferred are %s", names(got))
		}
		for kind, want := range map[string]string{"A": "v1", "B": "v2"} {
			if got := must[discovery.Resource](t)(r.catalog.Resource(t.Context(), meta.GVK{Group: "g", Kind: kind})); got.Version != want {
				t.Errorf("%s is of %s, want %s", kind, got.Version, want)
			}
		}
		// While the preferred version cannot be asked, another is not taken in its place.
		r.catalog.Invalidate()
		r.server.Intercept(func(q *http.Request) http.HandlerFunc {
			if q.URL.Path == "/apis/g/v1" {
				return clienttest.Answer(meta.Status{Code: 503})
			}
			return jsonBody(lists[q.URL.Path])
		})
		for _, ask := range []func() (discovery.Resource, error){
			func() (discovery.Resource, error) {
				return r.catalog.Resource(t.Context(), meta.GVK{Group: "g", Kind: "A"})
			},
			func() (discovery.Resource, error) {
				return find(t.Context(), r.catalog, "as")
			},
			func() (discovery.Resource, error) {
				return find(t.Context(), r.catalog, "a.g")
			},
		} {
			if got, err := ask(); !errors.As(err, new(*discovery.DownError)) {
				t.Errorf("got %v, %v", got, err)
			}
		}
		must[discovery.Resource](t)(find(t.Context(), r.catalog, "as.v2.g"))
		// If it is not there after all, the other is right.
		r.catalog.Invalidate()
		r.server.Intercept(func(q *http.Request) http.HandlerFunc {
			if q.URL.Path == "/apis/g/v1" {
				return http.NotFound
			}
			return jsonBody(lists[q.URL.Path])
		})
		if got := must[discovery.Resource](t)(find(t.Context(), r.catalog, "as")); got.Version != "v2" {
			t.Errorf("got %s", got.GVR())
		}
	})
}

// A version that is worse than the one that has the kind has no say: its failure made the kind unknown.
func TestAFailedVersionOfLowerPriorityIsIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, discovery.Options{})
		r.server.Intercept(func(q *http.Request) http.HandlerFunc {
			switch q.URL.Path {
			case "/apis":
				return jsonBody(`{"kind":"APIGroupList","groups":[{"name":"g","versions":[{"version":"v1"},{"version":"v2"},{"version":".."}]}]}`)
			case "/apis/g/v1":
				return jsonBody(`{"kind":"APIResourceList","resources":[{"name":"as","kind":"A"}]}`)
			case "/apis/g/v2":
				return clienttest.Answer(meta.Status{Code: 503})
			}
			return nil
		})
		must[discovery.Resource](t)(r.catalog.Resource(t.Context(), meta.GVK{Group: "g", Kind: "A"}))
		must[discovery.Resource](t)(r.catalog.Resource(t.Context(), meta.GVK{Group: "g", Version: "v1", Kind: "A"}))
		must[discovery.Resource](t)(r.catalog.ResourceOf(t.Context(), meta.GVR{Group: "g", Resource: "as"}))
		must[discovery.Resource](t)(find(t.Context(), r.catalog, "as"))
		if _, err := r.catalog.Resource(t.Context(), meta.GVK{Group: "g", Kind: "B"}); !errors.As(err, new(*discovery.DownError)) {
			t.Errorf("a kind that the silent version may have: %v", err)
		}
	})
}

// behaviour 149: what comes and goes is seen without a restart, and what is missing does not make a storm.
func TestResourcesThatComeAndGo(t *testing.T) {
	forms(t, func(t *testing.T, aggregated bool) {
		r := newRig(t, discovery.Options{})
		r.server.SetAggregated(aggregated)
		missing := func() bool {
			t.Helper()
			_, err := r.catalog.Resource(t.Context(), widget)
			if err != nil && !errors.Is(err, apierrors.NotFound) {
				t.Fatal(err)
			}
			return err != nil
		}
		for range 1000 {
			if !missing() {
				t.Fatal("a kind that is not there was found")
			}
		}
		r.wantRequests(t, "/apis")
		if err := r.server.Register(widgets("v1")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		if missing() {
			t.Error("10 s after it came, it was not found")
		}
		r.requests()

		// It changes its version.
		if err := r.server.Unregister(widgets("v1").GVR()); err != nil {
			t.Fatal(err)
		}
		if err := r.server.Register(widgets("v2")); err != nil {
			t.Fatal(err)
		}
		v2 := must[discovery.Resource](t)(r.catalog.Resource(t.Context(), meta.GVK{Group: "example.dev", Version: "v1", Kind: "Widget"}))
		if v2.Version != "v1" { // not known yet
			t.Errorf("got %+v", v2)
		}
		time.Sleep(time.Minute)
		if !missing() {
			t.Error("a minute after its version went away, it is there")
		}
		got := must[discovery.Resource](t)(r.catalog.Resource(t.Context(), meta.GVK{Group: "example.dev", Kind: "Widget"}))
		if got.Version != "v2" {
			t.Errorf("got %+v", got)
		}
		if err := r.server.Unregister(widgets("v2").GVR()); err != nil {
			t.Fatal(err)
		}
		r.catalog.Invalidate()
		for _, gvk := range []meta.GVK{{Group: "example.dev", Version: "v2", Kind: "Widget"}, {Group: "example.dev", Version: "v2"}, {Group: "example.dev"}} {
			if has, err := r.catalog.Has(t.Context(), gvk); has || err != nil {
				t.Errorf("Has(%v) is %t, %v", gvk, has, err)
			}
		}
	})
}

func TestHas(t *testing.T) {
	forms(t, func(t *testing.T, aggregated bool) {
		r := newRig(t, discovery.Options{}, widgets("v1"))
		r.server.SetAggregated(aggregated)
		for gvk, want := range map[meta.GVK]bool{
			widget: true, {Group: "example.dev", Version: "v1"}: true, {Group: "example.dev"}: true, {Group: "apps", Kind: "Deployment"}: true,
			{Version: "v1", Kind: "Pod"}: true, {}: true, {Group: "example.dev", Version: "v2"}: false, {Group: "apps", Kind: "Pod"}: false,
			{Group: "example"}: false, {Group: "example.dev", Version: "v2", Kind: "Widget"}: false,
		} {
			if got, err := r.catalog.Has(t.Context(), gvk); got != want || err != nil {
				t.Errorf("Has(%q) is %t, %v", gvk, got, err)
			}
		}
	})
}

// Many callers make one request; each leaves by its own context, and none is lost when the one that asks leaves.
func TestManyCallersMakeOneRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, discovery.Options{}, widgets("v1"))
		release := make(chan struct{})
		r.server.Intercept(func(q *http.Request) http.HandlerFunc {
			select {
			case <-release:
			case <-q.Context().Done():
			}
			return nil
		})
		first, leave := context.WithCancelCause(t.Context())
		impatient, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var wg sync.WaitGroup
		ask := func(ctx context.Context, want error) {
			wg.Go(func() {
				if _, err := r.catalog.Resource(ctx, widget); !errors.Is(err, want) {
					t.Errorf("error is %v, want %v", err, want)
				}
			})
			synctest.Wait()
		}
		gone := errors.New("gone for lunch")
		ask(first, gone)
		ask(impatient, context.DeadlineExceeded)
		for range 50 {
			ask(t.Context(), nil)
		}
		time.Sleep(2 * time.Second)
		leave(gone)
		synctest.Wait()
		close(release)
		wg.Wait()
		r.wantRequests(t, "/apis, /apis") // that of the one that left, and one for all others
	})
}

// What a request brings that began before Invalidate is for those who called before it.
func TestInvalidateIsNotUndoneByARequestUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, discovery.Options{})
		arrived, release := make(chan struct{}), make(chan struct{})
		r.server.Intercept(func(q *http.Request) http.HandlerFunc {
			if q.URL.Path == "/api" {
				return nil
			}
			return func(w http.ResponseWriter, _ *http.Request) {
				r.server.Intercept(nil)
				close(arrived)
				answer := "{\"kind\":\"APIGroupList\",\"groups\":[]}" // of before
				<-release
				_, _ = w.Write([]byte(answer))
			}
		})
		done := make(chan int)
		go func() {
			groups, err := discovery.GroupsOf(t.Context(), r.catalog)
			if err != nil {
				t.Error(err)
			}
			done <- len(groups)
		}()
		<-arrived
		if err := r.server.Register(widgets("v1")); err != nil {
			t.Fatal(err)
		}
		r.catalog.Invalidate()
		must[discovery.Resource](t)(r.catalog.Resource(t.Context(), widget))
		close(release)
		if groups := <-done; groups > 1 {
			t.Errorf("the earlier call got %d groups, want those of before", groups)
		}
		must[discovery.Resource](t)(r.catalog.Resource(t.Context(), widget))
	})
}

// What is returned is the caller's: changing it changes nothing for others.
func TestAReturnedResourceIsACopy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, discovery.Options{}, widgets("v1"))
		got := must[discovery.Resource](t)(r.catalog.Resource(t.Context(), widget))
		got.Verbs[0], got.ShortNames[0], got.Subresources[0].Verbs[0], got.Subresources[0].Name = "x", "x", "x", "x"
		again := must[discovery.Resource](t)(r.catalog.Resource(t.Context(), widget))
		if status, _ := again.Subresource("status"); !again.Can("create") || again.ShortNames[0] != "wd" || status.Verbs[0] != "get" {
			t.Errorf("got %+v", again)
		}
		all := must[[]discovery.Resource](t)(r.catalog.Resources(t.Context()))
		if all[0].Group != "" || len(all) < 10 {
			t.Errorf("got %s", names(all))
		}
	})
}

func TestAServerWithoutACoreGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, discovery.Options{}, widgets("v1"))
		r.server.Intercept(func(q *http.Request) http.HandlerFunc {
			if q.URL.Path == "/api" {
				return http.NotFound
			}
			return nil
		})
		if got := must[discovery.Resource](t)(find(t.Context(), r.catalog, "wd")); got.Kind != "Widget" {
			t.Errorf("got %+v", got)
		}
	})
}

// What a cluster with many resources costs: one request for a kind, and one more for a name.
func TestManyResources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, discovery.Options{})
		for i := range 2000 {
			if err := r.server.Register(clienttest.Resource{
				Group: fmt.Sprintf("g%d.example.dev", i), Version: "v1", Kind: "Thing", Resource: "things", ShortNames: []string{fmt.Sprintf("t%d", i)},
			}); err != nil {
				t.Fatal(err)
			}
		}
		r.wantRequests(t, "")
		must[discovery.Resource](t)(r.catalog.Resource(t.Context(), meta.GVK{Group: "g1999.example.dev", Version: "v1", Kind: "Thing"}))
		r.wantRequests(t, "/apis")
		must[discovery.Resource](t)(find(t.Context(), r.catalog, "t1234"))
		r.wantRequests(t, "/api")
	})
}
