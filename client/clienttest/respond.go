package clienttest

import (
	"cmp"
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/bowline-go/bowline/client/clienttest/internal/messages"
	"github.com/bowline-go/bowline/client/meta"
)

const (
	mediaJSON     = "application/json"
	mediaYAML     = "application/yaml"
	mediaText     = "text/plain; charset=utf-8"
	mediaProtobuf = messages.MediaType
	mediaApply    = "application/apply-patch+yaml" // of a server-side apply
	metaGroup     = "meta.k8s.io"
)

// writeStatus answers with a Status. Retry-After comes from its details.
func writeStatus(w http.ResponseWriter, status meta.Status) {
	if status.Kind == "" {
		status.TypeMeta = meta.TypeMeta{Kind: "Status", APIVersion: "v1"}
	}
	if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(status.Details.RetryAfterSeconds))
	}
	writeJSON(w, cmp.Or(status.Code, http.StatusOK), status)
}

// writeJSON answers with the JSON of v and a newline, as every body of the real server ends.
func writeJSON(w http.ResponseWriter, code int, v any) {
	writeBody(w, code, mediaJSON, append(encoded(v), '\n'))
}

// encoded returns the JSON of a value that can always be encoded.
func encoded(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("clienttest: encode %T: %v", v, err))
	}
	return b
}

func writeBody(w http.ResponseWriter, code int, contentType string, body []byte) {
	h := w.Header()
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", "no-cache, private")
	}
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(code)
	_, _ = w.Write(body) // ignored: the client may have gone
}

// hashOf returns the hash of a document, which, as on a real server, does not depend on the form in which it is sent.
func hashOf(v any) string {
	return fmt.Sprintf("%X", sha512.Sum512(encoded(v)))
}

// notModified sets the ETag, and answers 304 if the client already has that document.
func notModified(w http.ResponseWriter, r *http.Request, hash string) bool {
	tag := strconv.Quote(hash)
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") != tag {
		return false
	}
	w.WriteHeader(http.StatusNotModified)
	return true
}
