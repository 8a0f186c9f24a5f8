package clienttest_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/internal/memnet"
)

func TestRun(t *testing.T) {
	t.Run("ends without an error when its context does, and then nothing answers", func(t *testing.T) {
		s := clienttest.New(clienttest.Options{})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- s.Run(ctx) }()
		client := &http.Client{Transport: &http.Transport{DialContext: s.Config().Dial}}
		resp, err := client.Get(s.Config().Server + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		cancel()
		if err := <-done; err != nil {
			t.Errorf("got %v", err)
		}
		if _, err := client.Get(s.Config().Server + "/readyz"); err == nil {
			t.Error("the server still answers")
		}
		if err := s.Run(t.Context()); err == nil {
			t.Error("a second run: no error")
		}
	})
	t.Run("returns why it cannot listen any more", func(t *testing.T) {
		l := memnet.Listen()
		s := clienttest.New(clienttest.Options{Listener: l})
		l.Close()
		if err := s.Run(t.Context()); !errors.Is(err, net.ErrClosed) {
			t.Errorf("got %v, want net.ErrClosed", err)
		}
	})
	t.Run("says what is wrong with the options", func(t *testing.T) {
		s := clienttest.New(clienttest.Options{
			HistoryAge: -1, BookmarkEvery: -1, Replicas: -1, StreamingLists: 9,
			Resources: []clienttest.Resource{
				{Version: "v1", Kind: "Pod", Resource: "pods"},
				{Version: "v1/x", Kind: "X"},
				{Version: "v1", Kind: "Y", Resource: "ys", SelectableFields: []string{"metadata.name"}},
			},
		})
		err := s.Run(t.Context())
		for _, want := range []string{
			"HistoryAge must not be negative, got -1ns", "BookmarkEvery must not be negative, got -1ns", "Replicas must not be negative, got -1",
			"StreamingLists must be StreamingServed, StreamingRefused, StreamingIgnored or StreamingEndless, got 9", `"pods": pods.v1 is registered already`, `Version must be one path segment`,
			"Resource must not be empty", "SelectableFields must be paths outside of metadata",
		} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want it to say %s", err, want)
			}
		}
	})
}

// A real server refuses a CustomResourceDefinition with such a name, so a test with it proved nothing.
func TestNamesOfResourcesAreThoseOfACustomResourceDefinition(t *testing.T) {
	const rule = ` must be a DNS label, as in a CustomResourceDefinition, got "`
	long := strings.Repeat("a", 63)
	for _, test := range []struct {
		version, kind, resource string
		want                    string // empty means that it is accepted
	}{
		{"v1", "Widget", "Widgets", "Resource" + rule + `Widgets"`},
		{"v1", "Widget", "widGets", "Resource" + rule},
		{"v1", "Widget", "wid_gets", "Resource" + rule},
		{"v1", "Widget", "wid.gets", "Resource" + rule},
		{"v1", "Widget", "1widgets", "Resource" + rule},
		{"v1", "Widget", "-widgets", "Resource" + rule},
		{"v1", "Widget", "widgets-", "Resource" + rule},
		{"v1", "Widget", long + "a", "Resource" + rule},
		{"V1", "Widget", "widgets", "Version" + rule + `V1"`},
		{"1", "Widget", "widgets", "Version" + rule},
		{"v1", "Wid get", "widgets", "Kind" + rule + `Wid get"`},
		{"v1", "Ä", "widgets", "Kind" + rule},
		{"v1", "WidgetX1", "wid-gets2", ""},
		{"v1beta1", "W", "w", ""},
		{"v1", long, long, ""},
	} {
		server := clienttest.New(clienttest.Options{})
		err := server.Register(clienttest.Resource{Group: "example.com", Version: test.version, Kind: test.kind, Resource: test.resource})
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s %s %s: %v", test.version, test.kind, test.resource, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s %s %s: got %v, want it to say %s", test.version, test.kind, test.resource, err, test.want)
		}
	}
}

func TestARequestBeforeRunWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := clienttest.New(clienttest.Options{})
		transport := &http.Transport{DialContext: s.Config().Dial}
		answered := make(chan int)
		go func() {
			resp, err := (&http.Client{Transport: transport}).Get(s.Config().Server + "/readyz")
			if err != nil {
				t.Error(err)
				answered <- 0
				return
			}
			resp.Body.Close()
			answered <- resp.StatusCode
		}()
		<-time.After(time.Hour)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- s.Run(ctx) }()
		if code := <-answered; code != 200 {
			t.Errorf("got %d", code)
		}
		cancel()
		<-done
	})
}

// TestNothingIsLeftRunning ends a server under load: watches that are read and one that is not, a handler that hangs,
// idle connections and one on which nothing was sent. The bubble fails the test if a goroutine is left.
func TestNothingIsLeftRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := clienttest.New(clienttest.Options{})
		s.Intercept(func(r *http.Request) http.HandlerFunc {
			if r.URL.Path == "/hang" {
				return clienttest.Hang()
			}
			return nil
		})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- s.Run(ctx) }()
		transport := &http.Transport{DialContext: s.Config().Dial}
		h := &harness{server: s, client: &http.Client{Transport: transport}, base: s.Config().Server}

		h.create(t, "big", `"annotations":{"a":"`+strings.Repeat("x", 100_000)+`"}`)
		silent, err := s.Config().Dial(t.Context(), "tcp", strings.TrimPrefix(s.Config().Server, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		hung := make(chan error)
		go func() {
			_, err := h.client.Get(h.base + "/hang")
			hung <- err
		}()
		unread := h.watch(t, configMaps)
		ended := make(chan error)
		events := 0
		read := h.watch(t, configMaps)
		go func() {
			all, err := read.rest()
			events = len(all)
			ended <- err
		}()
		for range 4 { // more than the connection's buffer holds
			h.must(t, http.MethodPatch, configMaps+"/big", `{"metadata":{"annotations":{"a":"`+strings.Repeat("y", 100_000)+`"}}}`)
			h.must(t, http.MethodPatch, configMaps+"/big", `{"metadata":{"annotations":{"a":"`+strings.Repeat("z", 100_000)+`"}}}`)
		}
		synctest.Wait()
		cancel()
		start := time.Now()
		if err := <-ended; err != nil || events != 9 {
			t.Errorf("the watch that is read ends with %d events and %v, want 9 and a clean end", events, err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("the server took %s to end", took)
		}
		if err := <-hung; err == nil {
			t.Error("the hanging request got an answer")
		}
		if _, err := unread.rest(); err == nil {
			t.Error("the watch that was not read ended cleanly")
		}
		if n, err := silent.Read(make([]byte, 1)); err == nil {
			t.Errorf("the silent connection is still open: read %d", n)
		}
		silent.Close()
		transport.CloseIdleConnections()
	})
}

