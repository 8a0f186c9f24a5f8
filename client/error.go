package client

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/shown"
)

// OpError says which call failed: the verb, the resource and, if there is one, the object. Err is the cause: an
// *errors.StatusError when the server answered with an error, a [*DecodeError] or an [*AnswerError] about its answer, a
// [*UsageError] about a call that is wrong, or the error of the network or of the context.
type OpError struct {
	// Verb is the API's word: get, list, watch, create, update, patch, delete, deletecollection, and apply for the
	// patch of [Resource.Apply]. It is modify for an error that [Resource.Modify] finds by itself; a failed request of
	// Modify has the verb get or update. The same holds for ensure, "add finalizer to" and "remove finalizer from". It
	// is connect for the requests of package remote.
	Verb string
	// Resource is the resource of the call.
	Resource meta.GVR
	// Subresource is the subresource, such as "status", or empty.
	Subresource string
	// Key is the object; for list and watch it has only the namespace, or nothing. See also [Resource.One].
	Key meta.Key
	// Path is the path of a [Client.Raw] request; then Verb is the HTTP method and the fields about resources are
	// empty.
	Path string
	// Page is the page of a list that failed, if it is not the first: at least 2, and otherwise 0. If Err wraps an
	// Expired status, and Page is not 0, the continue token expired while the earlier pages were read; if Page is 0,
	// the server no longer has the resource version that was asked for.
	Page int
	// Before has the errors of the attempts before the last, in order, if the call was sent more than once; see
	// [Retry]. Err is that of the last attempt, and errors.Is and errors.As look only into Err.
	//
	// Err may be the effect of an earlier attempt: a deletion that finds nothing, or an update that finds a conflict,
	// after an attempt whose connection broke before its answer.
	Before []error
	// Err is the cause.
	Err error

	stop string // why there was no further attempt, unless Config.Retry.Attempts was reached
}

// Error returns, for example, `get pods "web/a": server said NotFound (404): pods "a" not found`. If the server does
// not serve the resource, which its answer does not say, the text names the resource and the likely cause. If there
// were several attempts, it names their errors, but leaves out an error that the next attempt repeats.
func (e *OpError) Error() string {
	text := e.where() + ": "
	if e.Page > 0 {
		text += fmt.Sprintf("page %d: ", e.Page)
	}
	text += e.Err.Error() + e.attempts()
	if why := e.notServed(); why != "" {
		text += " (" + why + ")"
	}
	return text
}

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

// UsageError says that a call was not sent, because it is wrong whatever the server says: a name that is not a path
// segment, a namespace for a cluster-wide resource, a descriptor without a kind, options that exclude each other.
// Trying again does not help. It is also the error of an [Resource.Update] that was not sent, because it would remove
// fields that T does not have.
//
// In two cases the request has been sent. First, for a subresource that the resource does not have, the server answers
// NotFound, and the client finds that the object exists. Second, the server may accept a write of [Resource.Modify] and
// leave out a part of the change that only another subresource writes; the rest is then written.
type UsageError struct {
	// Err says what is wrong, and what is allowed.
	Err error
}

// Error implements error.
func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *UsageError) Unwrap() error { return e.Err }

// DecodeError says that one object from the server does not fit the type that it is decoded into, or exceeds a limit.
// In the second case it wraps an [*AnswerError]. In an iteration it is the only error that is not final: the other
// objects follow.
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

// EventError says that a watch sent something that is not a usable event: of an unknown type, of another kind, without
// a resource version or a name, or broken JSON. It ends the watch, and the event has not been handed on.
//
// It also stands for the event by which a server says why it ends a watch that had begun. Err is then an
// *errors.StatusError. If the server refuses the watch before it begins, there is no EventError around the StatusError.
type EventError struct {
	// Err says what is wrong with the event.
	Err error

	kind EventType // the event's type, if it could be read
	key  meta.Key  // the key of the event's object, if it could be read
}

// Error implements error.
func (e *EventError) Error() string {
	if e.kind == errorEvent && errors.As(e.Err, new(*apierrors.StatusError)) {
		return "within the stream, " + e.Err.Error()
	}
	text := "server sent an unusable event"
	if e.kind != "" {
		text += fmt.Sprintf(" %q", shown.Text(string(e.kind)))
	}
	if e.key != (meta.Key{}) {
		text += fmt.Sprintf(" of %q", shown.Text(e.key.String()))
	}
	return text + ": " + e.Err.Error()
}

