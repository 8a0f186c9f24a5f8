package debug_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/informer/debug"
)

func TestEveryAnswerHasSafeHeaders(t *testing.T) {
	page := newPage(t, debug.Options{Allow: func(r *http.Request) error {
		if r.URL.Query().Has("q") {
			return errors.New("not you")
		}
		return nil
	}})
	for _, test := range []struct {
		method, address string
		code            int
	}{
		{"GET", "/", 200},
		{"GET", "/?events", 200},
		{"GET", "/?asset=page.js", 200},
		{"HEAD", "/?stream", 200},
		{"GET", "/?cache=x", 404},
		{"GET", "/?q=1", 403},
		{"POST", "/", 405},
		{"DELETE", "/?events", 405},
		{"OPTIONS", "/", 405},
		{"GET", "/?%zz", 400},
	} {
		w := httptest.NewRecorder()
		page.ServeHTTP(w, httptest.NewRequest(test.method, test.address, nil))
		if w.Code != test.code {
			t.Errorf("%s %s: code %d, want %d", test.method, test.address, w.Code, test.code)
		}
		for name, want := range map[string]string{
			"Content-Security-Policy":      "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
			"X-Content-Type-Options":       "nosniff",
			"Referrer-Policy":              "no-referrer",
			"Cache-Control":                "no-store",
			"Cross-Origin-Resource-Policy": "same-origin",
			"Vary":                         "Accept",
		} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s %s: %s is %q, want %q", test.method, test.address, name, got, want)
			}
		}
		if test.method == "HEAD" && w.Body.Len() > 0 {
			t.Errorf("HEAD %s has a body", test.address)
		}
		if allow := w.Header().Get("Allow"); (test.code == 405) != (allow == "GET, HEAD") {
			t.Errorf("%s %s: Allow is %q", test.method, test.address, allow)
		}
	}
}

func TestAForbiddenPageShowsTheErrorOfAllow(t *testing.T) {
	asked := 0
	page := newPage(t, debug.Options{Allow: func(*http.Request) error {
		asked++
		return errors.New(`only <b>admins</b> may`)
	}})
	for n, address := range []string{"/", "/?events", "/?stream", "/?asset=page.css", "/?cache=pods.v1&object=a/b"} {
		code, body := get(t, page, address)
		if code != http.StatusForbidden || !strings.Contains(body, "only &lt;b&gt;admins&lt;/b&gt; may") || asked != n+1 {
			t.Errorf("%s: code %d, asked %d times: %s", address, code, asked, body)
		}
		checkHTML(t, body)
	}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header.Set("Accept", "application/json")
	if code, body := ask(page, r); code != http.StatusForbidden || !strings.Contains(body, `"error": "only \u003cb\u003eadmins`) {
		t.Errorf("as JSON: %d %s", code, body)
	}
}

func TestTheHostOfARequestIsChecked(t *testing.T) {
	loopback, other := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80}, &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 80}
	for _, test := range []struct {
		name  string
		hosts []string
		local net.Addr
		host  string
		ok    bool
	}{
		{"loopback by name", nil, loopback, "localhost:8080", true},
		{"loopback by a name below localhost", nil, loopback, "packer.localhost:8080", true},
		{"loopback by address", nil, loopback, "127.0.0.1:8080", true},
		{"loopback by IPv6 address", nil, &net.TCPAddr{IP: net.IPv6loopback}, "[::1]:8080", true},
		{"loopback by the name of another site", nil, loopback, "evil.example:8080", false},
		{"loopback without a host", nil, loopback, "", false},
		{"a name that only begins as localhost", nil, loopback, "localhost.evil.example", false},
		{"another interface by any name", nil, other, "packer.example", true},
		{"a name that is allowed", []string{"Packer.example"}, loopback, "packer.EXAMPLE.:443", true},
		{"a name that is not allowed", []string{"packer.example"}, other, "evil.example", false},
		{"localhost, which is not allowed", []string{"packer.example"}, loopback, "localhost", false},
	} {
		page := newPage(t, debug.Options{Hosts: test.hosts})
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = test.host
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, test.local))
		code, body := ask(page, r)
		if ok := code == http.StatusOK; ok != test.ok {
			t.Errorf("%s: code %d", test.name, code)
		}
		if !test.ok && !strings.Contains(body, "debug.Options.Hosts") {
			t.Errorf("%s: the answer does not say what to do: %s", test.name, body)
		}
	}
}

func TestOtherSitesMayOnlyLink(t *testing.T) {
	page := newPage(t, debug.Options{})
	for _, test := range []struct {
		site, mode string
		code       int
	}{
		{"", "", 200},
		{"none", "navigate", 200},
		{"same-origin", "cors", 200},
		{"same-origin", "no-cors", 200},
		{"cross-site", "navigate", 200},
		{"same-site", "navigate", 200},
		{"cross-site", "cors", 403},
		{"cross-site", "no-cors", 403},
		{"same-site", "no-cors", 403},
	} {
		r := httptest.NewRequest(http.MethodGet, "/?asset=page.js", nil)
		r.Header.Set("Sec-Fetch-Site", test.site)
		r.Header.Set("Sec-Fetch-Mode", test.mode)
		if code, _ := ask(page, r); code != test.code {
			t.Errorf("Sec-Fetch-Site %q, mode %q: code %d, want %d", test.site, test.mode, code, test.code)
		}
	}
}