// A request that is being handled when the server ends gets its whole answer.
func TestRequestsUnderWayAreAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := clienttest.New(clienttest.Options{})
		h := &harness{server: s, client: &http.Client{Transport: &http.Transport{DialContext: s.Config().Dial}}, base: s.Config().Server}
		handled, release := make(chan struct{}), make(chan struct{})
		s.Intercept(func(*http.Request) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				handled <- struct{}{}
				<-release
				s.ServeHTTP(w, r)
			}
		})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- s.Run(ctx) }()
		const requests = 20
		answers := make(chan answer)
		for i := range requests {
			go func() {
				answers <- h.do(t, http.MethodPost, configMaps, `{"metadata":{"name":"`+strings.Repeat("a", i+1)+`"}}`)
			}()
		}
		for range requests {
			<-handled
		}
		cancel()
		synctest.Wait()
		close(release)
		for range requests {
			if a := <-answers; a.code != 201 {
				t.Errorf("got %d %s", a.code, a.body)
			}
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestASocketWorks is the same server on a real one.
func TestASocketWorks(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	t.Run("serve", func(t *testing.T) {
		h := newHarness(t, clienttest.Options{Listener: l})
		h.create(t, "a")
		w := h.watch(t, configMaps)
		if got := w.next(t).brief(); got != "ADDED a" {
			t.Errorf("got %s", got)
		}
		if h.server.DropWatches() != 1 {
			t.Error("no watch was dropped")
		}
		if _, err := w.rest(); err == nil {
			t.Error("the watch ended cleanly")
		}
	})
	for runtime.NumGoroutine() > before {
		runtime.Gosched() // the transport's goroutines see the end a moment later
	}
}

func TestToken(t *testing.T) {
	h := newHarness(t, clienttest.Options{Token: "secret"})
	if got := h.server.Config().BearerToken; got != "secret" {
		t.Errorf("the configuration has the token %q", got)
	}
	h.must(t, http.MethodGet, configMaps, "")
	for _, header := range []string{"", "Bearer wrong", "Bearer secret2", "secret"} {
		a := h.do(t, http.MethodGet, configMaps, "", "Authorization", header)
		want := `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Unauthorized",` +
			`"reason":"Unauthorized","code":401}` + "\n"
		if a.code != 401 || a.body != want {
			t.Errorf("%q: got %d %s, want 401 %s", header, a.code, a.body, want)
		}
	}
}

// recorder is a TB that notes what it is told.
type recorder struct {
	failed   bool
	cleanups []func()
}

func (*recorder) Helper()                 {}
func (r *recorder) Cleanup(f func())      { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Errorf(string, ...any) { r.failed = true }
func (r *recorder) Fatalf(string, ...any) { r.failed = true; runtime.Goexit() }

func TestStart(t *testing.T) {
	start := func(o clienttest.Options) (*recorder, *clienttest.Server) {
		r := &recorder{}
		var s *clienttest.Server
		done := make(chan struct{})
		go func() {
			defer close(done)
			s = clienttest.Start(r, o)
		}()
		<-done
		return r, s
	}
	t.Run("fails the test at once when the options are wrong", func(t *testing.T) {
		if r, s := start(clienttest.Options{HistoryAge: -1}); !r.failed || s != nil {
			t.Errorf("got failed = %v, server %v", r.failed, s)
		}
	})
	t.Run("fails the test in the end when the server failed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			l := memnet.Listen()
			r, _ := start(clienttest.Options{Listener: l})
			l.Close()
			synctest.Wait()
			for _, f := range r.cleanups {
				f()
			}
			if !r.failed {
				t.Error("the test did not fail")
			}
		})
	})
}

