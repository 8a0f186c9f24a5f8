// Package status has the failures of an API server, in kube-apiserver's words: errors that are answered with a Status,
// and the causes of errors about fields.
package status

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/bowline-go/bowline/client/meta"
)

// Error is a failure that is answered with a Status. The constructors below have the real server's words.
type Error struct{ Status meta.Status }

func (e *Error) Error() string { return e.Status.Message }

// Failure returns an error with a code. reason may be empty, as in the real server's unexpected errors.
func Failure(code int, reason, format string, args ...any) *Error {
	return &Error{meta.Status{
		TypeMeta: meta.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   "Failure", Code: code, Reason: reason, Message: fmt.Sprintf(format, args...),
	}}
}

// With gives an error its details.
func (e *Error) With(details meta.StatusDetails) *Error {
	e.Status.Details = &details
	return e
}

// Resource is a resource as an error names it.
type Resource interface{ GVR() meta.GVR }

func nameOf(r Resource) string { return Qualified(r.GVR().Resource, r.GVR().Group) }

// About says in the details which object an error is about, by resource.
func (e *Error) About(r Resource, name string) *Error {
	gvr := r.GVR()
	return e.With(meta.StatusDetails{Name: name, Group: gvr.Group, Kind: gvr.Resource})
}

// BadRequest is the error for a request that cannot be read or that is contradictory.
func BadRequest(format string, args ...any) *Error {
	return Failure(http.StatusBadRequest, "BadRequest", format, args...)
}

// NotFound is the error for an object that does not exist.
func NotFound(r Resource, name string) *Error {
	return Failure(http.StatusNotFound, "NotFound", "%s %q not found", nameOf(r), name).About(r, name)
}

// AlreadyExists is the error for creating an object that exists.
func AlreadyExists(r Resource, name string) *Error {
	return Failure(http.StatusConflict, "AlreadyExists", "%s %q already exists", nameOf(r), name).About(r, name)
}

// Conflict is the error for a write that does not fit the present state of an object.
func Conflict(r Resource, name, why string) *Error {
	return Unfulfilled(r.GVR().Group, r.GVR().Resource, name, "%s", why)
}

// Unfulfilled is Conflict, but names a kind in place of the resource.
func Unfulfilled(group, kind, name, format string, args ...any) *Error {
	return Failure(http.StatusConflict, "Conflict", "Operation cannot be fulfilled on %s %q: %s",
		Qualified(kind, group), name, fmt.Sprintf(format, args...)).With(meta.StatusDetails{Name: name, Group: group, Kind: kind})
}

// Modified is the message for an update with an old resource version.
const Modified = "the object has been modified; please apply your changes to the latest version and try again"

// Forbidden is the error for a request that is not allowed.
func Forbidden(r Resource, name, format string, args ...any) *Error {
	return Failure(http.StatusForbidden, "Forbidden",
		"%s %q is forbidden: %s", nameOf(r), name, fmt.Sprintf(format, args...)).About(r, name)
}

// NoSuchResource is the error for a path below a served group and version that names no resource.
func NoSuchResource() *Error {
	return Failure(http.StatusNotFound, "NotFound",
		"the server could not find the requested resource").With(meta.StatusDetails{})
}

// MethodNotAllowed is the error for a verb that a resource does not have.
func MethodNotAllowed() *Error {
	return Failure(http.StatusMethodNotAllowed, "MethodNotAllowed",
		"the server does not allow this method on the requested resource").With(meta.StatusDetails{})
}

// UnsupportedMediaType is the error for a body whose type is not accepted.
func UnsupportedMediaType(accepted ...string) *Error {
	return Failure(http.StatusUnsupportedMediaType, "UnsupportedMediaType",
		"the body of the request was in an unknown format - accepted media types include: %s", strings.Join(accepted, ", "))
}

// Expired is the error for a resource version, or a continue token, that is too old.
func Expired(format string, args ...any) *Error {
	return Failure(http.StatusGone, "Expired", format, args...)
}

// TooLargeVersion is the error for a resource version that the server has not reached yet.
func TooLargeVersion(asked, current uint64) *Error {
	return Failure(http.StatusGatewayTimeout, "Timeout",
		"Timeout: Too large resource version: %d, current: %d", asked, current).
		With(meta.StatusDetails{
			Causes:            []meta.StatusCause{{Reason: "ResourceVersionTooLarge", Message: "Too large resource version"}},
			RetryAfterSeconds: 1,
		})
}

// Invalid is the error for an object, or a set of options, that breaks rules. Its details contain the kind; those of
// other failures contain the resource as their kind.
func Invalid(group, kind, name string, causes []meta.StatusCause) *Error {
	words, said := make([]string, 0, len(causes)), make(map[string]bool, len(causes))
	for _, c := range causes {
		if text := c.Field + ": " + c.Message; !said[text] {
			said[text] = true
			words = append(words, text)
		}
	}
	why := strings.Join(words, ", ")
	if len(words) > 1 {
		why = "[" + why + "]"
	}
	return Failure(http.StatusUnprocessableEntity, "Invalid", "%s %q is invalid: %s", Qualified(kind, group), name, why).
		With(meta.StatusDetails{Name: name, Group: group, Kind: kind, Causes: causes})
}

// InvalidOptions is Invalid for a request's options.
func InvalidOptions(kind string, causes ...meta.StatusCause) *Error {
	return Invalid("meta.k8s.io", kind, "", causes)
}

// InvalidValue is the cause that a field has a wrong value.
func InvalidValue(field string, value any, why string) meta.StatusCause {
	return meta.StatusCause{
		Reason: "FieldValueInvalid", Field: field, Message: fmt.Sprintf("Invalid value: %s: %s", Shown(value), why),
	}
}

// ForbiddenValue is the cause that a field must not be set, or not to this value.
func ForbiddenValue(field, why string) meta.StatusCause {
	return meta.StatusCause{Reason: "FieldValueForbidden", Field: field, Message: "Forbidden: " + why}
}

// RequiredValue is the cause that a field is not set.
func RequiredValue(field, why string) meta.StatusCause {
	return meta.StatusCause{Reason: "FieldValueRequired", Field: field, Message: "Required value: " + why}
}

// UnsupportedValue is the cause that the value of a field is not one of the supported ones.
func UnsupportedValue(field string, value any, supported ...string) meta.StatusCause {
	for i, s := range supported {
		supported[i] = strconv.Quote(s)
	}
	return meta.StatusCause{Reason: "FieldValueNotSupported", Field: field, Message: fmt.Sprintf(
		"Unsupported value: %s: supported values: %s", Shown(value), strings.Join(supported, ", "))}
}

// Shown returns a value as errors show it: strings quoted, the rest as JSON.
func Shown(v any) string {
	j, err := json.Marshal(v)
	if s, ok := v.(string); ok || err != nil {
		return strconv.Quote(s)
	}
	return string(j)
}

// Qualified returns the name of a resource or a kind in errors, such as "leases.coordination.k8s.io".
func Qualified(name, group string) string {
	if group == "" {
		return name
	}
	return name + "." + group
}

// Causes are the causes of one error.
type Causes []meta.StatusCause

// If adds cause if wrong is true.
func (c *Causes) If(wrong bool, cause meta.StatusCause) {
	if wrong {
		*c = append(*c, cause)
	}
}
