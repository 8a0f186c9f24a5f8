package clienttest_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
)

// fault F2: watches are cut within a frame.
func TestDropWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, clienttest.Options{})
		h.create(t, "a")
		var streams []*stream
		for range 3 {
			streams = append(streams, h.watch(t, configMaps))
		}
		synctest.Wait()
		if n := h.server.DropWatches(); n != 3 {
			t.Errorf("dropped %d watches, want 3", n)
		}
		h.create(t, "b")
		for _, s := range streams {
			events, err := s.rest()
			if fmt.Sprint(briefs(events)) != "[ADDED a]" || !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("got %v, %v", briefs(events), err)
			}
		}
		if n := h.server.DropWatches(); n != 0 {
			t.Errorf("dropped %d watches again", n)
		}
		// What comes after is not disturbed, on whatever connection.
		w := h.watch(t, configMaps+"?resourceVersion=4")
		<-time.After(time.Minute)
		h.create(t, "c")
		if got := fmt.Sprint(w.next(t).brief(), ", ", w.next(t).brief()); got != "ADDED b, ADDED c" {
			t.Errorf("got %s", got)
		}
	})
}

func TestDropWatchesCutsOneThatIsNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, clienttest.Options{})
		big := strings.Repeat("x", 200_000)
		for i := range 5 {
			h.must(t, http.MethodPost, configMaps, fmt.Sprintf(`{"metadata":{"name":"a%d"},"data":{"k":"%s"}}`, i, big))
		}
		w := h.watch(t, configMaps)
		synctest.Wait()
		start := time.Now()
		if n := h.server.DropWatches(); n != 1 || time.Since(start) > time.Second {
			t.Errorf("dropped %d watches in %s", n, time.Since(start))
		}
		if _, err := w.rest(); err == nil {
			t.Error("the watch ended cleanly")
		}
	})
}

func TestIntercept(t *testing.T) {
	h := newHarness(t, clienttest.Options{})
	h.create(t, "a")
	get := func() int { return h.do(t, http.MethodGet, configMaps+"/a", "").code }
	h.server.Intercept(func(r *http.Request) http.HandlerFunc {
		if q := clienttest.RequestOf(r); q.Verb != "get" || q.Key != (meta.Key{Namespace: "default", Name: "a"}) {
			return nil
		}
		return clienttest.Answer(meta.Status{Code: 503, Reason: "ServiceUnavailable", Message: "come back later"})
	})
	if code := get(); code != 503 {
		t.Errorf("got %d, want 503", code)
	}
	h.must(t, http.MethodGet, configMaps, "") // not meant
	h.server.Intercept(func(*http.Request) http.HandlerFunc { return clienttest.TooManyRequests(0) })
	if code := get(); code != 429 {
		t.Errorf("after it was replaced: got %d, want 429", code)
	}
	h.server.Intercept(nil)
	if code := get(); code != 200 {
		t.Errorf("after it was taken away: got %d, want 200", code)
	}
}

func TestAnswers(t *testing.T) {
	h := newHarness(t, clienttest.Options{})
	h.create(t, "a")
	const path = "/api/v1/namespaces/default/configmaps/a"
	for _, test := range []struct {
		name    string
		handler http.HandlerFunc
		code    int
		header  string // Retry-After
		body    string
	}{
		{
			"any Status", clienttest.Answer(meta.Status{Code: 500, Reason: "InternalError", Message: "broken"}), 500, "",
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"broken","reason":"InternalError","code":500}`,
		},
		{
			// fault F7: Retry-After is in the header and in the body.
			"429 with a time to wait", clienttest.TooManyRequests(1500 * time.Millisecond), 429, "2",
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Too many requests, please try again later.",` +
				`"reason":"TooManyRequests","details":{"retryAfterSeconds":2},"code":429}`,
		},
		{
			"429 without", clienttest.TooManyRequests(0), 429, "",
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Too many requests, please try again later.",` +
				`"reason":"TooManyRequests","details":{},"code":429}`,
		},
		{
			"a conflict", clienttest.Conflict(), 409, "",
			`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Operation cannot be fulfilled on configmaps \"a\": ` +
				`the object has been modified; please apply your changes to the latest version and try again","reason":"Conflict",` +
				`"details":{"name":"a","kind":"configmaps"},"code":409}`,
		},
	} {
		h.server.Intercept(func(*http.Request) http.HandlerFunc { return test.handler })
		a := h.do(t, http.MethodPut, path, `{}`)
		if a.code != test.code || a.header.Get("Retry-After") != test.header || a.body != test.body+"\n" {
			t.Errorf("%s: got %d, Retry-After %q, %s, want %d, %q, %s", test.name, a.code, a.header.Get("Retry-After"), a.body,
				test.code, test.header, test.body)
		}
	}
}

// faults F1 and F23: a body is cut at any byte, also a compressed one.
func TestCutBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHarness(t, clienttest.Options{})
		h.create(t, "a", `"annotations":{"a":"`+strings.Repeat("text ", 50_000)+`"}`)
		h.create(t, "b")
		for _, test := range []struct {
			path, encoding string
			cut            int
		}{
			{configMaps, "identity", 0},
			{configMaps, "identity", 1},
			{configMaps, "identity", 100},
			{configMaps, "identity", 200_000},
			{configMaps, "gzip", 20},
			{configMaps + "/b", "identity", 10},
			{configMaps + "?watch=true&timeoutSeconds=1", "identity", 250_500},
		} {
			h.server.Intercept(func(*http.Request) http.HandlerFunc { return h.server.CutBody(test.cut) })
			resp := h.open(t, http.MethodGet, test.path, "", "Accept-Encoding", test.encoding)
			got, err := io.ReadAll(resp.Body)
			if resp.StatusCode != 200 || len(got) != test.cut || !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%s cut after %d: got %d, %d bytes, %v", test.path, test.cut, resp.StatusCode, len(got), err)
			}
		}
		h.server.Intercept(func(*http.Request) http.HandlerFunc { return h.server.CutBody(1 << 20) })
		if got := names(t, h.must(t, http.MethodGet, configMaps, "")); len(got) != 2 {
			t.Errorf("a body that is shorter than the cut: got %v", got)
		}
	})
}

func TestReset(t *testing.T) {
	check := func(t *testing.T, o clienttest.Options) {
		h := newHarness(t, o)
		h.must(t, http.MethodGet, "/readyz", "")
		h.server.Intercept(func(*http.Request) http.HandlerFunc { return clienttest.Reset() })
		// A POST, because the client would send a GET again by itself.
		resp, err := h.client.Post(h.base+configMaps, "application/json", strings.NewReader(`{}`))
		if err == nil {
			resp.Body.Close()
		}
		if !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("got %v, want ECONNRESET", err)
		}
		h.server.Intercept(nil)
		h.must(t, http.MethodGet, "/readyz", "")
	}
	t.Run("in memory", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { check(t, clienttest.Options{}) })
	})
	t.Run("on a socket", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		check(t, clienttest.Options{Listener: l})
	})
}

func TestServeHTTPAddsToTheUsualAnswer(t *testing.T) {
	h := newHarness(t, clienttest.Options{})
	h.server.Intercept(func(*http.Request) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Add("Warning", `299 - "old"`)
			h.server.ServeHTTP(w, r)
		}
	})
	if a := h.do(t, http.MethodGet, configMaps, ""); a.code != 200 || a.header.Get("Warning") != `299 - "old"` || at(a.body, "kind") != "ConfigMapList" {
		t.Errorf("got %d %v %s", a.code, a.header, a.body)
	}
}
