package clienttest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// statusError is a failure that is answered with a Status. The constructors below have the real server's words.
type statusError struct{ status meta.Status }

func (e *statusError) Error() string { return e.status.Message }

// failure returns a Status. reason may be empty, as the real server leaves it for errors that it did not expect.
func failure(code int, reason, format string, args ...any) *statusError {
	return &statusError{meta.Status{
		TypeMeta: meta.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   "Failure", Code: code, Reason: reason, Message: fmt.Sprintf(format, args...),
	}}
}

func (e *statusError) with(details meta.StatusDetails) *statusError {
	e.status.Details = &details
	return e
}

// about says which object an error is about, by resource.
func (e *statusError) about(r *resource, name string) *statusError {
	return e.with(meta.StatusDetails{Name: name, Group: r.Group, Kind: r.Resource.Resource})
}

func badRequest(format string, args ...any) *statusError {
	return failure(http.StatusBadRequest, "BadRequest", format, args...)
}

func notFound(r *resource, name string) *statusError {
	return failure(http.StatusNotFound, "NotFound", "%s %q not found", r.groupResource(), name).about(r, name)
}

func alreadyExists(r *resource, name string) *statusError {
	return failure(http.StatusConflict, "AlreadyExists", "%s %q already exists", r.groupResource(), name).about(r, name)
}

func conflict(r *resource, name, why string) *statusError {
	return failure(http.StatusConflict, "Conflict",
		"Operation cannot be fulfilled on %s %q: %s", r.groupResource(), name, why).about(r, name)
}

// modified is why an update with an old resource version fails.
const modified = "the object has been modified; please apply your changes to the latest version and try again"

func forbidden(r *resource, name, format string, args ...any) *statusError {
	return failure(http.StatusForbidden, "Forbidden",
		"%s %q is forbidden: %s", r.groupResource(), name, fmt.Sprintf(format, args...)).about(r, name)
}

// noSuchResource is a path below a served group and version that names nothing.
func noSuchResource() *statusError {
	return failure(http.StatusNotFound, "NotFound",
		"the server could not find the requested resource").with(meta.StatusDetails{})
}

func methodNotAllowed() *statusError {
	return failure(http.StatusMethodNotAllowed, "MethodNotAllowed",
		"the server does not allow this method on the requested resource").with(meta.StatusDetails{})
}

func unsupportedMediaType(accepted ...string) *statusError {
	return failure(http.StatusUnsupportedMediaType, "UnsupportedMediaType",
		"the body of the request was in an unknown format - accepted media types include: %s", strings.Join(accepted, ", "))
}

func expired(format string, args ...any) *statusError {
	return failure(http.StatusGone, "Expired", format, args...)
}

func tooLargeVersion(asked, current uint64) *statusError {
	return failure(http.StatusGatewayTimeout, "Timeout",
		"Timeout: Too large resource version: %d, current: %d", asked, current).
		with(meta.StatusDetails{
			Causes:            []meta.StatusCause{{Reason: "ResourceVersionTooLarge", Message: "Too large resource version"}},
			RetryAfterSeconds: 1,
		})
}

// invalid is an object, or a set of options, that breaks rules. details.kind is the kind here, not the resource.
func invalid(group, kind, name string, causes []meta.StatusCause) *statusError {
	words := make([]string, 0, len(causes))
	for _, c := range causes {
		if text := c.Field + ": " + c.Message; !slices.Contains(words, text) {
			words = append(words, text)
		}
	}
	why := strings.Join(words, ", ")
	if len(words) > 1 {
		why = "[" + why + "]"
	}
	return failure(http.StatusUnprocessableEntity, "Invalid", "%s %q is invalid: %s", dotted(kind, group), name, why).
		with(meta.StatusDetails{Name: name, Group: group, Kind: kind, Causes: causes})
}

// invalidOptions is invalid for a request's options.
func invalidOptions(kind string, causes ...meta.StatusCause) *statusError {
	return invalid("meta.k8s.io", kind, "", causes)
}

func invalidValue(field string, value any, why string) meta.StatusCause {
	return meta.StatusCause{
		Reason: "FieldValueInvalid", Field: field, Message: fmt.Sprintf("Invalid value: %s: %s", shown(value), why),
	}
}

func forbiddenValue(field, why string) meta.StatusCause {
	return meta.StatusCause{Reason: "FieldValueForbidden", Field: field, Message: "Forbidden: " + why}
}

func requiredValue(field, why string) meta.StatusCause {
	return meta.StatusCause{Reason: "FieldValueRequired", Field: field, Message: "Required value: " + why}
}

func unsupportedValue(field string, value any, supported ...string) meta.StatusCause {
	for i, s := range supported {
		supported[i] = strconv.Quote(s)
	}
	return meta.StatusCause{Reason: "FieldValueNotSupported", Field: field, Message: fmt.Sprintf(
		"Unsupported value: %s: supported values: %s", shown(value), strings.Join(supported, ", "))}
}

// shown is a value in an error: strings quoted, the rest as JSON.
func shown(v any) string {
	j, err := json.Marshal(v)
	if s, ok := v.(string); ok || err != nil {
		return strconv.Quote(s)
	}
	return string(j)
}

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

// writeJSON answers with the JSON of v and a newline, as the real server ends its bodies.
func writeJSON(w http.ResponseWriter, code int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("clienttest: encode %T: %v", v, err))
	}
	writeBody(w, code, mediaJSON, append(b, '\n'))
}

func writeBody(w http.ResponseWriter, code int, contentType string, body []byte) {
	h := w.Header()
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", "no-cache, private")
	}
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(code)
	_, _ = w.Write(body) // a client that has gone does not want an error
}

// seconds rounds d up to what a Retry-After header can say.
func seconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }
