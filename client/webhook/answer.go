package webhook

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// invalid is the error of Invalid.
type invalid struct{ cause meta.StatusCause }

// Invalid returns the error that a field has a wrong value. field is its path, such as spec.containers[0].image, and
// format continues the sentence that begins with the path. Join several errors with errors.Join: the answer has all of
// them.
func Invalid(field, format string, args ...any) error {
	return &invalid{meta.StatusCause{Reason: "FieldValueInvalid", Field: field, Message: fmt.Sprintf(format, args...)}}
}

// Error implements error.
func (e *invalid) Error() string { return e.cause.Field + ": " + e.cause.Message }

// refusal returns the status for an error of a function.
func refusal(about groupKind, name string, err error) *meta.Status {
	if stated, ok := errors.AsType[*apierrors.StatusError](err); ok {
		s := stated.Status
		return &s
	}
	if causes, only := causesOf(err); only && len(causes) > 0 {
		texts := make([]string, len(causes))
		for i, c := range causes {
			texts[i] = c.Field + ": " + c.Message
		}
		kind := about.Kind
		if about.Group != "" {
			kind += "." + about.Group
		}
		return failure(http.StatusUnprocessableEntity, "Invalid", &meta.StatusDetails{Name: name, Group: about.Group, Kind: about.Kind, Causes: causes},
			"%s %q is invalid: %s", kind, name, strings.Join(texts, ", "))
	}
	return failure(http.StatusForbidden, "Forbidden", nil, "%s", err)
}

// causesOf returns the causes of an error of Invalid, or of a join of such errors. only is false if the error has any
// other part.
func causesOf(err error) (causes []meta.StatusCause, only bool) {
	switch e := err.(type) { // causesOf looks at each part of a join
	case *invalid:
		return []meta.StatusCause{e.cause}, true
	case interface{ Unwrap() []error }:
		for _, part := range e.Unwrap() {
			inner, only := causesOf(part)
			if !only {
				return nil, false
			}
			causes = append(causes, inner...)
		}
		return causes, true
	}
	return nil, false
}

func failure(code int, reason string, details *meta.StatusDetails, format string, args ...any) *meta.Status {
	return &meta.Status{Status: "Failure", Code: code, Reason: reason, Message: fmt.Sprintf(format, args...), Details: details}
}
