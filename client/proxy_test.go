package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/memnet"
)

func TestTheProxyPathHasTheTargetsSchemeAndPort(t *testing.T) {
	for _, test := range []struct {
		name   string
		target client.ProxyTarget
		want   string
	}{
		{"a service", client.ProxyTarget{Resource: "services", Key: web}, "/api/v1/namespaces/web/services/a/proxy/x"},
		{"a named port", client.ProxyTarget{Resource: "services", Key: web, Port: "http-1"}, "/api/v1/namespaces/web/services/a:http-1/proxy/x"},
		{"TLS", client.ProxyTarget{Resource: "services", Key: web, Scheme: "https"}, "/api/v1/namespaces/web/services/https:a:/proxy/x"},
		{"TLS on a port of a pod", client.ProxyTarget{Resource: "pods", Key: web, Scheme: "https", Port: "8443"}, "/api/v1/namespaces/web/pods/https:a:8443/proxy/x"},
		{"a node", client.ProxyTarget{Resource: "nodes", Key: meta.Key{Name: "n"}, Scheme: "http", Port: "10250"}, "/api/v1/nodes/http:n:10250/proxy/x"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := says("{}")
			h := &http.Client{Transport: connect(t, s).Proxy(test.target)}
			resp, err := h.Get("https://any.where/x")
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if call := s.one(t); call.String() != "GET "+test.want {
				t.Errorf("sent %s, want %s", call, test.want)
			}
		})
	}
}

