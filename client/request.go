package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/conn"
	"github.com/bowline-go/bowline/internal/jsonstream"
	"github.com/bowline-go/bowline/internal/shown"
)

const (
	jsonType = "application/json"
	// maxErrorBody bounds how much of an error's body is read; a Status is far smaller.
	maxErrorBody = 1 << 20
	// maxExcerpt bounds what of a foreign body is shown in an error.
	maxExcerpt = 256
)

// outgoing is a request as Client.call sends it. There are two kinds: request, which is about a resource, and rawRequest.
type outgoing interface {
	// info says what the request is, without what comes of it.
	info() RequestInfo
	// path returns the unescaped path below the server's own prefix, or why nothing can be sent.
	path() (string, error)
	// content returns the query, the body, and whom to act for; nil means whom the client acts for.
	content() (url.Values, []byte, *Impersonation)
	// setHeader sets the headers that the client does not set for every request.
	setHeader(http.Header)
	// accepts reports whether an answer of that code is a success.
	accepts(code int) bool
	// checkType returns why a success has the wrong type of body.
	checkType(*http.Response) error
	// idles reports whether an answer that has begun need not go on.
	idles() bool
	// isOnce reports whether the request is not to be sent again, whatever Config.Retry says.
	isOnce() bool
	// isRepeatable reports whether a write may be sent again after its connection broke, before or after a success had begun.
	isRepeatable(answered bool) bool
	// fail returns an *OpError; nil for nil.
	fail(error) error
}

// request is one HTTP request about a resource, before it is sent.
type request struct {
	verb        string
	resource    meta.GVR
	scope       meta.Scope
	key         meta.Key
	bound       string // what the key's namespace must be, where it is set
	collection  bool   // about the collection: key.Name is not part of the path
	subresource string
	query       url.Values
	accept      string
	contentType string
	body        []byte
	as          *Impersonation // in place of the client's; nil for that one
	once        bool           // not to be sent again, whatever Config.Retry says
	settles     bool           // its caller reads what became of it, so that it may be sent twice
}

// method returns the HTTP method of the request's verb.
func (r request) method() string {
	switch r.verb {
	case "create":
		return http.MethodPost
	case "update":
		return http.MethodPut
	case "patch", "apply":
		return http.MethodPatch
	case "delete", "deletecollection":
		return http.MethodDelete
	}
	return http.MethodGet
}

// path returns the unescaped path of the request below the server's own prefix, or why there is none: the namespace or the
// name is missing, not allowed, or not a path segment.
func (r request) path() (string, error) {
	var b strings.Builder
	if r.resource.Group == "" {
		b.WriteString("/api/")
	} else {
		b.WriteString("/apis/" + r.resource.Group + "/")
	}
	b.WriteString(r.resource.Version)
	switch {
	case r.bound != "" && r.key.Namespace != r.bound:
		return "", fmt.Errorf("namespace must be %q or empty, which this handle is bound to, got %q", r.bound, r.key.Namespace)
	case r.key.Namespace != "" && r.scope == meta.Cluster:
		return "", fmt.Errorf("namespace must be empty for a cluster-wide resource, got %q", r.key.Namespace)
	case r.key.Namespace != "":
		if err := meta.ValidSegment("namespace", r.key.Namespace); err != nil {
			return "", err
		}
		b.WriteString("/namespaces/" + r.key.Namespace)
	case r.scope == meta.Namespaced && !r.allNamespaces():
		return "", errors.New("namespace is empty, and the resource is namespaced")
	}
	b.WriteString("/" + r.resource.Resource)
	if !r.collection || r.key.Name != "" { // a creation may leave the name to the server
		if err := meta.ValidSegment("name", r.key.Name); err != nil {
			return "", err
		}
	}
	if !r.collection {
		b.WriteString("/" + r.key.Name)
	}
	if r.subresource != "" {
		b.WriteString("/" + r.subresource)
	}
	return b.String(), nil
}

// allNamespaces reports whether an empty namespace means every namespace.
func (r request) allNamespaces() bool { return r.verb == "list" || r.verb == "watch" }

func (r request) info() RequestInfo {
	return RequestInfo{Verb: r.verb, Resource: r.resource, Key: r.key, Subresource: r.subresource, Method: r.method()}
}

func (r request) content() (url.Values, []byte, *Impersonation) { return r.query, r.body, r.as }

func (r request) setHeader(h http.Header) {
	h.Set("Accept", r.accept)
	if r.contentType != "" {
		h.Set("Content-Type", r.contentType)
	}
}

