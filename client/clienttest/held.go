package clienttest

import (
	"bytes"
	"maps"
	"net/http"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/messages"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
)

// Handlers write every answer as JSON, except lists and watches in protobuf. If a client wants another form, this file
// collects the answer and translates it.

// translated answers a request in the form that the client wants. answer writes the answer as JSON. An answer that is
// not JSON, such as the "ok" of /healthz, stays as it is.
func (a *api) translated(w http.ResponseWriter, r *http.Request, answer func(http.ResponseWriter, *http.Request)) {
	accept := strings.Join(r.Header["Accept"], ",")
	if !strings.Contains(accept, mediaYAML) && !strings.Contains(accept, mediaProtobuf) {
		answer(w, r)
		return
	}
	plain := r.Clone(r.Context())
	plain.Header.Del("Accept-Encoding")
	held := &heldWriter{ResponseWriter: w, header: http.Header{}, code: http.StatusOK}
	answer(held, plain)
	if held.through {
		return
	}
	media := held.media
	if held.code >= http.StatusBadRequest || media == "" {
		media = statusMedia(accept)
	}
	body := held.body.Bytes()
	if held.header.Get("Content-Type") == mediaJSON {
		var err error
		if body, err = translate(media, body, held.header); err != nil {
			held.code = http.StatusInternalServerError
			body = append(encoded(status.Failure(held.code, "InternalError", "Internal error occurred: %v", err).Status), '\n')
		}
	}
	maps.Copy(w.Header(), held.header)
	w.Header().Del("Content-Length")
	a.writeCompressed(w, r, held.code, body, nil)
}

// statusMedia returns the form in which a client reads errors: the first one that it accepts without asking for
// another object.
func statusMedia(accept string) string {
	for _, part := range acceptable(accept) {
		if part.params["as"]+part.params["g"]+part.params["v"] == "" {
			return strings.Replace(strings.Replace(part.media, "*/*", mediaJSON, 1), "application/*", mediaJSON, 1)
		}
	}
	return mediaJSON
}

// translate returns the body of an answer in another form, and sets its Content-Type. A kind without such a form stays
// JSON.
func translate(media string, body []byte, h http.Header) ([]byte, error) {
	switch media {
	case mediaYAML:
		v, err := jsontree.Parse(body)
		if err != nil {
			return body, nil
		}
		body = jsontree.FormatYAML(v)
	case mediaProtobuf:
		b, err := messages.FromJSON(body)
		if messages.IsUnknown(err) {
			return body, nil
		}
		if err != nil {
			return nil, err
		}
		body = b
	}
	h.Set("Content-Type", media)
	return body, nil
}

// heldWriter holds an answer until its end. An answer that is flushed before, such as that of a watch, goes through as
// it is.
type heldWriter struct {
	http.ResponseWriter
	media   string // of the answer; empty if its handler does not decide
	header  http.Header
	code    int
	body    bytes.Buffer
	started bool
	through bool // a stream: the answer is no longer held
}

func (h *heldWriter) Header() http.Header { return h.header }

func (h *heldWriter) WriteHeader(code int) {
	if !h.started {
		h.started, h.code = true, code
	}
}

func (h *heldWriter) Write(b []byte) (int, error) {
	h.WriteHeader(http.StatusOK)
	if h.through {
		return h.ResponseWriter.Write(b)
	}
	return h.body.Write(b)
}

// FlushError sends the held answer and lets the rest through, for http.ResponseController.
func (h *heldWriter) FlushError() error {
	if !h.through {
		h.WriteHeader(http.StatusOK)
		h.through = true
		maps.Copy(h.ResponseWriter.Header(), h.header)
		h.ResponseWriter.WriteHeader(h.code)
		_, _ = h.ResponseWriter.Write(h.body.Bytes()) // ignored: the client may have gone
	}
	return http.NewResponseController(h.ResponseWriter).Flush()
}

// Unwrap gives http.ResponseController the writer below.
func (h *heldWriter) Unwrap() http.ResponseWriter { return h.ResponseWriter }
