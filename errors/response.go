package errors

import (
	"encoding/json"
	stderrors "errors"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/shown"
)

// maxRead bounds how many bytes are read of an answer that is not a Status.
const maxRead = 8 * maxText

// FromResponse returns the error for an answer that is not a success, from its code, its header, its body and the
// method of the request.
//
// If the body is a Status, whatever its content type says, the error has that Status. A Status is a JSON object that
// names the kind Status and does not claim success. FromResponse adds the code or the reason if the Status lacks it,
// and gives the reason [RequestEntityTooLarge] to an answer in which the store refuses the size of an object.
//
// For any other body FromResponse derives the reason from the code (409 to a POST is AlreadyExists, to others
// Conflict). The message then says that the answer is empty, or an HTML page, or another text, and shows the title of
// the page or a cleaned excerpt of the text, of at most 2048 bytes. The title or the excerpt is also the message of a
// cause [CauseUnexpectedServerResponse].
//
// RetryAfter is the time of the Retry-After header (RFC 9110, section 10.2.3). Without a valid header it is the
// Status's retryAfterSeconds: the header has priority, by the API conventions ("Response Status Kind"), even if it
// names a shorter time. A date in the header is relative to the Date header if there is one, so it does not depend on
// this machine's clock.
func FromResponse(code int, header http.Header, body []byte, method string) *StatusError {
	e := fromStatus(statusOf(code, header, body), method)
	e.FromStatus = e.Status.Kind == statusKind
	if !e.FromStatus {
		e.Status.TypeMeta = meta.TypeMeta{Kind: statusKind, APIVersion: "v1"}
	}
	if wait, ok := retryAfterHeader(header, time.Now()); ok {
		e.RetryAfter, e.HasRetryAfter = wait, true
	}
	return e
}

const (
	statusKind    = "Status"
	statusFailure = "Failure"
	statusSuccess = "Success"
)

// statusOf returns the Status in the body, with the answer's code if it has none. For any other body it returns a
// Status without a kind that describes the body.
func statusOf(code int, header http.Header, body []byte) meta.Status {
	var s meta.Status
	err := json.Unmarshal(body, &s)
	// A field of a wrong type does not stop the decoding of the others.
	read := err == nil || stderrors.As(err, new(*json.UnmarshalTypeError))
	if read && s.Kind == statusKind && s.Status != statusSuccess {
		if s.Code < 400 { // the answer was not a success, whatever its body says
			s.Code = code
		}
		return s
	}
	excerpt, message := describe(header.Get("Content-Type"), body)
	return meta.Status{
		Status: statusFailure, Code: code, Message: message,
		Details: &meta.StatusDetails{
			Causes: []meta.StatusCause{{Reason: CauseUnexpectedServerResponse, Message: excerpt}},
		},
	}
}

// describe returns an excerpt of a body that is not a Status, and a sentence that describes it.
func describe(contentType string, body []byte) (excerpt, message string) {
	text := string(body[:min(len(body), maxRead+1)]) // one byte more shows Clean that the text goes on
	if isHTML(contentType, text) {
		if title := htmlTitle(text); title != "" {
			return title, "the answer is not a Status but an HTML page titled " + strconv.Quote(title)
		}
		excerpt = shown.Clean(text, maxText)
		return excerpt, "the answer is not a Status but an HTML page: " + excerpt
	}
	excerpt = shown.Clean(text, maxText)
	switch {
	case len(body) == 0:
		return "", "the answer has no body"
	case excerpt == "":
		return "", "the answer is not a Status and has no text"
	case contentType == "":
		return excerpt, "the answer is not a Status: " + excerpt
	}
	return excerpt, "the answer is not a Status but " + shown.Clean(contentType, maxReason) + ": " + excerpt
}

// isHTML checks the content type, and how the body begins, because proxies send wrong content types.
func isHTML(contentType, text string) bool {
	if t, _, err := mime.ParseMediaType(contentType); err == nil && (t == "text/html" || t == "application/xhtml+xml") {
		return true
	}
	text = strings.TrimLeft(text, " \t\r\n\ufeff")
	for _, start := range []string{"<!doctype html", "<html"} {
		if len(text) >= len(start) && strings.EqualFold(text[:len(start)], start) {
			return true
		}
	}
	return false
}

// htmlTitle returns the text of the page's title element, which is more useful than the markup around it.
func htmlTitle(text string) string {
	const open, end = "<title>", "</title>"
	lower := strings.Map(func(r rune) rune { // changes only ASCII letters, so that the offsets stay the same
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
	if len(lower) != len(text) { // invalid UTF-8 has changed the offsets
		lower = text
	}
	from := strings.Index(lower, open)
	if from < 0 {
		return ""
	}
	from += len(open)
	length := strings.Index(lower[from:], end)
	if length < 0 {
		return ""
	}
	return shown.Clean(text[from:from+length], 256)
}
