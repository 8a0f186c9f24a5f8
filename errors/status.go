package errors

import (
	"cmp"
	stderrors "errors"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/shown"
)

const (
	// maxText bounds how many bytes of a server's text an error shows.
	maxText = 2048
	// maxReason is the same bound for a reason, which is one word.
	maxReason = 128
)

// StatusError is an answer of the server that is not a success. Find it with errors.As, or test it with errors.Is and
// a [Reason].
type StatusError struct {
	// Status is the Status that the server sent, or an equivalent one if it sent another answer. If the server left
	// out the reason or the code, [FromResponse] and [FromStatus] derive one from the other.
	Status meta.Status
	// FromStatus is true if the answer was a Status object, so that it came from the API. It is false for any other
	// answer, whose reason was derived from the code. A 404 that is not a Status may come from a proxy, or from an API
	// server that serves nothing at that path; it says nothing about an object.
	FromStatus bool
	// RetryAfter is how long the server asks to wait, from 0 to MaxRetryAfter.
	RetryAfter time.Duration
	// HasRetryAfter is true if the server named a time to wait, which may be 0.
	HasRetryAfter bool
}

// FromStatus returns the error for a Status that did not come as an HTTP response, as in the ERROR event of a watch.
func FromStatus(s meta.Status) *StatusError { return fromStatus(s, "") }

func fromStatus(s meta.Status, method string) *StatusError {
	if refusesSize(s, method) {
		s.Reason = string(RequestEntityTooLarge)
	} else if r := reasonOfCode(s.Code, method); s.Reason == "" && r != Unknown {
		s.Reason = string(r)
	}
	s.Code = cmp.Or(s.Code, Reason(s.Reason).Code())
	e := &StatusError{Status: s, FromStatus: true}
	if s.Details != nil && s.Details.RetryAfterSeconds > 0 {
		e.RetryAfter, e.HasRetryAfter = seconds(s.Details.RetryAfterSeconds), true
	}
	return e
}

// Error returns the server's reason, code and message on one line. The caller puts the request before it.
func (e *StatusError) Error() string {
	if e == nil {
		return "server said nothing"
	}
	var b strings.Builder
	b.WriteString("server said ")
	b.WriteString(shown.Clean(string(e.reason()), maxReason))
	if e.Status.Code != 0 {
		b.WriteString(" (" + strconv.Itoa(e.Status.Code) + ")")
	}
	if message := shown.Clean(e.Status.Message, maxText); message != "" {
		b.WriteString(": " + message)
	}
	return b.String()
}

// Is reports whether the answer matches target, a [Reason]: the server sent that word, or it sent no listed word and a
// code that implies the reason. The codes 410, 413 and 429 match their reasons whatever word comes with them.
func (e *StatusError) Is(target error) bool {
	t, ok := target.(Reason)
	if !ok || e == nil || t == "" {
		return false
	}
	said := Reason(e.Status.Reason)
	switch t {
	case said:
		return true
	case Unknown:
		return e.reason() == Unknown
	case Gone, Expired:
		return said == Gone || said == Expired || e.Status.Code == http.StatusGone
	case RequestEntityTooLarge, TooManyRequests:
		if e.Status.Code == t.Code() {
			return true
		}
	}
	return said.Code() == 0 && reasonOfCode(e.Status.Code, "") == t
}

// reason returns the word that the server sent, or else the reason that the code implies.
func (e *StatusError) reason() Reason {
	return Reason(cmp.Or(e.Status.Reason, string(reasonOfCode(e.Status.Code, ""))))
}

// Causes returns the causes that the server listed, such as the invalid fields of an object with their paths. The
// slice belongs to the error: do not change it.
func (e *StatusError) Causes() []meta.StatusCause {
	if e == nil || e.Status.Details == nil {
		return nil
	}
	return e.Status.Details.Causes
}

// all yields every StatusError in the tree of err.
func all(err error) iter.Seq[*StatusError] {
	return func(yield func(*StatusError) bool) { visit(err, yield) }
}

func visit(err error, yield func(*StatusError) bool) bool {
	if e, ok := err.(*StatusError); ok {
		return e == nil || yield(e)
	}
	for _, child := range unwrap(err) {
		if !visit(child, yield) {
			return false
		}
	}
	return true
}

// unwrap returns the errors that err wraps or joins; nothing for nil and for a leaf.
func unwrap(err error) []error {
	if parts := several(err); parts != nil {
		return parts
	}
	if child := stderrors.Unwrap(err); child != nil {
		return []error{child}
	}
	return nil
}

// several returns the errors that err holds, if its type holds several: those of Unwrap() []error, or of Errors()
// []error, which some aggregates have instead.
func several(err error) []error {
	switch joined := err.(type) {
	case interface{ Unwrap() []error }:
		return joined.Unwrap()
	case interface{ Errors() []error }:
		return joined.Errors()
	}
	return nil
}
