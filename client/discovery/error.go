package discovery

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
)

// errStale says that a group version's resources are unknown, because the server could not ask the extension server
// that serves it.
var errStale = errors.New("the server does not reach its extension server")

// DownError says that some group versions could not be asked. If the call was for one kind or name, it is unknown
// whether the server has it. Otherwise the error comes along with the results of the other group versions, which are
// valid. It is not a [*NoMatchError], and errors.Is does not match it with apierrors.NotFound.
type DownError struct {
	// Failed has the error of each group version, by its name such as "apps/v1" or "v1"; there is at least one.
	Failed map[string]error

	name string // what the call asked for; empty if the error comes along with results
}

// Error names each group version and its error.
func (e *DownError) Error() string {
	texts := make([]string, 0, len(e.Failed))
	for _, gv := range slices.Sorted(maps.Keys(e.Failed)) {
		err := e.Failed[gv]
		switch {
		case e.name == "":
		case refused(err):
			gv = "group version " + gv + " does not list its resources"
		default:
			gv = "group version " + gv + " is down"
		}
		texts = append(texts, gv+": "+err.Error())
	}
	all := strings.Join(texts, "; ")
	if e.name == "" {
		return "discover " + all
	}
	return fmt.Sprintf("find the resource %q: %s", e.name, all)
}

// Unwrap returns the errors of Failed, except those that match apierrors.NotFound.
func (e *DownError) Unwrap() []error {
	var errs []error
	for _, gv := range slices.Sorted(maps.Keys(e.Failed)) {
		if err := e.Failed[gv]; !errors.Is(err, apierrors.NotFound) {
			errs = append(errs, err)
		}
	}
	return errs
}

// down returns a *DownError, and nil if nothing has failed. name is what the call asked for, if that may be missing.
func down(name string, failed []served) error {
	if len(failed) == 0 {
		return nil
	}
	e := &DownError{Failed: make(map[string]error, len(failed)), name: name}
	for _, f := range failed {
		e.Failed[f.gv.APIVersion()] = f.err
	}
	return e
}

// NoMatchError says that the server does not have what the call asked for: a resource of a kind, name or category, or
// an OpenAPI document. errors.Is matches it with apierrors.NotFound. If a group version that may have the resource
// could not be asked, the error is a [*DownError] instead.
type NoMatchError struct {
	text string
	err  error // the server's answer, if there was one
}

// Error says what was searched for, and where.
func (e *NoMatchError) Error() string { return e.text }

// Is matches apierrors.NotFound.
func (e *NoMatchError) Is(target error) bool { return target == apierrors.NotFound }

// Unwrap returns the server's answer, or nil if the server was not asked for the missing thing itself.
func (e *NoMatchError) Unwrap() error { return e.err }

// noMatch returns the error for a resource that the server does not have.
func noMatch(name, searched string) error {
	return &NoMatchError{text: "the server has no resource " + strconv.Quote(name) + ": searched " + searched}
}

// noDocument returns the error for an OpenAPI document that the server does not have.
func noDocument(gv meta.GVK, err error) error {
	text := "the server has no OpenAPI v3 document of " + strconv.Quote(gv.APIVersion())
	if err != nil {
		text += ": " + err.Error()
	}
	return &NoMatchError{text: text, err: err}
}

// documentError says that the server's answer is not the requested document, or is too large. A retry would not help
// soon, so the error is remembered as long as the answer would have been.
type documentError struct {
	path string // such as "/apis"
	err  error
}

func (e *documentError) Error() string { return "read " + e.path + ": " + e.err.Error() }

func (e *documentError) Unwrap() error { return e.err }
