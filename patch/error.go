package patch

import (
	"errors"
	"fmt"

	"github.com/bowline-go/bowline/internal/patch/tree"
)

// The causes of errors about a patch, or about a patch and a document. The documentation of each error says whether it
// wraps one.
var (
	// ErrMalformed: the patch is wrong, whatever the document is. Examples are a pointer without a leading slash, an
	// operation that does not exist or lacks a member, the removal of the whole document, and a move of a value into
	// itself.
	ErrMalformed = errors.New("malformed patch")
	// ErrNotFound: the document does not have the location. A member does not exist, an index is out of range, or a
	// path leads through a value that is neither an object nor a list.
	ErrNotFound = errors.New("location not found")
	// ErrTestFailed: the value of a "test" operation differs from the value in the document.
	ErrTestFailed = errors.New("test failed")
	// ErrTooLarge: a document, a patch or a result is beyond the bounds of this package.
	ErrTooLarge = tree.ErrTooLarge
	// ErrNull: [Diff] or [DiffStrategic] would need to set null in a new object, which no merge patch can do.
	// [DiffJSON] can.
	ErrNull = tree.ErrNull
)

// opError says which operation of a JSON patch is wrong, or does not fit the document. It wraps [ErrMalformed],
// [ErrNotFound], [ErrTestFailed] or [ErrTooLarge], or the error of encoding the operation's value. Its text shows no
// value of the patch or the document.
type opError struct {
	// Index is the operation's place in the patch, from 0.
	Index int
	// Op is the operation's name, such as "replace", or empty if it has none.
	Op string
	// Path is the JSON pointer that cannot be followed: usually the operation's path, or its from.
	Path string
	// Err is the cause.
	Err error
}

func (e *opError) Error() string {
	if e.Op == "" {
		return fmt.Sprintf("patch: operation %d: %v", e.Index, e.Err)
	}
	return fmt.Sprintf("patch: operation %d (%s %s): %v", e.Index, tree.Clip(e.Op), tree.Quote(e.Path), e.Err)
}

func (e *opError) Unwrap() error { return e.Err }

func malformed(format string, args ...any) error {
	return tree.Errorf(ErrMalformed, format, args...)
}

func notFound(format string, args ...any) error {
	return tree.Errorf(ErrNotFound, format, args...)
}

func tooLarge(format string, args ...any) error {
	return tree.Errorf(ErrTooLarge, format, args...)
}
