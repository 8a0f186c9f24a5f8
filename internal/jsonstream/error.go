package jsonstream

import (
	"fmt"
	"io"
	"strings"

	"github.com/bowline-go/bowline/client/meta"
)

// SyntaxError says that the body is not the JSON that it should be: a bracket, comma or colon is missing or misplaced,
// or a part of the list or of the event has the wrong type. It shows at most one character of the body. SyntaxError
// also reports a body that should be protobuf and is not.
type SyntaxError struct {
	// Offset is the position in the decompressed body of the byte that does not fit, counted from 0.
	Offset int64

	message string
}

// NotProtobuf returns the error for a body that should be protobuf, but whose bytes at the offset do not fit.
func NotProtobuf(offset int64, message string) *SyntaxError {
	return &SyntaxError{Offset: offset, message: message}
}

// Error implements error.
func (e *SyntaxError) Error() string { return fmt.Sprintf("body at byte %d: %s", e.Offset, e.message) }

// LimitError says that an object, or a member of a list, is larger or nested deeper than [Options] allow. For an
// object in a list or a watch it is not an error of the body: see Item.Limit.
type LimitError struct {
	// Limit is the name of the field of Options: "MaxObject" or "MaxDepth".
	Limit string
	// Max is the limit's value, in bytes or levels.
	Max int
	// Key is the key of the object, as far as its metadata had been read by then; it is zero when nothing was known.
	Key meta.Key
	// Offset is the position in the decompressed body where the object starts (MaxObject) or where it nests too deep
	// (MaxDepth), counted from 0.
	Offset int64
}

// Error implements error.
func (e *LimitError) Error() string {
	what := "an object"
	if e.Key != (meta.Key{}) {
		what = fmt.Sprintf("object %q", e.Key)
	}
	if e.Limit == "MaxDepth" {
		return fmt.Sprintf("%s nests deeper than MaxDepth, %d levels, at byte %d of the body", what, e.Max, e.Offset)
	}
	return fmt.Sprintf("%s, at byte %d of the body, is larger than MaxObject, %d bytes", what, e.Offset, e.Max)
}

// ShortError says that the body ends too early, although its reader reports no error. It wraps io.ErrUnexpectedEOF.
type ShortError struct {
	// Offset is the length of the decompressed body.
	Offset int64
}

// Error implements error.
func (e *ShortError) Error() string {
	if e.Offset == 0 {
		return fmt.Sprintf("the body is empty: %v", io.ErrUnexpectedEOF)
	}
	return fmt.Sprintf("the body is cut at byte %d: %v", e.Offset, io.ErrUnexpectedEOF)
}

// Unwrap returns io.ErrUnexpectedEOF.
func (e *ShortError) Unwrap() error { return io.ErrUnexpectedEOF }

// BodyError says that the body is something other than what was asked for, such as an HTML page of a proxy, or a
// Status instead of a list.
type BodyError struct {
	// Excerpt is the beginning of the body, at most 256 bytes.
	Excerpt string
	message string
}

// NewBodyError returns the error for a body that begins with an excerpt.
func NewBodyError(message string, excerpt []byte) *BodyError {
	return &BodyError{Excerpt: string(excerpt), message: message}
}

// Error implements error.
func (e *BodyError) Error() string {
	return fmt.Sprintf("%s: %q", e.message, strings.ToValidUTF8(e.Excerpt, "\uFFFD"))
}

// BareError says that a watch contains an object instead of an event. A server or a proxy that answers with a Status
// sends one, and a server that does not know watches sends a list.
type BareError struct {
	// APIVersion and Kind are the object's.
	APIVersion, Kind string
	// Raw is the object; it is empty for a list, and for an object of more than 64 KiB.
	Raw []byte
}

// Error implements error.
func (e *BareError) Error() string {
	return fmt.Sprintf("the body has an object of kind %q where a watch event should be", e.Kind)
}

// syntaxError reports the byte at pos.
func (s *scanner) syntaxError(format string, a ...any) error {
	return &SyntaxError{Offset: s.base + int64(s.pos), message: fmt.Sprintf(format, a...)}
}

// unexpected reports that c, the byte at pos, does not fit the grammar there.
func (s *scanner) unexpected(c byte, want string) error {
	if c >= 0x80 {
		return s.syntaxError("found byte 0x%x where %s should be", c, want)
	}
	return s.syntaxError("found %q where %s should be", rune(c), want)
}

// tooDeep reports the bracket at pos.
func (s *scanner) tooDeep() error {
	return &LimitError{Limit: "MaxDepth", Max: s.maxDepth, Offset: s.base + int64(s.pos)}
}

// tooLarge reports the object that starts at start.
func (s *scanner) tooLarge() error {
	return &LimitError{Limit: "MaxObject", Max: s.maxObject, Offset: s.base + int64(s.start)}
}

// readError wraps an error of the reader that came before the body was complete.
func (s *scanner) readError(err error) error {
	at := s.base + int64(s.end)
	if _, ok := err.(*LimitError); ok {
		return err
	}
	if err != io.EOF {
		return fmt.Errorf("read body at byte %d: %w", at, err)
	}
	return &ShortError{Offset: at}
}

// withKey adds the key of the object that was being read to a LimitError without one.
func withKey(err error, key meta.Key) error {
	if limit, ok := err.(*LimitError); ok && limit.Key == (meta.Key{}) {
		limit.Key = key
	}
	return err
}
