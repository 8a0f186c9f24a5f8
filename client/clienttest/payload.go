package clienttest

import (
	"encoding/hex"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/messages"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

// payload is the body of a request.
type payload struct {
	media string
	sent  []byte   // as it came
	json  []byte   // the same as JSON, unless wrong is set
	twice []string // members that YAML has more than once
	wrong error    // why it does not match its media type; JSON is not checked
}

// readPayload reads the body of a request, which is JSON, YAML or protobuf and should be of a kind. As on a real
// server, a body without a media type is JSON.
func (c *call) readPayload(apiVersion, kind string) (*payload, error) {
	p := &payload{media: mediaJSON}
	if header := c.r.Header.Get("Content-Type"); header != "" && c.r.ContentLength != 0 {
		p.media, _, _ = mime.ParseMediaType(header)
	}
	if !slices.Contains([]string{mediaJSON, mediaYAML, mediaProtobuf}, p.media) || p.media == mediaProtobuf && !messages.Has(apiVersion, kind) {
		return nil, status.UnsupportedMediaType(mediaJSON, mediaYAML, mediaProtobuf)
	}
	var err error
	if p.sent, err = bodyOf(c.r); err != nil {
		return nil, err
	}
	switch {
	case p.media == mediaJSON || len(p.sent) == 0:
		p.json = p.sent
	case p.media == mediaProtobuf:
		p.json, p.wrong = messages.ToJSON(p.sent, apiVersion, kind)
	default:
		var v any
		if v, p.twice, p.wrong = jsontree.ParseYAML(p.sent); p.wrong == nil {
			p.json = jsontree.Append(nil, v)
		}
	}
	return p, nil
}

// readBody is readPayload for a body that must match its media type.
func (c *call) readBody(is meta.GVK) (*payload, error) {
	b, err := c.readPayload(is.APIVersion(), is.Kind)
	if err == nil && b.wrong != nil {
		err = unrecognized(is.Kind, b.wrong, b.sent)
	}
	return b, err
}

// bodyOf reads a request's body, whatever its type.
func bodyOf(r *http.Request) ([]byte, error) {
	b, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxBody))
	if err != nil {
		return nil, status.Failure(http.StatusRequestEntityTooLarge, "RequestEntityTooLarge",
			"Request entity too large: limit is %d", maxBody)
	}
	return b, nil
}

// maxBody is the maximum size of a request's body.
const maxBody = 3 << 20

// unrecognized returns the error for a body that does not name its kind.
func unrecognized(kind string, why error, body []byte) error {
	return status.BadRequest("the object provided is unrecognized (must be of type %s): %v (%s)", kind, why, summary(body))
}

// noKind returns the error for an object whose kind does not exist.
func noKind(kind, apiVersion string) error {
	return fmt.Errorf("no kind %q is registered for version %q in scheme %q", kind, apiVersion, "pkg/runtime/scheme.go:111")
}

// summary is the start of a body, for an error.
func summary(body []byte) string {
	const limit = 30
	if len(body) == 0 {
		return "<empty>"
	}
	show := func(b []byte) string { return string(b) }
	if body[0] != '{' {
		show = hex.EncodeToString
	}
	if len(body) > limit {
		return show(body[:limit]) + " ..."
	}
	return show(body)
}
