package codec

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Error says that a document does not fit the Go type, or is not JSON.
//
// Its message names the place, the kind of JSON that is there, and the Go type. It shows no value of the document,
// which may be a Secret, except the text of a time or a duration. errors.As finds the cause, but the cause may quote
// the value: do not log it unchecked.
type Error struct {
	// Path is the place in the document, such as spec.ports[1].port or metadata.labels["app"]. It is empty for the
	// whole document, or if the place is not known.
	Path string
	// Offset is the position in the document, from 0, of the value that does not fit, or of the byte that is not JSON.
	Offset int
	// Type is the Go type that does not fit: that of the field if it is known, otherwise that of the whole document.
	Type reflect.Type

	message   string
	cause     error
	hasOffset bool
	steps     []step // the path; the innermost first
}

// Error implements error.
func (e *Error) Error() string {
	message := fmt.Sprintf("decode into %v: %s", e.Type, e.message)
	if e.Path != "" {
		message += " at " + shorten(e.Path)
	}
	if e.hasOffset {
		message += " (byte " + strconv.Itoa(e.Offset) + ")"
	}
	return message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.cause }

// whole sets the type of the whole document in an error that has no type.
func (e *Error) whole(t reflect.Type) {
	if e.Type == nil {
		e.Type = t
	}
}

// shorten keeps both ends of a path, whose names come from the document and may be of any length.
func shorten(path string) string {
	const most = 256
	if len(path) <= most {
		return path
	}
	return strings.ToValidUTF8(path[:most/2]+"..."+path[len(path)-most/2:], "")
}

// kindName returns the kind of JSON that begins with c.
func kindName(c byte) string {
	switch c {
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case '{':
		return "object"
	case '[':
		return "array"
	case 'n':
		return "null"
	}
	return "number"
}

// reason returns the text of err for the end of a message, if err is known not to quote the value; otherwise nothing.
func reason(err error) string {
	var tag *tagError
	var moment *timeError
	switch {
	case errors.As(err, &moment):
		return ": got " + moment.text
	case errors.Is(err, strconv.ErrRange):
		return ": " + strconv.ErrRange.Error()
	case errors.Is(err, strconv.ErrSyntax):
		return ": " + strconv.ErrSyntax.Error()
	case errors.As(err, &tag):
		return ": " + tag.Error()
	}
	return ""
}
