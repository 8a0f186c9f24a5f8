package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/bowline-go/bowline/client/meta"
)

// RawRequest is a request to any path of the server.
type RawRequest struct {
	// Method is the HTTP method; empty means GET.
	Method string
	// Path is where, below the path of Config.Server, such as "/healthz". It starts with a slash, is not escaped, and has no
	// segment "." or "..".
	Path string
	// Query is the query.
	Query url.Values
	// Header is sent as it is. Without Accept, JSON is asked for. Authorization is sent instead of the client's own; the
	// headers Impersonate-* are those of Config.Impersonate and must not be here.
	Header http.Header
	// Body is the body; nil sends none. Header says what it is.
	Body []byte
}

// Raw sends a request to any path of the server, with the client's credentials, retries and limits, and returns the answer if
// it is a success; its body is the caller's to close. An answer that is none is an error with an *errors.StatusError in it.
// 304 Not Modified is returned as an answer where the request has a header If-None-Match.
func (c *Client) Raw(ctx context.Context, r RawRequest) (*http.Response, error) {
	q := request{verb: strings.ToLower(cmp.Or(r.Method, http.MethodGet)), query: r.Query, accept: jsonType, body: r.Body, raw: &r}
	return c.do(ctx, q)
}

func (r RawRequest) validate() error {
	if !strings.HasPrefix(r.Path, "/") {
		return errors.New("client.RawRequest: Path must start with a slash")
	}
	for segment := range strings.SplitSeq(r.Path[1:], "/") {
		if segment == "" {
			continue
		}
		if err := meta.ValidSegment("client.RawRequest: a segment of Path", segment); err != nil {
			return err
		}
	}
	for name := range r.Header {
		if isImpersonation(name) {
			return fmt.Errorf("client.RawRequest: Header must not have %q; see Config.Impersonate", name)
		}
	}
	return nil
}
