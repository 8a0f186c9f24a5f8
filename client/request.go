package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/conn"
	"github.com/bowline-go/bowline/internal/content"
	"github.com/bowline-go/bowline/internal/jsonstream"
	"github.com/bowline-go/bowline/internal/shown"
)

const (
	jsonType = "application/json"
	// maxErrorBody bounds how much of an error's body is read; a Status is far smaller.
	maxErrorBody = 1 << 20
	// maxExcerpt bounds how much of a foreign body an error shows.
	maxExcerpt = 256
)

// outgoing is a request that Client.call sends. There are two kinds: request, which is about a resource, and
// rawRequest.
type outgoing interface {
	// info describes the request, without its outcome.
	info() RequestInfo
	// path returns the unescaped path below the server's own prefix, or the reason why nothing can be sent.
	path() (string, error)
	// content returns the query, the body, and the user to act for; nil means Config.Impersonate.
	content() (url.Values, []byte, *Subject)
	// setHeader sets the headers that the client does not set for every request.
	setHeader(http.Header)
	// accepts reports whether an answer with that code is a success.
	accepts(code int) bool
	// checkType returns an error if a success has the wrong type of body.
	checkType(*http.Response) error
	// idles reports whether an answer that has begun may pause.
	idles() bool
	// isOnce reports whether the request must not be sent again, whatever Config.Retry says.
	isOnce() bool
	// isRepeatable reports whether a write may be sent again after its connection broke. answered says that a
	// successful answer had begun.
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
	bound       string // the namespace that key must have, if it is set
	name        string // the name that key must have, if it is set; a collection is limited to it
	collection  bool   // the request is about the collection: key.Name is not part of the path
	subresource string
	query       url.Values
	accept      string
	contentType string
	body        []byte
	as          *Subject     // in place of Config.Impersonate; nil means Config.Impersonate
	once        bool         // must not be sent again, whatever Config.Retry says
	settles     bool         // the caller reads the result afterwards, so the request may be sent twice
	form        content.Form // the form that accept names before JSON; nil if accept names JSON alone
	upgrade     http.Header  // the headers of a request for the connection itself; nil for all others
	text        bool         // the answer is text, not an object
	pauses      bool         // the text may pause
	versions    served       // the versions of a resource with a Fallback; nil for all others
	keeps       bool         // managedFields are kept in a list or a watch
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

// path returns the unescaped path of the request below the server's own prefix. It returns an error if the namespace or
// the name is missing, not allowed, or not a path segment.
func (r request) path() (string, error) {
	var b strings.Builder
	if r.resource.Group == "" {
		b.WriteString("/api/")
	} else {
		b.WriteString("/apis/" + r.resource.Group + "/")
	}
	b.WriteString(r.resource.Version)
	switch {
	case r.checkName() != nil:
		return "", r.checkName()
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
		return "", errors.New("namespace must not be empty for a namespaced resource")
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

func (r request) content() (url.Values, []byte, *Subject) { return r.selected(), r.body, r.as }

func (r request) setHeader(h http.Header) {
	if r.upgrade != nil {
		maps.Copy(h, r.upgrade)
		return
	}
	h.Set("Accept", r.accept)
	if r.contentType != "" {
		h.Set("Content-Type", r.contentType)
	}
}

func (r request) accepts(code int) bool {
	return isSuccess(code) || r.upgrade != nil && code == http.StatusSwitchingProtocols
}

func (r request) checkType(resp *http.Response) error {
	if r.upgrade != nil {
		return checkUpgrade(resp)
	}
	if r.text {
		return checkText(resp)
	}
	contentType := resp.Header.Get("Content-Type")
	// A parameter that cannot be parsed does not affect the type.
	if media, _, _ := mime.ParseMediaType(contentType); contentType == "" || media == jsonType || isBinary(r.form, resp.Header) {
		return nil
	}
	return foreignAnswer(resp)
}

func (r request) idles() bool  { return r.verb == "watch" || r.pauses }
func (r request) isOnce() bool { return r.once }

func (r request) isRepeatable(answered bool) bool {
	// A pinned write that has succeeded makes its own precondition false, so a second attempt would be answered with a
	// Conflict.
	return r.isIdempotent() || r.settles || !answered && r.isPinned()
}

func (r request) fail(err error) error {
	if err == nil {
		return nil
	}
	return &OpError{Verb: r.verb, Resource: r.resource, Subresource: r.subresource, Key: r.key, Err: err}
}

// failPage is fail for a page of a list; the first page is number 1. err may be an *OpError already.
func (r request) failPage(page int, err error) error {
	op, ok := err.(*OpError)
	if !ok {
		op = r.fail(err).(*OpError)
	}
	if page > 1 {
		op.Page = page
	}
	return op
}

// do sends r, with retries, and returns the answer if it is a success; the caller closes its body. Every error is an
// *OpError.
func (c *Client) do(ctx context.Context, r outgoing) (resp *http.Response, err error) {
	err = c.call(ctx, r, func(answer *http.Response) error {
		resp = answer
		return nil
	})
	return resp, err
}

// send sends r once, as the n-th attempt, and returns any answer.
func (c *Client) send(ctx context.Context, r outgoing, n int) (*http.Response, RequestInfo, error) {
	info := r.info()
	info.Attempt, info.Host = n, c.server.Host
	watch := info.Verb == "watch"
	path, err := r.path()
	if err != nil {
		return nil, info, &UsageError{Err: err}
	}
	if ctx.Err() != nil {
		return nil, info, conn.ContextError(ctx)
	}
	if err := stopped(ctx); err != nil {
		return nil, info, err
	}
	asked := time.Now()
	if !watch && c.limiter != nil {
		if err := c.limiter.Wait(ctx); err != nil {
			if ctx.Err() != nil {
				err = conn.ContextError(ctx)
			}
			return nil, info, fmt.Errorf("wait for Config.Limiter: %w", err)
		}
	}
	query, content, as := r.content()
	var body io.Reader
	if content != nil {
		body = bytes.NewReader(content)
	}
	how := conn.CallOf(ctx) // the fetch of a credential may itself use a client
	how.Watch, how.Impersonate = watch, as.header()
	sending, cancel := context.WithCancel(how.With(ctx))
	hr, err := http.NewRequestWithContext(sending, info.Method, c.url(path, withTimeout(ctx, r, query)), body)
	if err != nil {
		cancel()
		return nil, info, err
	}
	r.setHeader(hr.Header)
	hr.Header.Set("User-Agent", c.userAgent)
	gated(ctx, hr)
	start := time.Now()
	info.Waited = start.Sub(asked)
	var resp *http.Response
	if err = stopped(ctx); err == nil { // the gate may have closed during the waits above
		resp, err = c.http.Do(hr)
	}
	info.Duration = time.Since(start)
	if err != nil {
		cancel()
		info.Err = connectionError(ctx, err)
		c.observe(ctx, info)
		return nil, info, info.Err
	}
	info.Code = resp.StatusCode
	if rw, ok := resp.Body.(io.ReadWriteCloser); ok && resp.StatusCode == http.StatusSwitchingProtocols {
		resp.Body = &upgraded{rw, cancel}
		c.observe(ctx, info)
		c.warn(ctx, r, resp.Header)
		return resp, info, nil
	}
	resp.Body = &conn.Progress{
		Body: resp.Body, Cancel: cancel, Limit: c.stall, Stalled: c.stalled, CancelFirst: resp.Uncompressed || resp.ProtoMajor == 1,
	}
	c.observe(ctx, info)
	c.warn(ctx, r, resp.Header)
	return resp, info, nil
}

// url returns the URL of a path below the server's own path. It keeps the escapes of the server's own path, because
// they may mean something to a proxy.
func (c *Client) url(path string, query url.Values) string {
	u := *c.server
	u.RawPath = strings.TrimSuffix(u.EscapedPath(), "/") + escapePath(path)
	u.Path, _ = url.PathUnescape(u.RawPath) // the result of EscapedPath can always be unescaped
	u.RawQuery = query.Encode()
	return u.String()
}

// escapePath escapes a path for a URL. It also escapes a semicolon, although a path may have one: some servers and
// proxies end a segment there (RFC 3986, section 3.3), and would see another name.
func escapePath(path string) string {
	return strings.ReplaceAll((&url.URL{Path: path}).EscapedPath(), ";", "%3B")
}

// connectionError returns the reason why there was no answer.
func connectionError(ctx context.Context, err error) error {
	if closed := stopped(ctx); closed != nil && errors.Is(err, closed) {
		return closed
	}
	if waited, ok := errors.AsType[*CredentialError](err); ok {
		return waited // the error names what the request waited for, even if ctx has ended
	}
	if waited, ok := errors.AsType[*conn.SlowReadError](err); ok {
		return waited
	}
	if ctx.Err() != nil {
		return conn.ContextError(ctx)
	}
	// A *url.Error repeats the method and the URL, which OpError states better.
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
		return stallError(fmt.Sprintf("no answer within %v", conn.MaxHeaderWait)) // net/http exports no type for it
	}
	return shown.Error(err)
}

// headersError returns the error for headers that are too large. It replaces the errors of net/http and its HTTP/2,
// which have no type. It returns nil for any other error.
func headersError(err error) error {
	text := fmt.Sprintf("the headers of the answer are larger than %d MiB", conn.MaxHeaders>>20)
	switch said := err.Error(); {
	case strings.Contains(said, "server response headers exceeded"), strings.Contains(said, "response header list larger than advertised"):
		return &AnswerError{Reason: HeadersTooLarge, text: text}
	case strings.HasSuffix(said, "connection error: COMPRESSION_ERROR"), strings.HasSuffix(said, "connection error: PROTOCOL_ERROR"):
		// HTTP/2 gives up early if the headers are much larger, and uses the same words for data that is not HTTP/2.
		return fmt.Errorf("%w: the server breaks HTTP/2, or %s", shown.Error(err), text)
	}
	return nil
}

// limitPassed is the error of one of the transport's own time limits, such as that for a proxy's answer. It wraps
// nothing, so that it is not taken for the end of the caller's context.
type limitPassed struct{ text string }

func (e *limitPassed) Error() string { return "a time limit of the transport passed: " + e.text }
func (e *limitPassed) Timeout() bool { return true }

// isSuccess reports whether a code says that the server has done what was asked.
func isSuccess(code int) bool { return code >= 200 && code <= 299 }

// checkAnswer returns nil if the answer to r is a success, and otherwise its error. It does not close the body. It
// reads the body of an error to its end, up to a limit, so that the connection can be used again.
func checkAnswer(resp *http.Response, r outgoing) error {
	if r.accepts(resp.StatusCode) {
		return r.checkType(resp)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	if q, ok := r.(request); ok {
		body = errorBody(q.form, resp, body)
	}
	status := apierrors.FromResponse(resp.StatusCode, resp.Header, body, r.info().Method)
	if err != nil && len(body) == 0 {
		// err is not wrapped, because a cut body says nothing about whether the request may be sent again.
		return fmt.Errorf("%w (its body: %v)", status, shown.Error(err))
	}
	return status
}

// foreignAnswer returns the error for an answer whose body is not of the requested type.
func foreignAnswer(resp *http.Response) error {
	excerpt, _ := io.ReadAll(io.LimitReader(resp.Body, maxExcerpt))
	return foreignBody(resp, string(excerpt))
}

// foreignBody returns the error for a body that is not of the requested type.
func foreignBody(resp *http.Response, excerpt string) error {
	text := fmt.Sprintf("server sent something other than the requested object, as %q", shown.Text(resp.Header.Get("Content-Type")))
	if excerpt = shown.Text(excerpt); excerpt != "" {
		text += ": " + excerpt
	}
	return &AnswerError{Reason: ForeignBody, Got: excerpt, text: text}
}

// readError returns the reason why a body could not be read to its end. If ctx has ended, that is the reason.
func readError(ctx context.Context, resp *http.Response, err error) error {
	if ctx.Err() != nil {
		return conn.ContextError(ctx)
	}
	if body, ok := errors.AsType[*jsonstream.BodyError](err); ok {
		return foreignBody(resp, body.Excerpt)
	}
	if short, ok := errors.AsType[*jsonstream.ShortError](err); ok && isWhole(resp, short.Offset) {
		return &AnswerError{Reason: BrokenBody, text: short.Error(), short: true}
	}
	return publicError(err)
}

// isWhole reports whether a body that has ended without an error is known to be all that the server sent. If only the
// end of the connection marks the end of the body (RFC 9112, section 6.3, rule 8), that is not known. A compressed body
// that has begun marks its own end.
func isWhole(resp *http.Response, size int64) bool {
	return resp.ProtoMajor != 1 || resp.ContentLength >= 0 || len(resp.TransferEncoding) > 0 || resp.Uncompressed && size > 0
}

// publicError turns an error of the framing into an exported type.
func publicError(err error) error {
	if limit, ok := errors.AsType[*jsonstream.LimitError](err); ok {
		reason := TooLarge
		if limit.Limit == "MaxDepth" {
			reason = TooDeep
		}
		return &AnswerError{Reason: reason, text: limit.Error()}
	}
	if syntax, ok := errors.AsType[*jsonstream.SyntaxError](err); ok {
		return &AnswerError{Reason: BrokenBody, text: syntax.Error()}
	}
	return shown.Error(err)
}