func TestRequestOf(t *testing.T) {
	for _, test := range []struct{ request, want string }{
		{"GET /api/v1/pods", "list pods.v1 /"},
		{"HEAD /api/v1/pods", "list pods.v1 /"},
		{"GET /api/v1/pods?watch=true", "watch pods.v1 /"},
		{"GET /api/v1/pods?watch=1", "watch pods.v1 /"},
		{"GET /api/v1/pods?watch", "watch pods.v1 /"},
		{"GET /api/v1/pods?watch=false", "list pods.v1 /"},
		{"GET /api/v1/pods?watch=0", "list pods.v1 /"},
		{"GET /api/v1/namespaces", "list namespaces.v1 /"},
		{"GET /api/v1/namespaces/web", "get namespaces.v1 /web"},
		{"PUT /api/v1/namespaces/web/status", "update namespaces.v1 /web status"},
		{"POST /apis/apps/v1/namespaces/web/deployments", "create deployments.apps/v1 web/"},
		{"PATCH /apis/apps/v1/namespaces/web/deployments/d/status", "patch deployments.apps/v1 web/d status"},
		{"DELETE /apis/apps/v1/namespaces/web/deployments/d", "delete deployments.apps/v1 web/d"},
		{"DELETE /apis/apps/v1/namespaces/web/deployments", "deletecollection deployments.apps/v1 web/"},
		{"GET /apis/apps/v1/namespaces/web/status/x", "get status.apps/v1 web/x"},
		{"GET /api/v1/namespaces/web/status", "get namespaces.v1 /web status"},
		{"GET /apis", "get"},
		{"GET /apis/apps/v1", "get"},
		{"OPTIONS /version", "options"},
	} {
		method, url, _ := strings.Cut(test.request, " ")
		r, err := http.NewRequest(method, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		q := clienttest.RequestOf(r)
		got := q.Verb
		if q.Resource.Resource != "" {
			got += " " + q.Resource.String() + " " + q.Key.Namespace + "/" + q.Key.Name
		}
		if q.Subresource != "" {
			got += " " + q.Subresource
		}
		if got != test.want {
			t.Errorf("%s: got %q, want %q", test.request, got, test.want)
		}
	}
}

func TestRequestsAreCounted(t *testing.T) {
	h := newHarness(t, clienttest.Options{})
	h.create(t, "a")
	h.must(t, http.MethodGet, configMaps, "")
	h.must(t, http.MethodGet, configMaps, "")
	h.do(t, http.MethodGet, configMaps+"/nope", "")
	h.server.Intercept(func(*http.Request) http.HandlerFunc { return clienttest.TooManyRequests(0) })
	h.do(t, http.MethodGet, configMaps+"/a", "")
	h.do(t, http.MethodGet, "/readyz", "")
	got := h.server.Requests()
	for call, want := range map[clienttest.Call]int{
		{Verb: "create", Resource: "configmaps"}: 1,
		{Verb: "list", Resource: "configmaps"}:   2,
		{Verb: "get", Resource: "configmaps"}:    2,
		{Verb: "get"}:                            1,
		{Verb: "watch", Resource: "configmaps"}:  0,
	} {
		if got[call] != want {
			t.Errorf("%v: got %d, want %d", call, got[call], want)
		}
	}
}

func TestLargeAnswersAreCompressed(t *testing.T) {
	h := newHarness(t, clienttest.Options{})
	big := strings.Repeat("text ", 40_000)
	h.must(t, http.MethodPost, configMaps, `{"metadata":{"name":"big"},"data":{"a":"`+big+`"}}`)
	h.create(t, "small")
	for _, test := range []struct {
		path, accept string
		want         bool
	}{
		{"/big", "gzip", true},
		{"", "gzip", true},
		{"", "deflate, gzip;q=1.0", true},
		{"/big", "identity", false},
		{"/small", "gzip", false},
	} {
		resp := h.open(t, http.MethodGet, configMaps+test.path, "", "Accept-Encoding", test.accept)
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		if got := resp.Header.Get("Content-Encoding") == "gzip"; got != test.want || got && len(b) > 20_000 {
			t.Errorf("%q accepting %q: compressed = %v, %d bytes", test.path, test.accept, got, len(b))
		}
	}
	// net/http asks for gzip by itself, and takes it away again.
	if got := h.must(t, http.MethodGet, configMaps+"/big", ""); at(got, "data", "a") != big {
		t.Error("the object is not the same after compression")
	}
}

func TestASchemaThatNoDefinitionCanHaveIsRefused(t *testing.T) {
	h := newHarness(t, clienttest.Options{})
	for schema, want := range map[string]string{
		`[`:                 `the Schema must be the openAPIV3Schema of a CustomResourceDefinition: unexpected end of JSON input`,
		`{"type":"string"}`: `the Schema must be of type object, got "string"`,
		`{"type":"object","properties":{"a":{"$ref":"#/b"}}}`:                              `Schema.a.$ref must not be set`,
		`{"type":"object","properties":{"a":null}}`:                                        `Schema.a must be an object`,
		`{"type":"object","properties":{"a":{}},"additionalProperties":{"type":"string"}}`: `Schema.additionalProperties must not be set beside properties`,
		`{"type":"object","additionalProperties":{"x-kubernetes-map-type":"whole"}}`:       `Schema.additionalProperties.x-kubernetes-map-type must be atomic or granular, got "whole"`,
		`{"type":"object","properties":{"a":{"items":{"x-kubernetes-list-type":"bag"}}}}`:  `Schema.a.items.x-kubernetes-list-type must be atomic, set or map, got "bag"`,
		`{"type":"object","properties":{"a":{"x-kubernetes-list-type":"map"}}}`:            `Schema.a.x-kubernetes-list-map-keys must be set if, and only if, x-kubernetes-list-type is map`,
		`{"type":"object","properties":{"a":{"x-kubernetes-list-map-keys":["name"]}}}`:     `Schema.a.x-kubernetes-list-map-keys must be set if, and only if, x-kubernetes-list-type is map`,
	} {
		r := widgets()
		r.Schema = json.RawMessage(schema)
		err := h.server.Register(r)
		if want = `clienttest.Resource "widgets": ` + want; err == nil || err.Error() != want {
			t.Errorf("%s: error is %v, want %s", schema, err, want)
		}
	}
}
