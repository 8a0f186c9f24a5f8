package client

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/conn"
	"github.com/bowline-go/bowline/internal/shown"
)

// ProxyTarget is the service, pod or node that the API server passes requests on to.
type ProxyTarget struct {
	// Resource is "services", "pods" or "nodes".
	Resource string
	// Key is the object; a node has no namespace.
	Key meta.Key
	// Scheme is the protocol that the API server uses for the target: "http", "https", or empty for http.
	Scheme string
	// Port is the number or, for a service, the name of a port. Empty means the only port of a service; for a pod or
	// node it means the scheme's default port.
	Port string
}

// Proxy returns a transport whose requests go through the API server to a service, a pod or a node, for example for an
// [http.Client]. It ignores the host and scheme of a request's URL. It sends path and query as they are, escapes
// included. The API server splits the path and escapes it again, so an escaped slash arrives as a slash. The client
// needs permission on the subresource proxy, for the verb that the HTTP method stands for. If t has an error, every
// request returns it and sends nothing.
//
// Every answer is returned, whatever its status, from the target and also from the API server itself. A 503 with a
// Status may mean that a service has no endpoints, and a 403 that the client must not use the proxy. Bodies are
// streamed both ways, without a limit. The transport does not retry, and leaves redirects to the http.Client. If the
// target's redirect or a link in its HTML leads to a path of the target, the API server replaces that path by its own
// path to the target, without a host. The transport accepts such a path in a request's URL, whatever the host.
//
// The API server itself interprets headers that identify a user. So a request with such a header (Authorization,
// Proxy-Authorization, Impersonate-..., X-Remote-...) is an error and is not sent, because it would change who the
// client is. The target cannot get credentials in these headers. The client's own credential goes to the API server,
// which does not pass it on. Cookies go to the target. The transport drops headers that concern one connection only.
// Upgrades (WebSocket) are an error.
func (c *Client) Proxy(t ProxyTarget) http.RoundTripper {
	p := &proxy{c: c, target: t}
	p.prefix, p.err = t.path()
	return p
}

// path returns the target's unescaped path, below the server's own path.
func (t ProxyTarget) path() (string, error) {
	var b strings.Builder
	b.WriteString("/api/v1")
	switch t.Resource {
	case "services", "pods":
		if err := meta.ValidSegment("client.ProxyTarget: Key.Namespace", t.Key.Namespace); err != nil {
			return "", err
		}
		b.WriteString("/namespaces/" + t.Key.Namespace)
	case "nodes":
		if t.Key.Namespace != "" {
			return "", fmt.Errorf("client.ProxyTarget: Key.Namespace must be empty for a node, got %q", t.Key.Namespace)
		}
	default:
		return "", fmt.Errorf(`client.ProxyTarget: Resource must be "services", "pods" or "nodes", got %q`, t.Resource)
	}
	if err := meta.ValidSegment("client.ProxyTarget: Key.Name", t.Key.Name); err != nil {
		return "", err
	}
	if strings.Contains(t.Key.Name, ":") {
		return "", fmt.Errorf("client.ProxyTarget: Key.Name must have no colon, got %q", t.Key.Name)
	}
	if !isPort(t.Port) {
		return "", fmt.Errorf("client.ProxyTarget: Port must be a number from 1 to 65535, a name of letters, digits and hyphens, or empty, got %q", t.Port)
	}
	id := t.Key.Name
	switch {
	case t.Scheme != "" && t.Scheme != "http" && t.Scheme != "https":
		return "", fmt.Errorf(`client.ProxyTarget: Scheme must be "http", "https" or empty, got %q`, t.Scheme)
	case t.Scheme != "":
		id = t.Scheme + ":" + id + ":" + t.Port
	case t.Port != "":
		id += ":" + t.Port
	}
	b.WriteString("/" + t.Resource + "/" + id + "/proxy")
	return b.String(), nil
}

func isPort(s string) bool {
	if n, err := strconv.Atoi(s); err == nil {
		return n >= 1 && n <= 65535 && s[0] != '+'
	}
	return len(s) <= 63 && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-'
	})
}

// proxy is the transport that Proxy returns.
type proxy struct {
	c      *Client
	target ProxyTarget
	prefix string // the result of ProxyTarget.path
	err    error  // why the target cannot be used
}

