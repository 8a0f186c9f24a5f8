package discovery

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	apierrors "github.com/bowline-go/bowline/errors"
)

// ErrStale is why a group version's resources are not known: the server itself could not ask the one that serves it. It is in
// the Failure of a PartialError.
var ErrStale = errors.New("the server could not ask the one that serves it")

// Failure is a group version whose resources could not be had, and why.
type Failure struct {
	GroupVersion GroupVersion
	Err          error
}

// PartialError says that some group versions could not be asked. It comes along with what was found in the others, in their
// usual order, which can be used.
type PartialError struct {
	// Failed are the group versions, in the server's order; there is at least one.
	Failed []Failure
}

// Error names every group version and says why.
func (e *PartialError) Error() string {
	var b strings.Builder
	b.WriteString("discover ")
	for i, f := range e.Failed {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "%s: %v", f.GroupVersion, f.Err)
	}
	return b.String()
}

// Unwrap returns the errors of all.
func (e *PartialError) Unwrap() []error {
	errs := make([]error, 0, len(e.Failed))
	for _, f := range e.Failed {
		errs = append(errs, f.Err)
	}
	return errs
}

// partial returns failed as an error, and nil if there is none.
func partial(failed []Failure) error {
	if len(failed) == 0 {
		return nil
	}
	return &PartialError{Failed: failed}
}

// NoMatchError says that the server has no resource of a kind or name. It is an apierrors.NotFound for errors.Is, unless some
// of the group versions in which the resource could be could not be asked: then it wraps a *PartialError, and nothing is
// certain.
type NoMatchError struct {
	// Name is what was asked for, such as "Widget.example.dev/v1".
	Name string
	// Searched says where it was looked for, such as "every group" or the group "example.dev".
	Searched string
	// Failed are the group versions that could not be asked.
	Failed []Failure
}

// Error says what was asked for, where it was searched, and what could not be.
func (e *NoMatchError) Error() string {
	text := "the server has no resource " + strconv.Quote(e.Name) + ": searched " + e.Searched
	if len(e.Failed) > 0 {
		text += ", but could not " + partial(e.Failed).Error()
	}
	return text
}

// Is makes an error that is certain an apierrors.NotFound.
func (e *NoMatchError) Is(target error) bool {
	return target == apierrors.NotFound && len(e.Failed) == 0
}

// Unwrap returns a *PartialError where some group versions could not be asked.
func (e *NoMatchError) Unwrap() error { return partial(e.Failed) }

// NoAPIError says that the server answered 404 where every API server lists its groups: it is no API server, or its URL has a wrong
// path, or something else answers in its place. It does not match apierrors.NotFound, because nobody knows what the server has.
type NoAPIError struct {
	// Server is the server's URL, and Path what was asked for below it.
	Server, Path string
	// Err is the answer. It is not wrapped.
	Err error
}

// Error names the server.
func (e *NoAPIError) Error() string {
	return fmt.Sprintf("there is no Kubernetes API at %s: is its path right? %v", e.Server, e.Err)
}

// DocumentError says that what the server answered is not the document that was asked for, or too large. Asking again soon
// would not help, so it is kept as long as the answer would have been.
type DocumentError struct {
	// Path is where the document is, such as "/apis".
	Path string
	// Err is what is wrong with it.
	Err error
}

// Error says which document and what is wrong with it.
func (e *DocumentError) Error() string { return "read " + e.Path + ": " + e.Err.Error() }

// Unwrap returns what is wrong with the document.
func (e *DocumentError) Unwrap() error { return e.Err }

// NoDocumentError says that the server publishes no OpenAPI v3 document of a group version. It is an apierrors.NotFound for
// errors.Is.
type NoDocumentError struct {
	GroupVersion GroupVersion
	// Err is the server's answer, if there was one beyond that its index does not list the document.
	Err error
}

// Error names the group version.
func (e *NoDocumentError) Error() string {
	text := "the server has no OpenAPI v3 document of " + strconv.Quote(e.GroupVersion.String())
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Is makes the error an apierrors.NotFound.
func (e *NoDocumentError) Is(target error) bool { return target == apierrors.NotFound }

// Unwrap returns the server's answer.
func (e *NoDocumentError) Unwrap() error { return e.Err }
