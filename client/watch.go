package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/codec"
	"github.com/bowline-go/bowline/internal/conn"
	"github.com/bowline-go/bowline/internal/jsonstream"
	"github.com/bowline-go/bowline/internal/pipeline"
	"github.com/bowline-go/bowline/internal/shown"
)

// EventType says what a watch event is about.
type EventType string

// The types of events. The API's fifth, ERROR, ends the watch with an [*EventError] instead.
const (
	Added    EventType = "ADDED"
	Modified EventType = "MODIFIED"
	Deleted  EventType = "DELETED"
	Bookmark EventType = "BOOKMARK"
)

// errorEvent is the type under which a server says within the stream why it ends it.
const errorEvent EventType = "ERROR"

// Event is one event of a watch.
type Event[T meta.Object] struct {
	Type EventType
	// Object is the object's new state, or its last one for Deleted, or what reuse returned. It is the zero T for Bookmark
	// and when Err is set.
	Object T
	// Identity is the object's as the server sent it, whatever T keeps of it. Its resource version is where to resume after
	// this event; a Bookmark has nothing else. If the object exceeds a limit, it has the fields that could be read,
	// which may be none: an empty resource version does not move the watch.
	Identity meta.Identity
	// Reused says that Object came from reuse and was not decoded.
	Reused bool
	// InitialEventsEnd is set on the Bookmark after the last initial event of WatchOptions.InitialEvents: what came up to
	// here is all that there is at its resource version.
	InitialEventsEnd bool
	// Err is a *DecodeError when this one object does not fit T or exceeds a limit of the client's.
	Err error
}

// Watch opens one HTTP watch and iterates over its events until the server ends it, which is no error. Any error is final,
// except a *DecodeError: it comes with the event's type and identity, and the next events follow. What the server reports
// within the stream, such as 410 when the resource version is too old, is an [*EventError] of type ERROR with an
// *errors.StatusError in it. Leaving the loop closes the watch.
//
// Where the watch cannot be opened, Config.Retry says whether that is tried again. Once it is open, Watch does not reconnect;
// package informer does.
func (r Resource[T]) Watch(ctx context.Context, o WatchOptions) iter.Seq2[Event[T], error] {
	return func(yield func(Event[T], error) bool) {
		errLeft := errors.New("loop left")
		err := r.eachEvent(ctx, r.watchRequest(o), o, nil, func(e Event[T]) error {
			if !yield(e, r.watchRequest(o).fail(e.Err)) {
				return errLeft
			}
			return nil
		})
		if err != nil && err != errLeft {
			yield(Event[T]{}, err)
		}
	}
}

// WatchEach opens one HTTP watch and calls fn with each event, until the server ends the watch, which is no error. An
// event whose object does not decode is one with its Err set; every other error is final, as it is for [Resource.Watch].
// An error of fn ends the watch and is returned as it is.
//
// Where reuse is not nil it is asked about each initial event of WatchOptions.InitialEvents before the object is decoded,
// with the object's identity; if it returns true its object is handed on and the server's is skipped. That is how a cache
// catches up by a streaming list without decoding what has not changed. It is not asked about what changes afterwards.
//
// reuse and fn are called by the calling goroutine, each with the events in the server's order; reuse may be some hundred
// events ahead of fn. An event that arrives alone is decoded there too, at once. In a burst, objects are decoded by up to
// four further goroutines for all lists and watches of the client, as [Resource.ListEach] says; all that has arrived is handed
// on before more is waited for, and when WatchEach returns, nothing of it runs any more.
//
// The watch is asked for once: Config.Retry does not apply, because a caller of WatchEach usually recovers by itself.
func (r Resource[T]) WatchEach(
	ctx context.Context, o WatchOptions, reuse func(meta.Identity) (T, bool), fn func(Event[T]) error,
) error {
	q := r.watchRequest(o)
	q.once = true
	return r.eachEvent(ctx, q, o, reuse, fn)
}

func (r Resource[T]) eachEvent(
	ctx context.Context, q request, o WatchOptions, reuse func(meta.Identity) (T, bool), fn func(Event[T]) error,
) error {
	query, err := o.query()
	if err != nil {
		return q.fail(&UsageError{Err: err})
	}
	q.query = query
	resp, err := r.send(ctx, q)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if !o.InitialEvents {
		reuse = nil
	}
	return r.events(ctx, q, resp, o, reuse, fn)
}

func (r Resource[T]) watchRequest(o WatchOptions) request {
	q := r.request("watch", meta.Key{Namespace: o.Namespace})
	q.collection = true
	return q
}

