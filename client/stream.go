package client

import (
	"context"
	"io"
	"mime"
	"net/http"

	"github.com/bowline-go/bowline/client/meta"
)

// plainType is the type of a log.
const plainType = "text/plain"

// stream asks for a subresource whose answer is text, such as a log, and returns the text. If idles is true, the answer
// may pause. Every error is an *OpError, including those of Read.
func (r resource) stream(
	ctx context.Context, key meta.Key, subresource string, query map[string][]string, idles bool,
) (io.ReadCloser, error) {
	q := r.request("get", key)
	q.subresource, q.query, q.text, q.pauses = subresource, query, true, idles
	q.accept = jsonType + ", */*" // an API server refuses a request that accepts text only
	resp, err := r.send(ctx, q)
	if err != nil {
		return nil, err
	}
	return &streamed{body: resp.Body, fail: func(err error) error { return q.fail(readError(ctx, resp, err)) }}, nil
}

// checkText returns an error unless an answer is text. An answer without a body, such as 204, has no type.
func checkText(resp *http.Response) error {
	contentType := resp.Header.Get("Content-Type")
	if media, _, _ := mime.ParseMediaType(contentType); contentType == "" || media == plainType {
		return nil
	}
	return foreignAnswer(resp)
}

// streamed is the body of an answer; its Read returns errors of this package.
type streamed struct {
	body io.ReadCloser
	fail func(error) error
}

func (s *streamed) Read(p []byte) (int, error) {
	n, err := s.body.Read(p)
	if err != nil && err != io.EOF {
		err = s.fail(err)
	}
	return n, err
}

func (s *streamed) Close() error { return s.body.Close() }
