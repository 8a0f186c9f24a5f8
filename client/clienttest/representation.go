package clienttest

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"strconv"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/messages"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
)

// The handlers make every answer as JSON, except lists and watches in protobuf. If a client wants another form, this file collects
// the answer and translates it.

// answer is what the handler of a request decides about the form of its answer.
type answer struct {
	media string // empty if the handler does not decide
}

// answerKey is the key of the *answer in the context of a request.
type answerKey struct{}

// namesOther reports whether a client names a form other than JSON.
func namesOther(r *http.Request) bool {
	accept := strings.Join(r.Header["Accept"], ",")
	return strings.Contains(accept, mediaYAML) || strings.Contains(accept, mediaProtobuf)
}

// answerOther answers a request that may want another form than JSON. An answer that is not JSON, such as the "ok" of /healthz, stays
// as it is.
func (s *Server) answerOther(w http.ResponseWriter, r *http.Request, p *Replica) {
	chosen := &answer{}
	plain := r.Clone(context.WithValue(r.Context(), answerKey{}, chosen))
	plain.Header.Del("Accept-Encoding")
	held := &heldWriter{ResponseWriter: w, header: http.Header{}, code: http.StatusOK}
	s.answerJSON(held, plain, p)
	if held.through {
		return
	}
	media := chosen.media
	if held.code >= http.StatusBadRequest || media == "" {
		media = statusMedia(r)
	}
	body := held.body.Bytes()
	if held.header.Get("Content-Type") == mediaJSON {
		var err error
		if body, err = translate(media, body, held.header); err != nil {
			held.code, media = http.StatusInternalServerError, mediaJSON
			failure := status.Failure(held.code, "InternalError", "Internal error occurred: %v", err)
			body = bodyFor(failure.Status)
		}
	}
	maps.Copy(w.Header(), held.header)
	w.Header().Del("Content-Length")
	out, finish := s.compressed(w, r, len(body))
	defer finish()
	if w.Header().Get("Content-Encoding") == "" {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	w.WriteHeader(held.code)
	_, _ = out.Write(body) // ignored: the client may have gone
}

// statusMedia returns the form in which a client reads errors: the first one that it accepts without asking for another object.
func statusMedia(r *http.Request) string {
	for _, part := range acceptable(strings.Join(r.Header["Accept"], ",")) {
		if part.params["as"]+part.params["g"]+part.params["v"] == "" {
			return strings.Replace(strings.Replace(part.media, "*/*", mediaJSON, 1), "application/*", mediaJSON, 1)
		}
	}
	return mediaJSON
}

// translate returns the body of an answer in another form, and sets its Content-Type. A kind without such a form stays JSON.
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

// heldWriter holds an answer until its end. An answer that is flushed before, such as that of a watch, goes through as it is.
type heldWriter struct {
	http.ResponseWriter
	header  http.Header
	code    int
	body    bytes.Buffer
	started bool
	through bool // a stream: the answer is not held any more
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

// FlushError lets the answer through, for http.ResponseController.
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
