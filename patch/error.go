package patch

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/bowline-go/bowline/internal/patch/tree"
)

// What can be wrong with a patch, or between a patch and a document. Errors wrap them where they say so.
var (
	// ErrMalformed is what cannot be right, whatever the document is: a pointer without a leading slash, an operation that
	// does not exist or lacks a member, the removal of the whole document, a move into what is moved.
	ErrMalformed = errors.New("malformed patch")
	// ErrNotFound is a location that the document does not have: a member that is not there, an index out of range, a path
	// through what is neither an object nor a list.
	ErrNotFound = errors.New("location not found")
	// ErrTestFailed is a "test" operation whose value is not that of the document.
	ErrTestFailed = errors.New("test failed")
	// ErrTooLarge is a document, a patch or a result beyond the bounds of this package.
	ErrTooLarge = tree.ErrTooLarge
)

// OpError says which operation of a JSON patch is wrong, or does not fit the document. It wraps [ErrMalformed],
// [ErrNotFound], [ErrTestFailed] or [ErrTooLarge], or what the encoding of the operation's value returned. It shows no value,
// neither of the patch nor of the document.
type OpError struct {
	// Index is the operation's place in the patch, from 0.
	Index int
	// Op is what it is, such as "replace"; empty if it does not say it.
	Op string
	// Path is the JSON pointer that cannot be followed: as a rule the operation's path, or its from.
	Path string
	// Err is the cause.
	Err error
}

func (e *OpError) Error() string {
	if e.Op == "" {
		return fmt.Sprintf("patch: operation %d: %v", e.Index, e.Err)
	}
	return fmt.Sprintf("patch: operation %d (%s %s): %v", e.Index, clip(e.Op), quote(e.Path), e.Err)
}

func (e *OpError) Unwrap() error { return e.Err }

// quote quotes a pointer or a name for an error's text, without its middle if it is long.
func quote(text string) string { return strconv.Quote(clip(text)) }

func clip(text string) string {
	const most = 160
	if len(text) <= most {
		return text
	}
	return text[:most/2] + "..." + text[len(text)-most/2:]
}

func malformed(format string, args ...any) error {
	return tree.Errorf(ErrMalformed, format, args...)
}

func notFound(format string, args ...any) error {
	return tree.Errorf(ErrNotFound, format, args...)
}

func tooLarge(format string, args ...any) error {
	return tree.Errorf(ErrTooLarge, format, args...)
}
