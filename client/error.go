package client

import (
	"errors"
	"fmt"

	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/shown"
)

// OpError says which call failed: the verb, the resource and, where there is one, the object. Err is the cause: an
// *errors.StatusError when the server answered, a [*DecodeError], [*KindError], [*BodyError], [*LimitError] or [*SyntaxError]
// about its answer, a [*UsageError] when nothing was sent, or the error of the network or of the context. Where the call was
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

// DecodeError says that one object of the server's does not fit the type that it is decoded into, or exceeds a limit: then a
// [*LimitError] is in it. In an iteration it is the one error that is not final: the other objects follow.
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

// KindError says that the server answered with an object of another kind than the resource's descriptor says. Either the
// descriptor is wrong, or what answered is not the API server that it was taken for.
type KindError struct {
	// APIVersion and Kind are what came; both are empty for a JSON object that names no kind.
	APIVersion, Kind string
	// WantAPIVersion and WantKind are what the descriptor says; both are empty where any kind would have done.
	WantAPIVersion, WantKind string
}

// Error implements error.
func (e *KindError) Error() string {
	if e.WantKind == "" {
		return "server sent an object without a kind"
	}
	if e.APIVersion == "" && e.Kind == "" {
		return fmt.Sprintf("server sent an object without a kind, want %s %s", e.WantAPIVersion, e.WantKind)
	}
	return fmt.Sprintf("server sent %s %s, want %s %s",
		shown.Text(e.APIVersion), shown.Text(e.Kind), e.WantAPIVersion, e.WantKind)
}

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

// VersionError says that a list was asked for at exactly one resource version, with [Exact], and came at another. Servers older
// than 1.19 do that where the list has no pages, since they know nothing of the match; those that have pages answer it.
type VersionError struct {
	// Asked is the version that was asked for, and Sent the one that came.
	Asked, Sent string
}

// Error implements error.
func (e *VersionError) Error() string {
	return fmt.Sprintf("server sent the list at resource version %q, want exactly %q", shown.Text(e.Sent), shown.Text(e.Asked))
}

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

// BodyError says that a successful answer is not what an API server sends: not JSON, or no object. A proxy or a captive portal
// that answers in the server's place is the usual cause.
type BodyError struct {
	// ContentType is what the answer called itself.
	ContentType string
	// Excerpt is the start of its body, cleaned of control characters.
	Excerpt string
}

// Error implements error.
func (e *BodyError) Error() string {
	text := fmt.Sprintf("server sent something else than the object that was asked for, as %q", e.ContentType)
	if e.Excerpt != "" {
		text += ": " + e.Excerpt
	}
	return text
}

// LimitError says that an object, or another member of a list, is larger or nested deeper than the client takes, or that the
// headers of an answer are. It is noticed while the answer is read. An object of a list or a watch is then skipped, and the
// error is the [*DecodeError] of this object alone; one that goes on for more than 32 MiB and 16 times MaxObject ends the list
// or the watch.
type LimitError struct {
	// Limit is "MaxObject", the field of Config, or "MaxDepth" or "MaxHeaders", which are fixed.
	Limit string
	// Max is the limit's value, in bytes or levels.
	Max int
	// Key is the object's, as far as it was known by then.
	Key meta.Key
	// Offset is where in the decompressed body the object starts, or nests too deep, in bytes from 0.
	Offset int64

	text string
}

// Error implements error.
func (e *LimitError) Error() string { return e.text }

// SyntaxError says that an answer is not JSON, or not the JSON that it should be.
type SyntaxError struct {
	// Offset is the position in the decompressed body of the byte that does not fit, from 0.
	Offset int64

	text string
}

// Error implements error.
func (e *SyntaxError) Error() string { return e.text }
