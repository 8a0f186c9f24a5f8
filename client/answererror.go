package client

import (
	"fmt"
	"strings"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/shown"
)

// AnswerReason says what is wrong with an answer. It is an error, so that errors.Is(err, client.WrongKind) finds an [*AnswerError] of
// that reason.
type AnswerReason string

const (
	// ForeignBody: the answer is not JSON, or not an object. A proxy or a captive portal that answers in the server's place is the
	// usual cause. Got is the start of the body, without control characters, and ContentType is what the answer called itself.
	ForeignBody AnswerReason = "ForeignBody"
	// BrokenJSON: the answer is not JSON from Offset on, or not the JSON that it should be.
	BrokenJSON AnswerReason = "BrokenJSON"
	// WrongKind: the object is of another kind than the resource's descriptor says. Got and Want are apiVersion and kind, such as
	// "apps/v1 Deployment". Got is empty if the object names no kind, and Want if any kind would have done. Either the descriptor is
	// wrong, or another program than the API server has answered.
	WrongKind AnswerReason = "WrongKind"
	// WrongVersion: a list was asked for at exactly one resource version, with [Exact], and came at another. Got and Want are resource
	// versions. Servers older than 1.19 ignore Exact if the list has no pages.
	WrongVersion AnswerReason = "WrongVersion"
	// TooLarge: the object that starts at Offset, or another member of a list, has more than Max bytes, which is Config.MaxObject. The
	// client skips such an object of a list or a watch: the error is the [*DecodeError] of this object alone. An object of more
	// than 32 MiB and 16 times MaxObject ends the list or the watch.
	TooLarge AnswerReason = "TooLarge"
	// TooDeep: the same for an object that nests deeper than Max levels, which is fixed; Offset is where.
	TooDeep AnswerReason = "TooDeep"
	// HeadersTooLarge: the headers of the answer have more than Max bytes, which is fixed.
	HeadersTooLarge AnswerReason = "HeadersTooLarge"
)

// Error returns the reason.
func (r AnswerReason) Error() string { return string(r) }

// AnswerError says that the answer to a request that succeeded is not what it must be. The client notices it while it reads.
type AnswerError struct {
	// Reason is what is wrong. It says which of the other fields are set.
	Reason AnswerReason
	// Got and Want are what came and what should have come.
	Got, Want string
	// ContentType is the type that the answer names.
	ContentType string
	// Max is the limit that was exceeded, in bytes or levels.
	Max int
	// Key is the object's, as far as it was known by then.
	Key meta.Key
	// Offset is the position in the decompressed body, in bytes from 0.
	Offset int64

	text string // of what the framing has found
}

// Is reports whether target is e.Reason.
func (e *AnswerError) Is(target error) bool { return target == error(e.Reason) }

// Error implements error.
func (e *AnswerError) Error() string {
	switch {
	case e.text != "":
		return e.text
	case e.Reason == WrongKind:
		return e.wrongKind()
	case e.Reason == WrongVersion:
		return fmt.Sprintf("server sent the list at resource version %q, want exactly %q", shown.Text(e.Got), shown.Text(e.Want))
	case e.Reason == ForeignBody:
		text := fmt.Sprintf("server sent something else than the object that was asked for, as %q", e.ContentType)
		if e.Got != "" {
			text += ": " + e.Got
		}
		return text
	}
	return "server sent an answer that is " + string(e.Reason)
}

func (e *AnswerError) wrongKind() string {
	text := "server sent " + shown.Text(e.Got)
	if e.Got == "" {
		text = "server sent an object without a kind"
	}
	if e.Want != "" {
		text += ", want " + e.Want
	}
	return text
}

// wrongKind returns the error for an object of one kind in place of one of another.
func wrongKind(apiVersion, kind, wantAPIVersion, wantKind string) *AnswerError {
	typed := func(apiVersion, kind string) string { return strings.TrimSpace(apiVersion + " " + kind) }
	return &AnswerError{Reason: WrongKind, Got: typed(apiVersion, kind), Want: typed(wantAPIVersion, wantKind)}
}