// WatchOptions choose what a watch reports. The zero value reports every object of the resource as Added first, and then
// what changes.
type WatchOptions struct {
	// Namespace limits the watch to one namespace; empty means all of them.
	Namespace string
	// LabelSelector and FieldSelector are the API's selectors; empty selects everything. An object that starts or ceases
	// to match arrives as Added or Deleted.
	LabelSelector string
	FieldSelector string
	// ResourceVersion is the version after which to start, that of a list or of an event. Empty starts with the present
	// objects as Added events, in no order, and without a sign of where they end.
	ResourceVersion string
	// InitialEvents asks for a streaming list (KEP-3157): the present objects come as Added events, then a Bookmark with
	// InitialEventsEnd, whether Bookmarks is set or not, and then what changes. ResourceVersion then is the least that the
	// objects must be current to; empty means what the server has now. A server that is too old for it ignores it and sends
	// no such Bookmark, or refuses the watch; [Resource.StreamingLists] remembers which.
	InitialEvents bool
	// Bookmarks asks for Bookmark events, which carry a version to resume from and no object.
	Bookmarks bool
	// Timeout is how long the server keeps the watch open, in whole seconds; 0 leaves it to the server, usually 30 to 60
	// minutes. The watch then ends without an error.
	Timeout time.Duration
	// KeepManagedFields leaves metadata.managedFields in the objects.
	KeepManagedFields bool
}

func (o WatchOptions) query() (url.Values, error) {
	if o.Timeout < 0 || o.Timeout%time.Second != 0 {
		return nil, fmt.Errorf("client.WatchOptions: Timeout must be a whole, not negative number of seconds, got %v", o.Timeout)
	}
	q := url.Values{"watch": {"true"}}
	set(q, "labelSelector", o.LabelSelector)
	set(q, "fieldSelector", o.FieldSelector)
	set(q, "resourceVersion", o.ResourceVersion)
	if o.Bookmarks || o.InitialEvents {
		q.Set("allowWatchBookmarks", "true")
	}
	if o.InitialEvents {
		q.Set("sendInitialEvents", "true")
		q.Set("resourceVersionMatch", string(NotOlderThan))
	}
	if o.Timeout > 0 {
		q.Set("timeoutSeconds", strconv.FormatInt(int64(o.Timeout/time.Second), 10))
	}
	return q, nil
}

// events reads the body of a watch to its end and hands on what is in it. reuse, where it is not nil, is asked about Added
// events up to the end of the initial ones. The errors are *OpErrors, except those of fn.
func (r Resource[T]) events(
	ctx context.Context, q request, resp *http.Response, o WatchOptions,
	reuse func(meta.Identity) (T, bool), fn func(Event[T]) error,
) error {
	pipe := pipeline.New(&r.c.decoders,
		func(e *Event[T], raw jsonstream.Item) { decodeInto(&e.Object, &e.Err, raw, r.decodeUnchecked) },
		func(e Event[T]) error {
			if ctx.Err() != nil { // what is in the buffer is not handed on any more
				return q.fail(conn.ContextError(ctx))
			}
			return fn(e)
		})
	defer pipe.Stop()
	begun := false
	return pipe.Watch(resp.Body, r.c.streamOptions(o.KeepManagedFields), func(f jsonstream.Frame) (Event[T], bool, error) {
		begun = true
		event, decode, err := r.event(f, reuse)
		if event.InitialEventsEnd {
			reuse = nil
		}
		return event, decode, q.fail(err)
	}, func(err error) error {
		return q.fail(r.streamError(ctx, resp, begun, err))
	})
}

// streamError tells why a watch could not be read on: its context ended, what came is no event or no watch at all, or the
// connection failed. begun says that an event has come before.
func (r Resource[T]) streamError(ctx context.Context, resp *http.Response, begun bool, err error) error {
	var (
		syntax *jsonstream.SyntaxError
		limit  *jsonstream.LimitError
		bare   *jsonstream.BareError
	)
	switch {
	case errors.As(err, &bare):
		return r.bareError(bare, begun)
	case errors.As(err, &limit):
		return &EventError{Identity: meta.Identity{Namespace: limit.Key.Namespace, Name: limit.Key.Name}, Err: publicError(err)}
	case errors.As(err, &syntax):
		return &EventError{Err: publicError(err)}
	}
	return readError(ctx, resp, err)
}