// Unwrap returns what is wrong with the event.
func (e *EventError) Unwrap() error { return e.Err }

// AnswerReason says what is wrong with an answer. It is an error, so that errors.Is(err, client.WrongKind) finds an
// [*AnswerError] of that reason.
type AnswerReason string

const (
	// ForeignBody: the answer is not JSON, or not an object. The usual cause is a proxy or a captive portal that
	// answers in the server's place. Got is the start of the body, without control characters.
	ForeignBody AnswerReason = "ForeignBody"
	// BrokenBody: from some byte on, the answer is not JSON or protobuf, or not what it should be. The reason is also
	// BrokenBody if the answer is empty or ends too early, although it is complete by the rules of HTTP.
	BrokenBody AnswerReason = "BrokenBody"
	// WrongKind: the object is of another kind than the resource's descriptor says. Got and Want are apiVersion and
	// kind, such as "apps/v1 Deployment". Got is empty if the object names no kind, and Want is empty if any kind would
	// be accepted. Either the descriptor is wrong, or another program than the API server has answered.
	WrongKind AnswerReason = "WrongKind"
	// WrongVersion: a list was asked for at exactly one resource version, with [Exact], and arrived at another. Got and
	// Want are resource versions. Servers older than 1.19 ignore Exact if the list has no pages.
	WrongVersion AnswerReason = "WrongVersion"
	// TooLarge: an object, or another member of a list, has more than Config.MaxObject bytes. The client skips such an
	// object of a list or a watch: the error is the [*DecodeError] of this object alone. An object that is larger than
	// 32 MiB, and also larger than 16 times MaxObject, ends the list or the watch.
	TooLarge AnswerReason = "TooLarge"
	// TooDeep: like TooLarge, for an object that nests deeper than a fixed number of levels.
	TooDeep AnswerReason = "TooDeep"
	// HeadersTooLarge: the headers of the answer are larger than a fixed number of bytes.
	HeadersTooLarge AnswerReason = "HeadersTooLarge"
)

// Error returns the reason.
func (r AnswerReason) Error() string { return string(r) }

// AnswerError says that the answer to a successful request is wrong. The client detects this while it reads, and does
// not send the request again. (An answer that was cut off is an error of the network instead.)
type AnswerError struct {
	// Reason says what is wrong.
	Reason AnswerReason
	// Got and Want are the actual and the expected value. Each reason says whether it sets them.
	Got, Want string

	text  string // for reasons that Got and Want do not describe; names the place in the body, the limit and the object
	short bool
}

// Is reports whether target is e.Reason. It also matches io.ErrUnexpectedEOF if the answer ends too early.
func (e *AnswerError) Is(target error) bool {
	return target == error(e.Reason) || e.short && target == io.ErrUnexpectedEOF
}

// Error implements error.
func (e *AnswerError) Error() string {
	switch {
	case e.text != "":
		return e.text
	case e.Reason == WrongKind:
		return e.wrongKind()
	case e.Reason == WrongVersion:
		return fmt.Sprintf("server sent the list at resource version %q, want exactly %q", shown.Text(e.Got), shown.Text(e.Want))
	}
	return "server sent an answer that is " + string(e.Reason)
}

func (e *AnswerError) wrongKind() string {
	text := "server sent " + shown.Text(e.Got)
	if e.Got == "" {
		text = "server sent an object without a kind"
	}
	if e.Want != "" {
		text += ", want " + e.Want
	}
	return text
}

// wrongKind returns the error for an object of the wrong kind.
func wrongKind(apiVersion, kind, wantAPIVersion, wantKind string) *AnswerError {
	typed := func(apiVersion, kind string) string { return strings.TrimSpace(apiVersion + " " + kind) }
	return &AnswerError{Reason: WrongKind, Got: typed(apiVersion, kind), Want: typed(wantAPIVersion, wantKind)}
}

// stallError says that a server accepted a request and then made no progress with its answer; see Config.StallTimeout.
// The request may have taken effect.
type stallError string

func (e stallError) Error() string { return "server stalled: " + string(e) }

// Timeout makes errors.NetworkOf report a timeout of the network.
func (e stallError) Timeout() bool { return true }

// stalled returns the error for an answer that has stalled: received is how many bytes came within
// Config.StallTimeout.
func (c *Client) stalled(received int) error {
	return stallError(fmt.Sprintf("%d B of its answer arrived in %v", received, c.stall))
}
