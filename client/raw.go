package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/conn"
	"github.com/bowline-go/bowline/internal/shown"
)

// RawRequest is a request to any path of the server. Printing or encoding it shows no value of a parameter or a header,
// and no body.
type RawRequest struct {
	// Method is the HTTP method; empty means GET.
	Method string
	// Path is the path below that of Config.Server, such as "/healthz". It starts with a slash, is not escaped, and has
	// no query, and no segment "." or "..".
	Path string
	// Query is the query.
	Query url.Values `json:"-"`
	// Header is sent as it is. Without Accept, the client asks for JSON. A header Authorization replaces the client's
	// token or password for this request; the client's certificate is still shown. The client refuses headers that it
	// or the connection sets: Host, User-Agent, Content-Length and the like, and those of impersonation, for which use
	// As.
	Header http.Header `json:"-"`
	// Body is the body; nil sends none. Header names its type.
	Body []byte `json:"-"`
	// As is the user to act for, in place of Config.Impersonate; nil means Config.Impersonate. A Subject without a User
	// is a [*UsageError].
	As *Subject
}

// Raw sends a request to any path of the server, with the client's credentials, retries and limits. It returns the
// answer if it is a success. The caller closes the body, whose size is not limited. Any other answer is an [*OpError]
// with Path that wraps an *errors.StatusError. If the request has a header If-None-Match, Raw also returns the answer
// 304 Not Modified.
//
// Raw follows redirects only for GET, and only below Config.Server: to its origin, below its path, without a user in
// the URL. If the path leads through a proxy subresource, of a service, a pod or a node, the answer is not the API
// server's own; Raw then follows a redirect only if it stays below that target.
func (c *Client) Raw(ctx context.Context, r RawRequest) (*http.Response, error) {
	r.Header, r.Body = canonicalHeader(r.Header), slices.Clone(r.Body)
	if path, query, found := strings.Cut(r.Path, "?"); found && query != "" {
		r.Path = path + "?" + shown.Redacted // errors show the path
	}
	return c.do(ctx, rawRequest{r})
}

// rawRequest is a request that is not about a resource.
type rawRequest struct{ RawRequest }

func (r rawRequest) info() RequestInfo {
	method := strings.ToUpper(cmp.Or(r.Method, http.MethodGet))
	return RequestInfo{Verb: strings.ToLower(method), Method: method}
}

func (r rawRequest) path() (string, error) { return r.Path, r.validate() }

func (r rawRequest) content() (url.Values, []byte, *Subject) { return r.Query, r.Body, r.As }

func (r rawRequest) setHeader(h http.Header) {
	h.Set("Accept", jsonType)
	maps.Copy(h, r.Header)
}

func (r rawRequest) accepts(code int) bool {
	return isSuccess(code) || code == http.StatusNotModified && r.Header.Get("If-None-Match") != ""
}

func (r rawRequest) checkType(*http.Response) error { return nil }

func (r rawRequest) idles() bool { return r.Query.Get("watch") != "" || r.Query.Get("follow") != "" }

func (r rawRequest) isOnce() bool { return false }

func (r rawRequest) isRepeatable(bool) bool { return false }

func (r rawRequest) fail(err error) error {
	if err == nil {
		return nil
	}
	return &OpError{Path: r.Path, Verb: r.info().Verb, Err: err}
}

// canonicalHeader returns a copy of h under canonical names. net/http sends a name as the map has it, and recognizes
// its own headers by their canonical names.
func canonicalHeader(h http.Header) http.Header {
	header := make(http.Header, len(h))
	for name, values := range h {
		name = http.CanonicalHeaderKey(name)
		header[name] = append(header[name], values...)
	}
	return header
}

func (r RawRequest) validate() error {
	if r.Method != "" && (!isToken(r.Method) || strings.EqualFold(r.Method, http.MethodConnect)) {
		return fmt.Errorf("client.RawRequest: Method must be an HTTP method other than CONNECT, got %q", r.Method)
	}
	if !strings.HasPrefix(r.Path, "/") {
		return fmt.Errorf("client.RawRequest: Path must start with a slash, got %q", r.Path)
	}
	if strings.ContainsAny(r.Path, "?#") {
		return fmt.Errorf("client.RawRequest: Path must have no query and no fragment; use Query, got %q", r.Path)
	}
	for segment := range strings.SplitSeq(r.Path[1:], "/") {
		if segment == "" {
			continue
		}
		if err := meta.ValidSegment("client.RawRequest: a segment of Path", segment); err != nil {
			return err
		}
	}
	var errs []error
	for name, values := range r.Header {
		switch {
		case !isToken(name):
			errs = append(errs, fmt.Errorf("client.RawRequest: Header must have names of printable ASCII without spaces and separators, got %q", name))
		case slices.Contains(ownHeaders, name):
			errs = append(errs, fmt.Errorf("client.RawRequest: Header must not have %s, which the client sets", name))
		case conn.IsImpersonation(name):
			errs = append(errs, fmt.Errorf("client.RawRequest: Header must not have %s; use As", name))
		case slices.ContainsFunc(values, hasControlByte): // the value may be a secret
			errs = append(errs, fmt.Errorf("client.RawRequest: Header %s must have no control characters in its value", name))
		}
	}
	if r.As != nil {
		for _, reason := range r.As.validate() {
			errs = append(errs, errors.New("client.RawRequest: As: "+reason))
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

// ownHeaders are headers that the client or net/http sets, or would ignore.
var ownHeaders = []string{
	"Host", "User-Agent", "Content-Length", "Connection", "Keep-Alive", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade",
}

// isToken reports whether s is a token (RFC 9110, section 5.6.2), as methods and names of headers must be.
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

func hasControlByte(s string) bool {
	return strings.ContainsFunc(textproto.TrimString(s), func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}
