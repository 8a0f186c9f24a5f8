// Errors of a reconcile.

package controller

import (
	"fmt"
	"strings"
)

// ReconcileError is a failure of one reconcile, for Options.OnError and [Status]. It wraps the function's own error:
// errors.As finds a *cache.PanicError, a *TerminalError or a server's error in it.
type ReconcileError struct {
	// Controller is the name of the controller.
	Controller string
	// Key is the key that failed; its type is the controller's type of keys.
	Key any
	// Failures is how often the key has failed in a row, this time included.
	Failures int
	// Err is the error that the function returned, or a *cache.PanicError.
	Err error
}

// Error names the key, the controller and the cause.
func (e *ReconcileError) Error() string {
	return fmt.Sprintf("reconcile %q in controller %q: %v", fmt.Sprint(e.Key), e.Controller, e.Err)
}

// Unwrap returns the function's error.
func (e *ReconcileError) Unwrap() error { return e.Err }

// several are errors that print in one line.
type several []error

func (s several) Error() string {
	parts := make([]string, len(s))
	for i, err := range s {
		parts[i] = err.Error()
	}
	return strings.Join(parts, "; ")
}

func (s several) Unwrap() []error { return s }

// TerminalError says that a retry is useless until something changes; [Terminal] makes one.
type TerminalError struct {
	// Err is the reason.
	Err error
}

// Terminal marks err as final. A reconcile that returns it, or an error that wraps it, has failed and is reported like
// any other, but the key is not retried until a source names it. The number of failures of the key in a row is reset.
// Terminal(nil) is nil.
func Terminal(err error) error {
	if err == nil {
		return nil
	}
	return &TerminalError{Err: err}
}

// Error says that there is no retry, and why.
func (e *TerminalError) Error() string { return fmt.Sprintf("will not be retried: %v", e.Err) }

// Unwrap returns the marked error.
func (e *TerminalError) Unwrap() error { return e.Err }
