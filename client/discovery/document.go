package discovery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/bowline-go/bowline/client"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/conn"
)

// page is a document to request from the server.
type page struct {
	path   string
	query  url.Values
	accept string
	parse  func(contentType string, body []byte) (any, error)
	hash   string // the hash of the expected content, if the server has announced it
}

// document is an answer or a refusal of the server. It does not change.
type document struct {
	value any   // the result of the page's parse
	err   error // instead of value: a refusal that a retry would not change
	etag  string
	hash  string // the hash of the content, if the page has one
	short bool   // expires after Options.MissTTL
	// at is when the request that brought or confirmed the document was sent. It is zero after Invalidate.
	at time.Time
}

// entry is one page. Catalog.mu protects it.
type entry struct {
	doc    *document // the latest document; nil before the first
	flight *flight   // the current request; nil if there is none
}

// flight is a request that several callers wait for. Its result is written before done is closed, and read after.
type flight struct {
	done chan struct{}
	doc  *document
	err  error
	left bool // the requester gave up before the answer: the waiters make their own requests
}

// fresh reports whether a document can be used without a request if it may be at most maxAge old.
func (c *Catalog) fresh(d *document, maxAge time.Duration) bool {
	if d.short {
		maxAge = min(maxAge, c.options.MissTTL)
	}
	age := time.Since(d.at)
	return age >= 0 && age < maxAge
}

// load returns the page's document, from the server unless good accepts the remembered one. One caller makes the
// request and the others wait for it; each leaves when its own context ends. No lock is held while they wait. A caller
// may get the answer to a request that began before its own call, but none from before Invalidate.
func (c *Catalog) load(ctx context.Context, p page, good func(*document) bool) (*document, error) {
	for {
		c.mu.Lock()
		e := c.entries[p.path]
		if e == nil {
			e = new(entry)
			c.entries[p.path] = e
		}
		if e.doc != nil && good(e.doc) {
			doc := e.doc
			c.mu.Unlock()
			return doc, doc.err
		}
		f := e.flight
		if f == nil {
			f = &flight{done: make(chan struct{})}
			e.flight = f
			old, since := e.doc, c.since
			c.mu.Unlock()
			return c.lead(ctx, p, e, f, old, since, good)
		}
		c.mu.Unlock()
		select {
		case <-f.done:
			if !f.left {
				return f.doc, f.err
			}
		case <-ctx.Done():
			return nil, failure(p, conn.ContextError(ctx))
		}
	}
}

// lead makes the request that others wait for, or finds the answer on disk. since is the time of the last Invalidate:
// older answers are not used.
func (c *Catalog) lead(
	ctx context.Context, p page, e *entry, f *flight, old *document, since time.Time, good func(*document) bool,
) (doc *document, err error) {
	defer func() {
		f.doc, f.err, f.left = doc, err, doc == nil && (err == nil || ctx.Err() != nil)
		c.mu.Lock()
		if e.flight == f { // false after Invalidate
			e.flight = nil
			if doc != nil {
				e.doc = doc
				c.prune(p, doc)
			}
		}
		c.mu.Unlock()
		close(f.done)
	}()
	if old == nil {
		if old = c.disk.read(ctx, p); old != nil && old.at.After(since) && good(old) {
			return old, nil
		}
	}
	doc, err = c.fetch(ctx, p, old)
	if err == nil && doc != nil {
		err = doc.err
	}
	return doc, err
}

// fetch requests p. old is the caller's last document of p, or nil. It returns an error without a document if a retry
// could help.
func (c *Catalog) fetch(ctx context.Context, p page, old *document) (*document, error) {
	doc := &document{at: time.Now()}
	r := client.RawRequest{Path: p.path, Query: p.query, Header: http.Header{"Accept": {cmp.Or(p.accept, "application/json")}}}
	if old != nil && old.etag != "" {
		r.Header.Set("If-None-Match", old.etag)
	}
	resp, body, err := c.get(ctx, r)
	switch {
	case err != nil && ctx.Err() == nil && refused(err):
		doc.err, doc.short = err, errors.Is(err, apierrors.NotFound)
		return doc, nil
	case err != nil:
		return nil, err
	}
	if doc.hash = p.hash; p.hash != "" && resp.Request != nil { // a server with another hash redirects to it
		doc.hash = resp.Request.URL.Query().Get("hash")
	}
	if resp.StatusCode == http.StatusNotModified { // Raw accepts it only if the request was conditional
		doc.value, doc.etag, doc.short = old.value, old.etag, old.short
		c.disk.touch(ctx, p, doc)
		return doc, nil
	}
	doc.etag = resp.Header.Get("ETag")
	contentType := resp.Header.Get("Content-Type")
	if doc.value, err = p.parse(contentType, body); err != nil {
		doc.err = &documentError{p.path, err}
		doc.value, doc.etag = nil, ""
		return doc, nil
	}
	doc.short = shortLived(doc.value)
	c.disk.write(ctx, p, doc, contentType, body)
	return doc, nil
}

// shortLived reports whether the server itself says that its answer is incomplete.
func shortLived(value any) bool {
	l, ok := value.(*listing)
	return ok && l.stale()
}

// refused reports whether err is an answer that a retry would not soon change.
func refused(err error) bool {
	if errors.As(err, new(*documentError)) || errors.As(err, new(*client.UsageError)) {
		return true
	}
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok {
		return false
	}
	switch status.Status.Code {
	case http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotAcceptable, http.StatusGone:
		return true
	}
	return false
}

// get sends r and reads the answer, for as long as it makes progress.
func (c *Catalog) get(ctx context.Context, r client.RawRequest) (*http.Response, []byte, error) {
	resp, err := c.client.Raw(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, int64(c.maxDocument)+1))
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, nil, failure(page{path: r.Path}, conn.ContextError(ctx))
	case err != nil:
		return nil, nil, failure(page{path: r.Path}, err)
	case len(body) > c.maxDocument:
		return nil, nil, &documentError{r.Path, fmt.Errorf("it is larger than %d bytes", c.maxDocument)}
	}
	return resp, body, nil
}

func failure(p page, err error) error { return &client.OpError{Path: p.path, Verb: "get", Err: err} }
