package client

import (
	"errors"
	"fmt"

	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/shown"
)

// OpError says which call failed: the verb, the resource and, where there is one, the object. Err is the cause: an
// *errors.StatusError when the server answered, a [*DecodeError] or an [*AnswerError] about its answer, a [*UsageError] when nothing was sent, or the error of the network or of the context. Where the call was
// sent more than once, an [*RetryError] is around it.
type OpError struct {
	// Verb is the API's word: get, list, watch, create, update, patch, delete, deletecollection, and apply for the patch of
	// [Resource.Apply]. It is modify for what [Resource.Modify] finds by itself, and a request of its that fails is a get or an
	// update; so it is with ensure, "add finalizer to" and "remove finalizer from".
	Verb string
	// Resource is what the call was about.
	Resource meta.GVR
	// Subresource is its part, such as "status", or empty.
	Subresource string
	// Key is the object; for list and watch only the namespace is set, or nothing.
	Key meta.Key
	// Path is that of a request of [Client.Raw]; then Verb is its method and the fields about resources are empty.
	Path string
	// Err is the cause.
	Err error
}

// Error returns, for example, `get pods "web/a": server said NotFound (404): pods "a" not found`.
func (e *OpError) Error() string { return e.where() + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *OpError) Unwrap() error { return e.Err }

func (e *OpError) where() string {
	if e.Path != "" {
		return fmt.Sprintf("%s %q", e.Verb, e.Path)
	}
	resource := e.Resource.Resource
	if e.Resource.Group != "" {
		resource += "." + e.Resource.Group
	}
	if e.Subresource != "" {
		resource += "/" + e.Subresource
	}
	switch {
	case e.Key.Name != "":
		return fmt.Sprintf("%s %s %q", e.Verb, resource, e.Key.String())
	case e.Key.Namespace != "":
		return fmt.Sprintf("%s %s in %q", e.Verb, resource, e.Key.Namespace)
	}
	return e.Verb + " " + resource
}

// UsageError says that a call was not sent, because it cannot be right whatever the server says: a name that is no path
// segment, a namespace for a cluster-wide resource, a descriptor without a kind, options that exclude each other. Trying
// again does not help.
type UsageError struct {
	// Err says what is wrong, and what is allowed.
	Err error
}

// Error implements error.
func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *UsageError) Unwrap() error { return e.Err }

// DecodeError says that one object of the server's does not fit the type that it is decoded into, or exceeds a limit: then an
// [*AnswerError] is in it. In an iteration it is the one error that is not final: the other objects follow.
type DecodeError struct {
	// Identity is the object's, as far as it could be read.
	Identity meta.Identity
	// Err is the cause.
	Err error
}

// Error implements error.
func (e *DecodeError) Error() string {
	return fmt.Sprintf("decode %q (resource version %q): %v", shown.Text(e.Identity.Key().String()), shown.Text(e.Identity.ResourceVersion), e.Err)
}

// Unwrap returns the cause.
func (e *DecodeError) Unwrap() error { return e.Err }

// PageError says that a list failed on a page after the first. An Expired status in it means that the continue token has
// expired while the pages before were read; on the first page, where there is no PageError, it would be about the resource
// version that was asked for.
type PageError struct {
	// Page is which page failed; the first is 1, so it is at least 2.
	Page int
	// Err is the cause.
	Err error
}

// Error implements error.
func (e *PageError) Error() string { return fmt.Sprintf("page %d: %v", e.Page, e.Err) }

// Unwrap returns the cause.
func (e *PageError) Unwrap() error { return e.Err }

// EventError says that a watch brought something that is not a usable event: of an unknown type, of another kind, without a
// resource version or a name, or broken JSON. It ends the watch, before the event has been applied.
//
// It also stands for the event by which a server says why it ends a watch that had begun. Its Type then is ERROR, and Err an
// *errors.StatusError; the same refusal before the watch began has no EventError around it.
type EventError struct {
	// Type and Identity are the event's, as far as they could be read.
	Type     EventType
	Identity meta.Identity
	// Err is what is wrong with it.
	Err error
}

// Error implements error.
func (e *EventError) Error() string {
	if status := (*apierrors.StatusError)(nil); e.Type == errorEvent && errors.As(e.Err, &status) {
		return "within the stream, " + e.Err.Error()
	}
	text := "server sent an unusable event"
	if e.Type != "" {
		text += fmt.Sprintf(" %q", shown.Text(string(e.Type)))
	}
	if key := e.Identity.Key(); key != (meta.Key{}) {
		text += fmt.Sprintf(" of %q", shown.Text(key.String()))
	}
	return text + ": " + e.Err.Error()
}

// Unwrap returns what is wrong with the event.
func (e *EventError) Unwrap() error { return e.Err }