// event makes an event of one frame, and says whether its object is still to be decoded. An error is final: the event is
// not to be applied.
func (r Resource[T]) event(f jsonstream.Frame, reuse func(meta.Identity) (T, bool)) (e Event[T], decode bool, err error) {
	e = Event[T]{Type: EventType(f.Type), Identity: f.Identity, InitialEventsEnd: f.InitialEventsEnd}
	unusable := func(err error) (Event[T], bool, error) {
		return Event[T]{}, false, &EventError{Type: e.Type, Identity: e.Identity, Err: err}
	}
	switch e.Type {
	case Added, Modified, Deleted, Bookmark:
	case errorEvent:
		return Event[T]{}, false, watchError(f)
	default:
		return unusable(errors.New("its type is unknown"))
	}
	kindless := f.APIVersion == "" && f.Kind == ""
	// A bookmark need not say its kind, and is believed then; nor need an object whose kind may have been skipped. The kind
	// comes first: an object of another kind lacks more than that.
	if !kindless || e.Type != Bookmark && f.Limit == nil {
		if err := r.checkKind(f.APIVersion, f.Kind); err != nil {
			return unusable(err)
		}
	}
	switch {
	case f.Limit != nil && e.Type == Bookmark:
		if f.ResourceVersion == "" {
			return unusable(publicError(f.Limit))
		}
		return e, false, nil // it has no object that could be missed
	case f.Limit != nil: // it is said although nobody may know of which object, and the next event says where to go on
		e.Err = &DecodeError{Identity: f.Identity, Err: publicError(f.Limit)}
		return e, false, nil
	case f.ResourceVersion == "":
		return unusable(lacks(f.Raw, "resourceVersion"))
	case e.Type == Bookmark:
		return e, false, nil
	case f.Name == "":
		return unusable(lacks(f.Raw, "name"))
	}
	if e.Type == Added && reuse != nil {
		if e.Object, e.Reused = reuse(f.Identity); e.Reused {
			return e, false, nil
		}
	}
	return e, true, nil
}

// watchError returns what an ERROR event says.
func watchError(f jsonstream.Frame) error {
	if f.Limit != nil {
		return &EventError{Type: errorEvent, Err: publicError(f.Limit)}
	}
	if f.Kind == "Status" {
		if status, err := codec.Unmarshal[*meta.Status](f.Raw); err == nil {
			return &EventError{Type: errorEvent, Err: apierrors.FromStatus(*status)}
		}
	}
	excerpt := f.Raw[:min(len(f.Raw), maxExcerpt)]
	return &EventError{Type: errorEvent, Err: fmt.Errorf("its object is no Status: %s", shown.Text(string(excerpt)))}
}

// bareError returns what a watch that brought an object in place of an event says by that. A server or a proxy that answers with a
// Status, although with the code of a success, means what the Status says.
func (r Resource[T]) bareError(bare *jsonstream.BareError, begun bool) error {
	if status, ok := failure(bare.Raw, bare.Kind); ok {
		if begun {
			return &EventError{Type: errorEvent, Err: status}
		}
		return status
	}
	wantAPIVersion, wantKind := r.wireKind()
	e := wrongKind(bare.APIVersion, bare.Kind, wantAPIVersion, wantKind)
	if begun {
		return &EventError{Err: fmt.Errorf("it is an object: %w", e)}
	}
	return fmt.Errorf("the answer is not a watch: %w", e)
}

// failure returns the error that a Status says; false for what is none, or says that all is well.
func failure(object []byte, kind string) (error, bool) {
	if kind != "Status" {
		return nil, false
	}
	status, err := codec.Unmarshal[*meta.Status](object)
	if err != nil || status.Status == "Success" {
		return nil, false
	}
	return apierrors.FromStatus(*status), true
}

// lacks says that an object has no such field in its metadata, or what it has there in place of a string.
func lacks(object []byte, field string) error {
	var o struct {
		Metadata json.RawMessage `json:"metadata"`
	}
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(object, &o) // what cannot be read is not there
	if kind := kindOfJSON(o.Metadata); kind != "" && json.Unmarshal(o.Metadata, &fields) != nil {
		return fmt.Errorf("metadata is %s, and must be an object", kind)
	}
	switch kind := kindOfJSON(fields[field]); kind {
	case "", "a string":
		return fmt.Errorf("metadata.%s is empty", field)
	default:
		return fmt.Errorf("metadata.%s is %s, and must be a string", field, kind)
	}
}

// kindOfJSON returns what a value is, with its article; empty where there is none.
func kindOfJSON(value []byte) string {
	if len(value) == 0 {
		return ""
	}
	switch value[0] {
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "an array"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}
