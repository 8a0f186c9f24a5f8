package clienttest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// writeStatus answers with a Status. Retry-After comes from its details.
func writeStatus(w http.ResponseWriter, status meta.Status) {
	if status.Kind == "" {
		status.TypeMeta = meta.TypeMeta{Kind: "Status", APIVersion: "v1"}
	}
	code := status.Code
	if code == 0 {
		code = http.StatusOK
	}
	if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(status.Details.RetryAfterSeconds))
	}
	writeJSON(w, code, status)
}

// writeJSON answers with the JSON of v and a newline, which ends every body of the real server.
func writeJSON(w http.ResponseWriter, code int, v any) { writeBody(w, code, mediaJSON, bodyFor(v)) }

// bodyFor returns the JSON of v and a newline.
func bodyFor(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("clienttest: encode %T: %v", v, err))
	}
	return append(b, '\n')
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

// seconds rounds d up to the seconds of a Retry-After header.
func seconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }
