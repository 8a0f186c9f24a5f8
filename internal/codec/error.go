package codec

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Error says that a document does not fit the Go type, or is not JSON.
//
// Its message says where, what kind of JSON is there and into which Go type it should go. It holds no value of the
// document, which may be a Secret. The cause is there for errors.As, but it may quote the value: do not log it unseen.
type Error struct {
	// Path is the place in the document as a JSON Pointer (RFC 6901), such as "/spec/ports/0/port". It is empty for the
	// whole document, or if the place is not known.
	Path string
	// Type is the Go type that does not fit: that of the field if it is known, otherwise that of the whole.
	Type reflect.Type

	message string
	cause   error
}

// Error implements error.
func (e *Error) Error() string {
	message := fmt.Sprintf("decode into %v: %s", e.Type, e.message)
	if e.Path != "" {
		message += " at " + strconv.Quote(shorten(e.Path))
	}
	return message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.cause }

// shorten keeps both ends of a path, whose names come from the document and may be of any length.
func shorten(path string) string {
	const most = 256
	if len(path) <= most {
		return path
	}
	return strings.ToValidUTF8(path[:most/2]+"..."+path[len(path)-most/2:], "")
}

// newError makes one error of two: that of the fast attempt, which knows best where it happened, and that of the lenient
// one, which was not put off by a malformed tag.
func newError(whole reflect.Type, fast, lenient error) *Error {
	var syntax *jsontext.SyntacticError
	if errors.As(lenient, &syntax) {
		return &Error{
			Path: string(syntax.JSONPointer), Type: whole, cause: lenient,
			message: fmt.Sprintf("invalid JSON at byte %d", syntax.ByteOffset),
		}
	}
	if behind := (*jsonv1.SyntaxError)(nil); errors.As(lenient, &behind) {
		return &Error{Type: whole, cause: lenient, message: fmt.Sprintf("invalid JSON at byte %d", behind.Offset)}
	}
	var mismatch *jsonv1.UnmarshalTypeError
	isMismatch := errors.As(lenient, &mismatch)
	var place *json.SemanticError
	if errors.As(fast, &place) && agree(place, mismatch, lenient) {
		return &Error{
			Path: string(place.JSONPointer), Type: place.GoType, cause: fast,
			message: "a JSON " + kindName(place.JSONKind) + " does not fit" + reason(place.Err),
		}
	}
	if isMismatch {
		word, _, _ := strings.Cut(mismatch.Value, " ") // what follows is the value
		e := &Error{Type: mismatch.Type, cause: lenient, message: "a JSON " + word + " does not fit" + reason(mismatch.Err)}
		if mismatch.Field != "" {
			e.Path = "/" + strings.ReplaceAll(mismatch.Field, ".", "/")
		}
		return e
	}
	return &Error{Type: whole, cause: lenient, message: "a value does not fit"}
}

// agree reports whether the fast attempt failed for the reason for which the lenient one did, and not for a tag.
func agree(place *json.SemanticError, mismatch *jsonv1.UnmarshalTypeError, lenient error) bool {
	if mismatch != nil {
		return place.GoType == mismatch.Type
	}
	return place.Err != nil && place.Err.Error() == lenient.Error()
}

func kindName(k jsontext.Kind) string {
	switch k {
	case '"':
		return "string"
	case '0':
		return "number"
	case 't', 'f':
		return "boolean"
	case '{', '}':
		return "object"
	case '[', ']':
		return "array"
	case 'n':
		return "null"
	}
	return "value"
}

// reason adds the causes that are known not to quote the value.
func reason(err error) string {
	switch {
	case errors.Is(err, strconv.ErrRange):
		return ": " + strconv.ErrRange.Error()
	case errors.Is(err, strconv.ErrSyntax):
		return ": " + strconv.ErrSyntax.Error()
	}
	return ""
}