// RoundTrip implements http.RoundTripper.
func (p *proxy) RoundTrip(r *http.Request) (*http.Response, error) {
	q := request{
		verb: strings.ToLower(r.Method), resource: meta.GVR{Version: "v1", Resource: p.target.Resource}, key: p.target.Key, subresource: "proxy",
	}
	q.verb = cmp.Or(q.verb, "get")
	out, err := p.request(r)
	if err != nil {
		conn.CloseBody(r)
		return nil, q.fail(&UsageError{Err: err})
	}
	ctx, asked := r.Context(), time.Now()
	if p.c.limiter != nil {
		if err := p.c.limiter.Wait(ctx); err != nil {
			conn.CloseBody(r)
			return nil, q.fail(fmt.Errorf("wait for Config.Limiter: %w", err))
		}
	}
	start := time.Now()
	resp, err := p.c.http.Transport.RoundTrip(out) // http.Client.Do would follow redirects
	info := RequestInfo{
		Verb: q.verb, Resource: q.resource, Key: q.key, Subresource: q.subresource,
		Method: strings.ToUpper(q.verb), Host: p.c.server.Host,
		Attempt: 1, Waited: start.Sub(asked), Duration: time.Since(start),
	}
	if err != nil {
		err = connectionError(ctx, err)
		info.Err = err
		p.c.observe(ctx, info)
		return nil, q.fail(err)
	}
	info.Code = resp.StatusCode
	p.c.observe(ctx, info)
	resp.Request = r // the caller's request, which has no credential in it
	return resp, nil
}

// request returns r as it is sent to the API server, or the reason why it is not sent.
func (p *proxy) request(r *http.Request) (*http.Request, error) {
	if p.err != nil {
		return nil, p.err
	}
	u, err := p.url(r.URL)
	if err != nil {
		return nil, err
	}
	if r.Method == http.MethodConnect {
		return nil, errors.New("CONNECT cannot be sent through the proxy of an API server")
	}
	header := canonicalHeader(r.Header)
	for name := range header {
		switch {
		case name == "Upgrade":
			return nil, errors.New("a request with a header Upgrade cannot be sent through the proxy of an API server")
		case isIdentity(name):
			return nil, fmt.Errorf("the header %s must not be set: the API server would take it for the client's", name)
		}
	}
	for _, line := range header.Values("Connection") {
		for name := range strings.SplitSeq(line, ",") {
			header.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range hopByHop {
		header.Del(name)
	}
	if _, set := header["User-Agent"]; !set {
		header.Set("User-Agent", p.c.userAgent)
	}
	out := r.Clone(conn.Call{Proxied: true}.With(r.Context()))
	out.URL, out.Host, out.Header = u, "", header
	return out, nil
}

// url returns the URL for a request to u.
func (p *proxy) url(u *url.URL) (*url.URL, error) {
	switch {
	case u == nil || u.Opaque != "":
		return nil, errors.New("the URL has no path")
	case strings.ContainsFunc(u.RawQuery, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return nil, errors.New("the query must have no spaces or control characters; escape them")
	}
	out := *p.c.server
	prefix := escapePath(p.prefix)
	base := strings.TrimSuffix(out.EscapedPath(), "/") + prefix
	path := u.EscapedPath()
	// The API server writes its own path, without a host, into the target's redirects and into the links of its HTML.
	for _, own := range []string{base, prefix} {
		if rest, ok := strings.CutPrefix(path, own); ok && (rest == "" || rest[0] == '/') {
			path = rest
			break
		}
	}
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	if err := conn.CheckDots(path); err != nil {
		return nil, fmt.Errorf("%w, got %q", err, shown.Text(path))
	}
	out.RawPath = base + path
	out.Path, _ = url.PathUnescape(out.RawPath) // the result of EscapedPath can always be unescaped
	out.RawQuery, out.ForceQuery = u.RawQuery, u.ForceQuery
	return &out, nil
}

// hopByHop are the headers that concern one connection only (RFC 9110, section 7.6.1).
var hopByHop = []string{"Connection", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding"}

// isIdentity reports whether a header identifies a user, to an API server or to a proxy on the way there.
func isIdentity(name string) bool {
	return slices.Contains([]string{"Authorization", "Proxy-Authorization"}, name) ||
		conn.IsImpersonation(name) || strings.HasPrefix(name, "X-Remote-")
}
