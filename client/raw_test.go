package client_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	apierrors "github.com/bowline-go/bowline/errors"
)

func TestARawRequestSendsItsPathQueryHeadersAndBody(t *testing.T) {
	s := says("fine")
	cfg := serve(t, s)
	cfg.Server += "/base%2Fpath/"
	cfg.UserAgent, cfg.BearerToken = "tester", "s3cret" // which Authorization takes the place of
	resp, err := dial(t, cfg).Raw(t.Context(), client.RawRequest{
		Method: "POST", Path: "/some/ü b/x:y", Query: url.Values{"a": {"1&2", "3"}}, Body: []byte("body"),
		As:     &client.Subject{User: "ann", Groups: []string{"dev"}},
		Header: http.Header{"accept": {"text/plain"}, "Content-Type": {"text/x"}, "X-Two": {"1", "2"}, "Authorization": {"Basic abc"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if b, err := io.ReadAll(resp.Body); err != nil || string(b) != "fine" {
		t.Errorf("got %q, %v", b, err)
	}
	call := s.one(t)
	if call.String() != "POST /base%2Fpath/some/%C3%BC%20b/x:y?a=1%262&a=3" || call.body != "body" {
		t.Errorf("sent %s %q", call, call.body)
	}
	for name, want := range map[string]string{
		"Accept": "text/plain", "Content-Type": "text/x", "X-Two": "1,2", "Authorization": "Basic abc", "User-Agent": "tester",
		"Impersonate-User": "ann", "Impersonate-Group": "dev",
	} {
		if got := strings.Join(call.header[name], ","); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// behaviour 1: Accept is set on every request.
func TestTheSmallestRawRequest(t *testing.T) {
	s := says("ok")
	resp, err := connect(t, s).Raw(t.Context(), client.RawRequest{Path: "/livez"})
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if call := s.one(t); call.String() != "GET /livez" || call.header.Get("Accept") != "application/json" || call.body != "" {
		t.Errorf("sent %s %v", call, call.header)
	}
}

func TestAnswersToARawRequest(t *testing.T) {
	for _, test := range []struct {
		name   string
		header http.Header
		answer answer
		code   int
		want   string
		as     error
	}{
		{"anything that is a success", nil, answer{code: 206, body: "\x00", header: http.Header{"Content-Type": {"image/png"}}}, 206, "", nil},
		{"a refusal", nil, answer{code: 403, body: status(403, "Forbidden", "no")}, 0, `get "/x": server said Forbidden (403): no`, apierrors.Forbidden},
		{"a page of something else", nil, answer{code: 502, body: "<html><title>Bad</title></html>", header: http.Header{"Content-Type": {"text/html"}}}, 0, `get "/x": server said `, apierrors.InternalError},
		{"nothing new", http.Header{"If-None-Match": {`"1"`}}, answer{code: 304}, 304, "", nil},
		{"nothing new, which nobody asked", nil, answer{code: 304}, 0, `get "/x": server said Unknown (304)`, nil},
		{"a redirect to elsewhere", nil, answer{code: 302, header: http.Header{"Location": {"http://127.0.0.1:1/y"}}}, 0, `get "/x": server redirects to "http://127.0.0.1:1", which is not its own origin`, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			resp, err := connect(t, answers(test.answer)).Raw(t.Context(), client.RawRequest{Path: "/x", Header: test.header})
			if test.want == "" {
				if err != nil || resp.StatusCode != test.code {
					t.Fatalf("got %+v, %v", resp, err)
				}
				_ = resp.Body.Close()
				return
			}
			if op := is[*client.OpError](t, err); resp != nil || op.Path != "/x" || op.Verb != "get" || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got %+v, %v, want %s", resp, err, test.want)
			}
			if test.as != nil && !errors.Is(err, test.as) {
				t.Errorf("%v is no %v", err, test.as)
			}
		})
	}
}

func TestInvalidRawRequestsAreNotSent(t *testing.T) {
	c := without(t, func(*http.Request) (*http.Response, error) {
		t.Error("something was sent")
		return nil, errors.New("no")
	})
	header := func(name, value string) client.RawRequest {
		return client.RawRequest{Path: "/x", Header: http.Header{name: {value}}}
	}
	for _, test := range []struct {
		name string
		r    client.RawRequest
		want string
	}{
		{"no path", client.RawRequest{}, `get : client.RawRequest: Path must start with a slash, got ""`},
		{"no slash", client.RawRequest{Path: "x"}, `get "x": client.RawRequest: Path must start with a slash, got "x"`},
		{"a URL", client.RawRequest{Path: "http://other/x"}, `get "http://other/x": client.RawRequest: Path must start with a slash, got "http://other/x"`},
		{"a query in the path", client.RawRequest{Path: "/x?token=secret"}, `get "/x?[redacted]": client.RawRequest: Path must have no query and no fragment; use Query, got "/x?[redacted]"`},
		{"a fragment", client.RawRequest{Path: "/x#y"}, `get "/x#y": client.RawRequest: Path must have no query and no fragment; use Query, got "/x#y"`},
		{"another path", client.RawRequest{Path: "/a/../b"}, `get "/a/../b": client.RawRequest: a segment of Path must not be "..", which means another path`},
		{"an escape", client.RawRequest{Path: "/a%2e"}, `get "/a%2e": client.RawRequest: a segment of Path must be one path segment, without "/" and "%", got "a%2e"`},
		{"a line break", client.RawRequest{Path: "/a\n"}, `get "/a\n": client.RawRequest: a segment of Path must be UTF-8 text without control characters, got "a\n"`},
		{"a method that is none", client.RawRequest{Method: "GET /", Path: "/x"}, `get / "/x": client.RawRequest: Method must be an HTTP method other than CONNECT, got "GET /"`},
		{"a tunnel", client.RawRequest{Method: "connect", Path: "/x"}, `connect "/x": client.RawRequest: Method must be an HTTP method other than CONNECT, got "connect"`},
		{"a name that is none", header("a b", "1"), `get "/x": client.RawRequest: Header must have names of printable ASCII without spaces and separators, got "a b"`},
		{"a value with a line break", header("Authorization", "Bearer s3cret\r\nX: y"), `get "/x": client.RawRequest: Header Authorization must have no control characters in its value`},
		{"the host", header("host", "other"), `get "/x": client.RawRequest: Header must not have Host, which the client sets`},
		{"an upgrade", header("Upgrade", "websocket"), `get "/x": client.RawRequest: Header must not have Upgrade, which the client sets`},
		{"half of somebody", client.RawRequest{Path: "/x", As: &client.Subject{UID: "7"}}, `get "/x": client.RawRequest: As: User is empty; it must name a user`},
		{"a user without a name", client.RawRequest{Path: "/x", As: &client.Subject{}}, `get "/x": client.RawRequest: As: User is empty; it must name a user`},
		{"somebody else", header("impersonate-User", "ann"), `get "/x": client.RawRequest: Header must not have Impersonate-User; use As`},
	} {
		t.Run(test.name, func(t *testing.T) {
			resp, err := c.Raw(t.Context(), test.r)
			if is[*client.UsageError](t, err); resp != nil || err.Error() != test.want {
				t.Errorf("error is %v\nwant     %v", err, test.want)
			}
		})
	}
}

// A request is what it was when it was sent, whatever its caller does with it afterwards.
func TestARawRequestBelongsToItsCaller(t *testing.T) {
	var got *http.Request
	c := without(t, func(r *http.Request) (*http.Response, error) {
		got = r
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("")), Request: r}, nil
	})
	r := client.RawRequest{Method: "PUT", Path: "/x", Header: http.Header{"X-A": {"1"}}, Body: []byte("body")}
	resp, err := c.Raw(context.WithoutCancel(t.Context()), r)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	r.Header["X-A"][0], r.Body[0] = "2", 'x'
	body, err := io.ReadAll(got.Body)
	if err != nil || !bytes.Equal(body, []byte("body")) || got.Header.Get("X-A") != "1" {
		t.Errorf("sent %q, %v, %v", body, got.Header, err)
	}
}

// guarantees S8 and S25: a raw request goes to its path below the server's own, or nowhere.
func FuzzRawPath(f *testing.F) {
	for _, p := range []string{"/", "/healthz", "//x", "/a/../../b", "/a/%2e%2e/b", "/ü b", "/a?b", "/a\\..\\b", "/:x", "/./", "/a;b/", "/api/v1/namespaces/x:y"} {
		f.Add(p)
	}
	var sent *http.Request
	c, err := client.New(client.Config{Server: "http://server:1/base", Wrap: func(http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			sent = r
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
		})
	}})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(c.Close)
	f.Fuzz(func(t *testing.T, p string) {
		sent = nil
		resp, err := c.Raw(t.Context(), client.RawRequest{Path: p})
		if err != nil {
			if is[*client.UsageError](t, err); sent != nil {
				t.Errorf("%q was sent and gave %v", p, err)
			}
			return
		}
		_ = resp.Body.Close()
		again, err := url.ParseRequestURI(sent.URL.RequestURI())
		if err != nil {
			t.Fatal(err)
		}
		if again.Path != "/base"+p || again.RawQuery != "" || sent.URL.Host != "server:1" || !strings.HasPrefix(path.Clean(again.Path)+"/", "/base/") {
			t.Errorf("%q was sent to %v", p, sent.URL)
		}
	})
}
