package tree

import (
	"errors"
	"fmt"
	"strconv"
)

// ErrTooLarge says that a document or a result is beyond the bounds of this package.
var ErrTooLarge = errors.New("too large")

// Errorf returns an error with its own text, for which errors.Is finds kind.
func Errorf(kind error, format string, args ...any) error {
	return &described{kind, fmt.Sprintf(format, args...)}
}

type described struct {
	kind error
	text string
}

func (d *described) Error() string { return d.text }

func (d *described) Unwrap() error { return d.kind }

// ErrNull says that an object is new and has a member that is null, which no merge patch can set.
var ErrNull = errors.New("null in a new object")

// Quote quotes a pointer or a name for an error's text. It leaves the middle out if the text is long.
func Quote(text string) string { return strconv.Quote(Clip(text)) }

// Clip leaves the middle of a long text out.
func Clip(text string) string {
	const most = 160
	if len(text) <= most {
		return text
	}
	return text[:most/2] + "..." + text[len(text)-most/2:]
}
