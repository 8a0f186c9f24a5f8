package discovery

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	apierrors "github.com/bowline-go/bowline/errors"
)

// ErrStale says that a group version's resources are unknown, because the server could not ask the extension server that
// serves it. It is in the Failure of a PartialError.
var ErrStale = errors.New("the server could not ask the one that serves it")

// Failure is a group version whose resources could not be read, and why.
type Failure struct {
	GroupVersion GroupVersion
	Err          error
}

// PartialError says that some group versions could not be asked. It comes along with the results of the others, in their
// usual order, which are valid.
type PartialError struct {
	// Failed are the group versions, in the server's order; there is at least one.
	Failed []Failure
}

// Error names every group version and its error.
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

// Unwrap returns all the errors.
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

// NoMatchError says that the server has no resource of a kind or name. errors.Is matches it with apierrors.NotFound. If a group
// version that may have the resource could not be asked, the error is a [*DownError] instead.
type NoMatchError struct {
	// Name is the kind or name of the call, such as "Widget.example.dev/v1".
	Name string
	// Searched describes the searched groups, such as "every group" or the group "example.dev".
	Searched string
}

// Error says what was searched for, and where.
func (e *NoMatchError) Error() string {
	return "the server has no resource " + strconv.Quote(e.Name) + ": searched " + e.Searched
}

// Is matches apierrors.NotFound.
func (e *NoMatchError) Is(target error) bool { return target == apierrors.NotFound }

// DownError says that nobody knows whether the server has a resource of a kind or name, because group versions that may have it are
// down or do not say what they have. It is no [*NoMatchError], and errors.Is does not match it with apierrors.NotFound. errors.As finds a
// [*PartialError] in it.
type DownError struct {
	// Name is the kind or name of the call, such as "Widget.example.dev/v1".
	Name string
	// Failed are the group versions that could not be asked; there is at least one.
	Failed []Failure
}

// Error names each group version that is down, and its error.
func (e *DownError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "find the resource %q: ", e.Name)
	for i, f := range e.Failed {
		if i > 0 {
			b.WriteString("; ")
		}
		state := "is down"
		if refused(f.Err) {
			state = "does not say what it has"
		}
		fmt.Fprintf(&b, "group version %s %s: %v", f.GroupVersion, state, f.Err)
	}
	return b.String()
}

// Unwrap returns a *PartialError.
func (e *DownError) Unwrap() error { return partial(e.Failed) }

// NoAPIError says that the server answered 404 at the path where every API server lists its groups. It is not an API
// server, its URL has a wrong path, or something else answers in its place. The error does not match apierrors.NotFound,
// because it says nothing about the server's resources.
type NoAPIError struct {
	// Server is the server's URL, and Path the requested path below it.
	Server, Path string
	// Err is the answer. It is not wrapped.
	Err error
}

// Error names the server.
func (e *NoAPIError) Error() string {
	return fmt.Sprintf("there is no Kubernetes API at %s: is its path right? %v", e.Server, e.Err)
}

// DocumentError says that the server's answer is not the requested document, or is too large. A retry would not help soon,
// so the error is remembered as long as the answer would have been.
type DocumentError struct {
	// Path is the path of the document, such as "/apis".
	Path string
	// Err is the fault.
	Err error
}

// Error names the document and the fault.
func (e *DocumentError) Error() string { return "read " + e.Path + ": " + e.Err.Error() }

// Unwrap returns the fault of the document.
func (e *DocumentError) Unwrap() error { return e.Err }

// NoDocumentError says that the server publishes no OpenAPI v3 document for a group version. errors.Is matches it with
// apierrors.NotFound.
type NoDocumentError struct {
	GroupVersion GroupVersion
	// Err is the server's answer, or nil if only the server's index shows that there is no document.
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

// Is matches apierrors.NotFound.
func (e *NoDocumentError) Is(target error) bool { return target == apierrors.NotFound }

// Unwrap returns the server's answer.
func (e *NoDocumentError) Unwrap() error { return e.Err }