func TestInvalidProxyTargetsAndRequestsAreNotSent(t *testing.T) {
	c := without(t, func(*http.Request) (*http.Response, error) {
		t.Error("something was sent")
		return nil, errors.New("no")
	})
	service := client.ProxyTarget{Resource: "services", Key: web}
	request := func(change func(r *http.Request)) *http.Request {
		r := must[*http.Request](t)(http.NewRequestWithContext(t.Context(), http.MethodGet, "http://x/y", nil))
		if change != nil {
			change(r)
		}
		return r
	}
	header := func(name, value string) *http.Request {
		return request(func(r *http.Request) { r.Header[name] = []string{value} })
	}
	const port = `get services/proxy "web/a": client.ProxyTarget: Port must be a number from 1 to 65535, a name of letters, digits and hyphens, or empty, got `
	for _, test := range []struct {
		name   string
		target client.ProxyTarget
		r      *http.Request
		want   string
	}{
		{"nothing", client.ProxyTarget{}, request(nil), `get /proxy: client.ProxyTarget: Resource must be "services", "pods" or "nodes", got ""`},
		{"something else", client.ProxyTarget{Resource: "secrets", Key: web}, request(nil), `get secrets/proxy "web/a": client.ProxyTarget: Resource must be "services", "pods" or "nodes", got "secrets"`},
		{"no namespace", client.ProxyTarget{Resource: "pods", Key: meta.Key{Name: "a"}}, request(nil), `get pods/proxy "a": client.ProxyTarget: Key.Namespace must not be empty`},
		{"a namespace of a node", client.ProxyTarget{Resource: "nodes", Key: web}, request(nil), `get nodes/proxy "web/a": client.ProxyTarget: Key.Namespace must be empty for a node, got "web"`},
		{"no name", client.ProxyTarget{Resource: "pods", Key: meta.Key{Namespace: "web"}}, request(nil), `get pods/proxy in "web": client.ProxyTarget: Key.Name must not be empty`},
		{"a name that leads elsewhere", client.ProxyTarget{Resource: "pods", Key: meta.Key{Namespace: "web", Name: ".."}}, request(nil), `get pods/proxy "web/..": client.ProxyTarget: Key.Name must not be "..", which means another path`},
		{"a name with a port", client.ProxyTarget{Resource: "pods", Key: meta.Key{Namespace: "web", Name: "a:1"}}, request(nil), `get pods/proxy "web/a:1": client.ProxyTarget: Key.Name must have no colon, got "a:1"`},
		{"a scheme", client.ProxyTarget{Resource: "services", Key: web, Scheme: "ftp"}, request(nil), `get services/proxy "web/a": client.ProxyTarget: Scheme must be "http", "https" or empty, got "ftp"`},
		{"port 0", client.ProxyTarget{Resource: "services", Key: web, Port: "0"}, request(nil), port + `"0"`},
		{"a port too high", client.ProxyTarget{Resource: "services", Key: web, Port: "65536"}, request(nil), port + `"65536"`},
		{"a port with a sign", client.ProxyTarget{Resource: "services", Key: web, Port: "+80"}, request(nil), port + `"+80"`},
		{"a port with a path", client.ProxyTarget{Resource: "services", Key: web, Port: "80/x"}, request(nil), port + `"80/x"`},

		{"a token", service, header("authorization", "Bearer secret"), `get services/proxy "web/a": the header Authorization must not be set: the API server would take it for the client's`},
		{"a token of a proxy", service, header("Proxy-Authorization", "secret"), `get services/proxy "web/a": the header Proxy-Authorization must not be set: the API server would take it for the client's`},
		{"somebody else", service, header("Impersonate-User", "admin"), `get services/proxy "web/a": the header Impersonate-User must not be set: the API server would take it for the client's`},
		{"somebody else by a front", service, header("X-Remote-Group", "admin"), `get services/proxy "web/a": the header X-Remote-Group must not be set: the API server would take it for the client's`},
		{"an upgrade", service, header("Upgrade", "websocket"), `get services/proxy "web/a": a request with a header Upgrade cannot be sent through the proxy of an API server`},
		{"a tunnel", service, request(func(r *http.Request) { r.Method = "CONNECT" }), `connect services/proxy "web/a": CONNECT cannot be sent through the proxy of an API server`},
		{"no URL", service, request(func(r *http.Request) { r.URL = nil }), `get services/proxy "web/a": the URL has no path`},
		{"an opaque URL", service, request(func(r *http.Request) { r.URL.Opaque = "//other/x" }), `get services/proxy "web/a": the URL has no path`},
		{"a query that ends the line", service, request(func(r *http.Request) { r.URL.RawQuery = "a HTTP/1.1\r\n" }), `get services/proxy "web/a": the query must have no spaces or control characters; escape them`},
		{"a way out", service, request(func(r *http.Request) { r.URL.Path = "/a/../../../b" }), `get services/proxy "web/a": the path must not have a segment "..", got "/a/../../../b"`},
		{"an escaped way out", service, request(func(r *http.Request) { r.URL.Path, r.URL.RawPath = "/a/../b", "/a/%2e%2E/b" }), `get services/proxy "web/a": the path must not have a segment "..", got "/a/%2e%2E/b"`},
		{"an escaped slash", service, request(func(r *http.Request) { r.URL.Path, r.URL.RawPath = "/a/../b", "/a%2f..%2fb" }), `get services/proxy "web/a": the path must not have a segment "..", got "/a%2f..%2fb"`},
		{"escaped twice", service, request(func(r *http.Request) { r.URL.Path = "/%2e%2e/b" }), `get services/proxy "web/a": the path must not have a segment "..", got "/%252e%252e/b"`},
		{"escaped twice beside what is no escape", service, request(func(r *http.Request) { r.URL.Path = "/%zz/%2e%2e/b" }), `get services/proxy "web/a": the path must not have a segment "..", got "/%25zz/%252e%252e/b"`},
		{"with a parameter", service, request(func(r *http.Request) { r.URL.Path = "/a/..;x=y/b" }), `get services/proxy "web/a": the path must not have a segment "..", got "/a/..;x=y/b"`},
		{"escaped too often", service, request(func(r *http.Request) { r.URL.Path = "/%" + strings.Repeat("25", 8) + "61" }), `get services/proxy "web/a": the path must not be escaped more than 8 times, got "/%25` + strings.Repeat("25", 8) + `61"`},
		{"the other slash", service, request(func(r *http.Request) { r.URL.Path = `/a\..\b` }), `get services/proxy "web/a": the path must not have a segment "..", got "/a%5C..%5Cb"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			closed := false
			test.r.Body = openBody{func() { closed = true }}
			resp, err := c.Proxy(test.target).RoundTrip(test.r)
			if is[*client.UsageError](t, err); resp != nil || err.Error() != test.want {
				t.Errorf("error is %v\nwant     %v", err, test.want)
			}
			if !closed {
				t.Error("the body is left open")
			}
		})
	}
}

// openBody is a body that says that it is closed.
type openBody struct{ closed func() }

func (openBody) Read([]byte) (int, error) { return 0, io.EOF }

func (c openBody) Close() error {
	c.closed()
	return nil
}

// What goes to the target is what was asked for, and the credential goes to the server alone.
func TestTheProxyForwardsRequestsAndAddsTheCredential(t *testing.T) {
	s := answers(answer{code: 418, body: "short and stout", header: http.Header{"Content-Type": {"text/tea"}, "Set-Cookie": {"a=b"}}})
	cfg := serve(t, s)
	cfg.Server += "/base"
	cfg.BearerToken, cfg.UserAgent = "s3cret", "tester"
	r := must[*http.Request](t)(http.NewRequestWithContext(t.Context(), http.MethodPost, "http://user@ignored:99/a%2Fb//c;d=1?q=%20+&&x", strings.NewReader("body")))
	r.Header = http.Header{"Connection": {"x-gone, close"}, "X-Gone": {"1"}, "Te": {"trailers"}, "X-Kept": {"1"}, "Cookie": {"c=d"}}
	resp, err := dial(t, cfg).Proxy(client.ProxyTarget{Resource: "services", Key: web}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 418 || string(body) != "short and stout" || resp.Header.Get("Set-Cookie") != "a=b" || resp.Request != r {
		t.Errorf("got %+v, %q, %v", resp, body, err)
	}
	call := s.one(t)
	if call.String() != "POST /base/api/v1/namespaces/web/services/a/proxy/a%2Fb//c;d=1?q=%20+&&x" || call.body != "body" {
		t.Errorf("sent %s %q", call, call.body)
	}
	for name, want := range map[string]string{
		"X-Kept": "1", "Cookie": "c=d", "User-Agent": "tester", "Authorization": "Bearer s3cret", "X-Gone": "", "Te": "",
	} {
		if got := call.header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if r.Header.Get("X-Gone") == "" || r.Header.Get("Authorization") != "" || r.URL.Host != "ignored:99" {
		t.Errorf("the request was changed: %v %v", r.URL, r.Header)
	}
}

// guarantees S9 and S25: a header that is for one connection is one however its name is written. net/http sends a
// "transfer-encoding" beside its own Content-Length, and what reads the one sees another end of the body than what reads the
// other.
func TestHeadersOfAConnectionAreDroppedHoweverTheyAreWritten(t *testing.T) {
	s := says("{}")
	r := must[*http.Request](t)(http.NewRequestWithContext(t.Context(), http.MethodPost, "http://a/", strings.NewReader("body")))
	r.Header = http.Header{
		"transfer-encoding": {"chunked"}, "content-length": {"1"}, "host": {"other"}, "connection": {"x-gone"}, "x-gone": {"1"}, "x-kept": {"1"}, "X-Kept": {"2"},
	}
	resp, err := connect(t, s).Proxy(client.ProxyTarget{Resource: "services", Key: web}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	call := s.one(t)
	if call.body != "body" || call.header.Get("X-Gone") != "" || len(call.header["X-Kept"]) != 2 || call.header.Get("Content-Length") != "4" {
		t.Errorf("sent %q with %v", call.body, call.header)
	}
}

// A 401 may be the target's, so it says nothing about the client's credential: no other is fetched, and nothing is sent again.
func TestATargetThatWantsCredentials(t *testing.T) {
	s := answers(answer{code: 401, body: "who are you", header: http.Header{"Www-Authenticate": {"Basic"}}})
	cfg, fetched := serve(t, s), 0
	cfg.Credentials = client.NewCredentials(func(context.Context) (client.Credential, error) {
		fetched++
		return client.Credential{Token: client.Secret(fmt.Sprint("token", fetched))}, nil
	})
	h := &http.Client{Transport: dial(t, cfg).Proxy(client.ProxyTarget{Resource: "services", Key: web})}
	for range 2 {
		resp, err := h.Get("http://a/")
		if err != nil || resp.StatusCode != 401 {
			t.Fatalf("got %+v, %v", resp, err)
		}
		_ = resp.Body.Close()
	}
	if calls := s.all(); len(calls) != 2 || fetched != 1 || calls[1].header.Get("Authorization") != "Bearer token1" {
		t.Errorf("%d requests, %d credentials fetched", len(calls), fetched)
	}
}

// guarantee S1: a redirect is an answer. The http.Client follows it, and stays at the target whatever it says.
func TestRedirectsOfATarget(t *testing.T) {
	const prefix = "/api/v1/namespaces/web/services/a:web/proxy"
	for _, test := range []struct {
		name, location, want string
	}{
		{"within the target", "/x/y", prefix + "/x/y"},
		{"as the API server writes it", prefix + "/x/y?z", prefix + "/x/y?z"},
		{"with its host", "http://SERVER" + prefix + "/x%2Fy", prefix + "/x%2Fy"},
		{"to something else of the API server", "http://SERVER/api/v1/secrets", prefix + "/api/v1/secrets"},
		{"to another target of the name", "http://SERVER" + prefix + "x/y", prefix + prefix + "x/y"},
		{"elsewhere", "http://other/x", prefix + "/x"},
		{"upwards", "../../../../secrets/s", prefix + "/secrets/s"},
		{"upwards from its own path", prefix + "/../../../secrets/s", prefix + "/api/v1/namespaces/web/secrets/s"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &script{}
			cfg := serve(t, s)
			cfg.BearerToken = "s3cret"
			u := must[*url.URL](t)(url.Parse(cfg.Server))
			s.answers = []answer{{code: 302, header: http.Header{"Location": {strings.ReplaceAll(test.location, "SERVER", u.Host)}}}, {body: "there"}}
			h := &http.Client{Transport: dial(t, cfg).Proxy(client.ProxyTarget{Resource: "services", Key: web, Port: "web"})}
			resp, err := h.Get("http://a/start")
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if calls := s.all(); len(calls) != 2 || calls[1].uri != test.want {
				t.Errorf("sent %v, want %s", calls, test.want)
			}
		})
	}
}

// Bodies go both ways while they are made.
func TestTheProxyStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			control := http.NewResponseController(w)
			_ = control.EnableFullDuplex()
			w.WriteHeader(http.StatusOK)
			_ = control.Flush()
			b := make([]byte, 4)
			for {
				n, err := r.Body.Read(b)
				if _, e := w.Write(b[:n]); e != nil || err != nil {
					return
				}
				_ = control.Flush()
			}
		}))
		in, out := io.Pipe()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r := must[*http.Request](t)(http.NewRequestWithContext(ctx, http.MethodPost, "http://a/", in))
		resp, err := dial(t, cfg).Proxy(client.ProxyTarget{Resource: "pods", Key: web}).RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		for _, word := range []string{"ping", "pong"} {
			fmt.Fprint(out, word)
			b := make([]byte, 4)
			if _, err := io.ReadFull(resp.Body, b); err != nil || string(b) != word {
				t.Fatalf("got %q, %v", b, err)
			}
		}
		cancel()
		if _, err := resp.Body.Read(make([]byte, 1)); !errors.Is(err, context.Canceled) {
			t.Errorf("after the end of the context: %v", err)
		}
		_ = out.Close()
	})
}

func TestTheProxyOfAServerThatIsGone(t *testing.T) {
	l := memnet.Listen()
	_ = l.Close()
	var infos []client.RequestInfo
	c := dial(t, client.Config{
		Server: "http://" + l.Addr().String(), Dial: l.DialContext, Proxy: noProxy,
		Hooks: client.Hooks{Request: func(_ context.Context, r client.RequestInfo) { infos = append(infos, r) }},
	})
	r := must[*http.Request](t)(http.NewRequestWithContext(t.Context(), http.MethodPut, "http://a/", nil))
	_, err := c.Proxy(client.ProxyTarget{Resource: "services", Key: web}).RoundTrip(r)
	if op := is[*client.OpError](t, err); op.Subresource != "proxy" || op.Verb != "put" || op.Key != web {
		t.Errorf("error is %v", err)
	}
	if len(infos) != 1 || infos[0].Subresource != "proxy" || infos[0].Method != "PUT" || infos[0].Err == nil ||
		infos[0].Host != l.Addr().String() || infos[0].Attempt != 1 || infos[0].Waited < 0 {
		t.Errorf("the hook was told %+v", infos)
	}
}

// guarantees S8 and S25: whatever the URL, a request stays below the target, and arrives as it was.
func FuzzProxyPath(f *testing.F) {
	for _, u := range []string{
		"http://a/", "http://a", "a", "//b/../c", "http://a/%2e%2e/x", "http://a/x%2F..%2fy", "http://a/%252e%252e", `http://a/x\..\y`, "http://a/a//b;c/./d?x=y",
		"http://server:1/base/api/v1/namespaces/web/services/a:80/proxy/x", "http://server:1/base/api/v1/namespaces/web/services/a:80/proxyx", "*", "http://a/%", "http://a/?a b", "mailto:x",
		"http://server:1/base/api/v1/namespaces/web/services/a:80/proxy..", "/api/v1/namespaces/web/services/a:80/proxy", "/api/v1/namespaces/web/services/a:80/proxy/x",
	} {
		f.Add(u)
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
	proxy := c.Proxy(client.ProxyTarget{Resource: "services", Key: web, Port: "80"})
	const prefix = "/base/api/v1/namespaces/web/services/a:80/proxy"
	f.Fuzz(func(t *testing.T, text string) {
		u, err := url.Parse(text)
		if err != nil {
			return
		}
		sent = nil
		r := (&http.Request{Method: http.MethodGet, URL: u}).WithContext(t.Context())
		if _, err := proxy.RoundTrip(r); err != nil {
			if is[*client.UsageError](t, err); sent != nil {
				t.Errorf("%q was sent and gave %v", text, err)
			}
			return
		}
		uri := sent.URL.RequestURI()
		again, err := url.ParseRequestURI(uri)
		if err != nil {
			t.Fatalf("%q was sent as %q: %v", text, uri, err)
		}
		if sent.URL.Host != "server:1" || sent.Host != "" || sent.URL.User != nil || again.RawQuery != u.RawQuery {
			t.Errorf("%q was sent to %v", text, sent.URL)
		}
		want := u.EscapedPath()
		for _, own := range []string{prefix, strings.TrimPrefix(prefix, "/base")} { // as the server writes the target's own path
			if rest, ok := strings.CutPrefix(want, own); ok && (rest == "" || rest[0] == '/') {
				want = rest
				break
			}
		}
		rest, ok := strings.CutPrefix(again.EscapedPath(), prefix+"/")
		if !ok || rest != strings.TrimPrefix(want, "/") {
			t.Errorf("%q was sent as %q", text, uri)
		}
		for plain := again.Path; ; {
			if clean := path.Clean(strings.ReplaceAll(plain, `\`, "/")); !strings.HasPrefix(clean+"/", prefix+"/") {
				t.Errorf("%q was sent as %q, which may be read as %q", text, uri, clean)
			}
			next, err := url.PathUnescape(plain)
			if err != nil || next == plain {
				return
			}
			plain = next
		}
	})
}