func (r request) accepts(code int) bool { return isSuccess(code) }

func (r request) checkType(resp *http.Response) error {
	contentType := resp.Header.Get("Content-Type")
	// A parameter that cannot be parsed changes nothing about the type.
	if media, _, _ := mime.ParseMediaType(contentType); contentType == "" || media == jsonType {
		return nil
	}
	excerpt, _ := io.ReadAll(io.LimitReader(resp.Body, maxExcerpt))
	return foreignBody(resp, string(excerpt))
}

func (r request) idles() bool  { return r.verb == "watch" }
func (r request) isOnce() bool { return r.once }

func (r request) isRepeatable(answered bool) bool {
	// After an answer that said yes, a precondition would turn the success into a Conflict.
	return r.isIdempotent() || r.settles || !answered && r.isPinned()
}

func (r request) fail(err error) error {
	if err == nil {
		return nil
	}
	return &OpError{Verb: r.verb, Resource: r.resource, Subresource: r.subresource, Key: r.key, Err: err}
}

// do sends r, again if need be, and returns the answer if it is a success; its body is the caller's to close. Every error is
// an *OpError.
func (c *Client) do(ctx context.Context, r outgoing) (resp *http.Response, err error) {
	err = c.call(ctx, r, func(answer *http.Response) error {
		resp = answer
		return nil
	})
	return resp, err
}

// send sends r once, as the n-th attempt, and returns the answer, whatever it is.
func (c *Client) send(ctx context.Context, r outgoing, n int) (*http.Response, RequestInfo, error) {
	info := r.info()
	info.Attempt = n
	watch := info.Verb == "watch"
	path, err := r.path()
	if err != nil {
		return nil, info, &UsageError{Err: err}
	}
	if ctx.Err() != nil {
		return nil, info, conn.ContextError(ctx)
	}
	var (
		slot *slot
		resp *http.Response
	)
	if !watch {
		if c.limiter != nil {
			if err := c.limiter.Wait(ctx); err != nil {
				if ctx.Err() != nil {
					err = conn.ContextError(ctx)
				}
				return nil, info, fmt.Errorf("wait for Config.Limiter: %w", err)
			}
		}
		if slot, err = c.concurrency.acquire(ctx); err != nil {
			return nil, info, fmt.Errorf("wait for Config.Concurrency: %w", err)
		}
		defer func() { slot.release(info, resp) }()
	}
	query, content, as := r.content()
	var body io.Reader
	if content != nil {
		body = bytes.NewReader(content)
	}
	how := conn.CallOf(ctx) // a fetch of a credential may use a client
	how.Watch, how.Impersonate = watch, as.header()
	sending, cancel := context.WithCancel(how.With(ctx))
	hr, err := http.NewRequestWithContext(sending, info.Method, c.url(path, query), body)
	if err != nil {
		cancel()
		return nil, info, err
	}
	r.setHeader(hr.Header)
	hr.Header.Set("User-Agent", c.userAgent)
	start := time.Now()
	resp, err = c.http.Do(hr)
	info.Duration = time.Since(start)
	if err != nil {
		cancel()
		info.Err = connectionError(ctx, err)
		c.observe(ctx, info)
		return nil, info, info.Err
	}
	info.Code = resp.StatusCode
	resp.Body = &conn.Progress{
		Body: resp.Body, Cancel: cancel, Limit: c.stall, Stalled: c.stalled, CancelFirst: resp.Uncompressed || resp.ProtoMajor == 1,
	}
	c.observe(ctx, info)
	c.warn(ctx, resp.Header)
	return resp, info, nil
}

// url returns the URL of a path below the server's own, which may have escapes of its own that mean something to a proxy.
func (c *Client) url(path string, query url.Values) string {
	u := *c.server
	u.RawPath = strings.TrimSuffix(u.EscapedPath(), "/") + escapePath(path)
	u.Path, _ = url.PathUnescape(u.RawPath) // what EscapedPath returns can be unescaped
	u.RawQuery = query.Encode()
	return u.String()
}

// escapePath escapes a path for a URL. It also escapes the semicolon, which is allowed there: some servers and proxies take a
// segment to end at it (RFC 3986, section 3.3), and would see another name.
func escapePath(path string) string {
	return strings.ReplaceAll((&url.URL{Path: path}).EscapedPath(), ";", "%3B")
}

// connectionError says why there was no answer.
func connectionError(ctx context.Context, err error) error {
	if waited := (*CredentialError)(nil); errors.As(err, &waited) {
		return waited // which says what was waited for, also where ctx has ended
	}
	if waited := (*conn.SlowReadError)(nil); errors.As(err, &waited) {
		return waited
	}
	if ctx.Err() != nil {
		return conn.ContextError(ctx)
	}
	// A *url.Error repeats the method and the URL, which OpError says better.
	for ue, ok := err.(*url.Error); ok; ue, ok = err.(*url.Error) {
		err = ue.Err
	}
	if apierrors.NetworkOf(err) == apierrors.NetworkContext && errors.Is(err, context.DeadlineExceeded) {
		return &limitPassed{shown.Text(err.Error())}
	}
	if limit := headersError(err); limit != nil {
		return limit
	}
	if err == io.EOF {
		return fmt.Errorf("the server closed the connection without an answer: %w", io.ErrUnexpectedEOF)
	}
	if apierrors.NetworkOf(err) == apierrors.NetworkTimeout && strings.Contains(err.Error(), "timeout awaiting response headers") {
		return &StallError{Waited: conn.MaxHeaderWait} // neither of net/http's two types has a name
	}
	return shown.Error(err)
}

// headersError returns the error for headers that are too large, in place of those of net/http and its HTTP/2, which have no
// type; nil for any other.
func headersError(err error) error {
	text := fmt.Sprintf("the headers of the answer are larger than %d MiB", conn.MaxHeaders>>20)
	switch said := err.Error(); {
	case strings.Contains(said, "server response headers exceeded"), strings.Contains(said, "response header list larger than advertised"):
		return &AnswerError{Reason: HeadersTooLarge, Max: conn.MaxHeaders, text: text}
	case strings.HasSuffix(said, "connection error: COMPRESSION_ERROR"), strings.HasSuffix(said, "connection error: PROTOCOL_ERROR"):
		// HTTP/2 gives up early where they are much larger, and has the same words for what is no HTTP/2.
		return fmt.Errorf("%w: the server breaks HTTP/2, or %s", shown.Error(err), text)
	}
	return nil
}

// limitPassed is the error of a time limit of the transport's own, such as that for a proxy's answer. It must not be taken for
// the end of the caller's context, so it wraps nothing.
type limitPassed struct{ text string }

func (e *limitPassed) Error() string { return "a time limit of the transport passed: " + e.text }
func (e *limitPassed) Timeout() bool { return true }

// isSuccess reports whether a code says that the server has done what it was asked for.
func isSuccess(code int) bool { return code >= 200 && code <= 299 }

// checkAnswer returns nil for a success, or why the answer to r is none. It does not close the body. That of an error is read to its
// end, within reason, so that its connection can be used again.
func checkAnswer(resp *http.Response, r outgoing) error {
	if r.accepts(resp.StatusCode) {
		return r.checkType(resp)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	status := apierrors.FromResponse(resp.StatusCode, resp.Header, body, r.info().Method)
	if err != nil && len(body) == 0 {
		// Not wrapped: that the body was cut says nothing about whether the request may be sent again.
		return fmt.Errorf("%w (its body: %v)", status, shown.Error(err))
	}
	return status
}

// foreignBody returns the error for a body that is not what was asked for.
func foreignBody(resp *http.Response, excerpt string) error {
	return &AnswerError{Reason: ForeignBody, Got: shown.Text(excerpt), ContentType: shown.Text(resp.Header.Get("Content-Type"))}
}

// readError says why a body could not be read to its end. Where ctx has ended, that is why.
func readError(ctx context.Context, resp *http.Response, err error) error {
	if ctx.Err() != nil {
		return conn.ContextError(ctx)
	}
	if body := (*jsonstream.BodyError)(nil); errors.As(err, &body) {
		return foreignBody(resp, body.Excerpt)
	}
	return publicError(err)
}

// publicError returns what the framing says of a body under names that users have.
func publicError(err error) error {
	if limit := (*jsonstream.LimitError)(nil); errors.As(err, &limit) {
		reason := TooLarge
		if limit.Limit == "MaxDepth" {
			reason = TooDeep
		}
		return &AnswerError{Reason: reason, Max: limit.Max, Key: limit.Key, Offset: limit.Offset, text: limit.Error()}
	}
	if syntax := (*jsonstream.SyntaxError)(nil); errors.As(err, &syntax) {
		return &AnswerError{Reason: BrokenJSON, Offset: syntax.Offset, text: syntax.Error()}
	}
	return shown.Error(err)
}
