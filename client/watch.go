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

// EventType is the type of a watch event.
type EventType string

// The types of events. The API's fifth, ERROR, ends the watch with an [*EventError] instead.
const (
	Added    EventType = "ADDED"
	Modified EventType = "MODIFIED"
	Deleted  EventType = "DELETED"
	Bookmark EventType = "BOOKMARK"
)

// errorEvent is the type of the event by which a server says why it ends the stream.
const errorEvent EventType = "ERROR"

// Event is one event of a watch.
type Event[T meta.Object] struct {
	Type EventType
	// Object is the object's new state, its last state if Type is Deleted, or the object that reuse returned. It is the
	// zero T for Bookmark and when Err is set.
	Object T
	// Identity is the object's identity as the server sent it, whatever T keeps of it. To resume after this event,
	// watch from its resource version. For a Bookmark, Identity has only the resource version. If the object exceeds a
	// limit, Identity has the fields that could be read, perhaps none. If the resource version is empty, resume from
	// that of an earlier event.
	Identity meta.Identity
	// Reused says that Object came from reuse and was not decoded, or that WatchOptions.Skip has skipped it.
	Reused bool
	// InitialEventsEnd is set on the Bookmark after the last initial event of WatchOptions.InitialEvents. The events
	// before it are all objects that exist at its resource version.
	InitialEventsEnd bool
	// Err is a *DecodeError when this one object does not fit T or exceeds a limit of the client's.
	Err error

	carried
}

// Watch opens one HTTP watch and iterates over its events until the server ends it, which is not an error. Any error is
// final, except a *DecodeError: it comes with the event's type and identity, and the next events follow. An error that
// the server reports within the stream, such as 410 when the resource version is too old, is an [*EventError] that
// wraps an *errors.StatusError. Leaving the loop closes the watch.
//
// Config.Retry says whether Watch tries again if the watch cannot be opened. Once the watch is open, Watch does not
// reconnect; package informer does.
func (r Resource[T]) Watch(ctx context.Context, o WatchOptions) iter.Seq2[Event[T], error] {
	events := r.untyped.watch(ctx, o)
	return func(yield func(Event[T], error) bool) {
		events(func(e Event[meta.Object], err error) bool { return yield(typedEvent[T](e), err) })
	}
}

func (r resource) watch(ctx context.Context, o WatchOptions) iter.Seq2[Event[meta.Object], error] {
	return sequence(func(hand func(Event[meta.Object], error) error) error {
		return newWatching(&r, &o, nil, func(e Event[meta.Object]) error {
			return hand(e, r.watchRequest(o).fail(e.Err))
		}).run(ctx)
	})
}

// WatchEach opens one HTTP watch and calls fn with each event, until the server ends the watch, which is not an error.
// An event whose object does not decode has its Err set. Every other error is final, as it is for [Resource.Watch]. An
// error of fn ends the watch, and WatchEach returns it unchanged.
//
// If reuse is not nil, WatchEach calls it with the identity of each initial event of WatchOptions.InitialEvents, before
// it decodes the object. If reuse returns true, WatchEach hands on the object that reuse returned and skips the
// server's. So a cache can catch up by a streaming list without decoding unchanged objects. WatchEach does not call
// reuse for later changes.
//
// The calling goroutine calls reuse and fn, each with the events in the server's order; reuse may be some hundred
// events ahead of fn. The calling goroutine also decodes an event that arrives alone, at once. In a burst, up to four
// further goroutines decode for all lists and watches of the client, as [Resource.ListEach] says. WatchEach hands on
// every event that has arrived before it waits for more. When it returns, none of its goroutines is running.
//
// WatchEach opens the watch once: Config.Retry does not apply, because its callers usually recover by themselves.
func (r Resource[T]) WatchEach(
	ctx context.Context, o WatchOptions, reuse func(meta.Identity) (T, bool), fn func(Event[T]) error,
) error {
	w := newWatching(&r.untyped, &o, untypedReuse(reuse), func(e Event[meta.Object]) error { return fn(typedEvent[T](e)) })
	w.q.once = true
	return w.run(ctx)
}

// typedEvent returns e, whose object is nil or a T, as an Event of T.
func typedEvent[T meta.Object](e Event[meta.Object]) Event[T] {
	obj, _ := e.Object.(T)
	return Event[T]{
		Type: e.Type, Object: obj, Identity: e.Identity, Reused: e.Reused, InitialEventsEnd: e.InitialEventsEnd, Err: e.Err, carried: e.carried,
	}
}

// watching is one call of Watch or WatchEach. It stays on the stack of a goroutine that waits for hours, and a program
// may have thousands of them, so its methods pass pointers: large values in their frames would double the stack.
type watching struct {
	r     resource
	q     request
	o     WatchOptions
	reuse func(meta.Identity) (meta.Object, bool)
	fn    func(Event[meta.Object]) error
	resp  *http.Response
	begun bool // an event has arrived
}

// newWatching must not be inlined: if it were, its variables would stay on the stack while the watch is open.
//
//go:noinline
func newWatching(
	r *resource, o *WatchOptions, reuse func(meta.Identity) (meta.Object, bool), fn func(Event[meta.Object]) error,
) *watching {
	return &watching{r: *r, q: r.watchRequest(*o), o: *o, reuse: reuse, fn: fn}
}

// run opens the watch, and reads it to its end.
func (w *watching) run(ctx context.Context) error {
	if err := w.open(ctx); err != nil {
		return err
	}
	defer func() { _ = w.resp.Body.Close() }()
	if w.o.OnOpen != nil {
		w.o.OnOpen()
	}
	if !w.o.InitialEvents {
		w.reuse = nil
	}
	return w.events(ctx)
}

func (w *watching) open(ctx context.Context) (err error) {
	if w.q.query, err = w.o.query(); err != nil {
		return w.q.fail(&UsageError{Err: err})
	}
	w.resp, err = w.r.sendForBody(ctx, w.q)
	w.q.query = nil // the query is not needed any more: errors do not show it
	return err
}

func (r resource) watchRequest(o WatchOptions) request {
	q := r.request("watch", meta.Key{Namespace: o.Namespace})
	q.collection, q.keeps = true, o.KeepManagedFields
	return q
}

// WatchOptions choose what a watch reports. The zero value reports every object of the resource as Added first, and
// then the changes.
type WatchOptions struct {
	// Namespace limits the watch to one namespace; empty means all of them.
	Namespace string
	// LabelSelector and FieldSelector are the API's selectors; empty selects everything. An object that starts or
	// ceases to match arrives as Added or Deleted.
	LabelSelector string
	FieldSelector string
	// ShardSelector is that of [ListOptions]: the watch reports only objects with a hash in its ranges. That includes
	// the initial events. It does not change bookmarks. No event says whether the server applied the selector, not even
	// the bookmark that ends the initial events, so a caller that must not receive other objects checks each object
	// against the range. The ShardInfo of a list does not tell either: Kubernetes 1.36 applies the selector to lists of
	// events and not to watches of them.
	ShardSelector string
	// ResourceVersion is the version after which to start: that of a list or of an event. Empty starts with the present
	// objects as Added events, in no order, and nothing marks their end.
	ResourceVersion string
	// InitialEvents asks for a streaming list (KEP-3157): the present objects arrive as Added events, then a Bookmark
	// with InitialEventsEnd, whether Bookmarks is set or not, and then the changes. ResourceVersion is then the minimum
	// version of the objects; empty means the server's present state. A server that is too old for it ignores the
	// option and sends no such Bookmark, or refuses the watch.
	InitialEvents bool
	// Bookmarks asks for Bookmark events, which carry a version to resume from and no object.
	Bookmarks bool
	// Timeout is how long the server keeps the watch open, in whole seconds; 0 leaves it to the server, usually 30 to
	// 60 minutes. The watch then ends without an error.
	Timeout time.Duration
	// KeepManagedFields leaves metadata.managedFields in the objects.
	KeepManagedFields bool
	// OnOpen, if set, is called once the server has accepted the watch, before the first event, which may come much
	// later if the collection does not change. The goroutine that reads the watch calls OnOpen.
	OnOpen func()
	// Skip, if set, is called with the identity of each object before it is decoded. If it returns true, the event has
	// no Object and is marked Reused, whatever its type. The goroutine that reads the watch calls Skip. WatchEach calls
	// Skip before reuse.
	Skip func(meta.Identity) bool
}

func (o WatchOptions) query() (url.Values, error) {
	if o.Timeout < 0 || o.Timeout%time.Second != 0 {
		return nil, fmt.Errorf("client.WatchOptions: Timeout must be a whole, not negative number of seconds, got %v", o.Timeout)
	}
	q := url.Values{"watch": {"true"}}
	set(q, "labelSelector", o.LabelSelector)
	set(q, "fieldSelector", o.FieldSelector)
	set(q, "shardSelector", o.ShardSelector)
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

// events reads the body of the watch to its end and hands on its events. If reuse is not nil, events calls it for Added
// events up to the end of the initial ones. The errors are *OpErrors, except those of fn.
func (w *watching) events(ctx context.Context) error {
	pipe := pipeline.New(&w.r.c.decoders, w.decode, func(e Event[meta.Object]) error {
		if ctx.Err() != nil { // nothing is handed on after ctx has ended
			return w.q.fail(conn.ContextError(ctx))
		}
		return w.fn(e)
	})
	defer pipe.Stop()
	return pipe.Watch(w.resp.Body, w.frames(), w.event, func(err error) error {
		return w.q.fail(w.r.streamError(ctx, w.resp, w.begun, err))
	})
}

func (w *watching) frames() pipeline.Stream {
	return watchFrames(w.r.c.protobuf, w.resp, w.r.c.streamOptions(w.o.KeepManagedFields))
}

func (w *watching) decode(e *Event[meta.Object], raw jsonstream.Item) {
	decodeInto(&e.Object, &e.Err, raw, w.r.decodeUnchecked)
	if e.Err == nil {
		e.carried = w.r.carry(raw)
	}
}

// event makes an event from one frame, and reports whether its object must still be decoded.
func (w *watching) event(f jsonstream.Frame) (e Event[meta.Object], decode bool, err error) {
	w.begun = true
	e, decode, err = w.r.event(f, w.o.Skip, w.reuse)
	if e.InitialEventsEnd {
		w.reuse = nil
	}
	return e, decode, w.q.fail(err)
}

// streamError returns the reason why a watch could not be read further: its context ended, the data is not an event or
// not a watch, or the connection failed. begun says that an event has arrived before.
func (r resource) streamError(ctx context.Context, resp *http.Response, begun bool, err error) error {
	if errors.As(err, new(*jsonstream.ShortError)) && ctx.Err() == nil { // a watch may end at any byte, and is resumed
		return shown.Error(err)
	}
	if bare, ok := errors.AsType[*jsonstream.BareError](err); ok {
		return r.bareError(bare, begun)
	}
	if limit, ok := errors.AsType[*jsonstream.LimitError](err); ok {
		return &EventError{key: limit.Key, Err: publicError(err)}
	}
	if errors.As(err, new(*jsonstream.SyntaxError)) {
		return &EventError{Err: publicError(err)}
	}
	return readError(ctx, resp, err)
}

// event makes an event from one frame, and reports whether its object must still be decoded. An error is final: the
// event must not be applied.
func (r resource) event(
	f jsonstream.Frame, skip func(meta.Identity) bool, reuse func(meta.Identity) (meta.Object, bool),
) (e Event[meta.Object], decode bool, err error) {
	e = Event[meta.Object]{Type: EventType(f.Type), Identity: f.Identity, InitialEventsEnd: f.InitialEventsEnd}
	unusable := func(err error) (Event[meta.Object], bool, error) {
		return Event[meta.Object]{}, false, &EventError{kind: e.Type, key: e.Identity.Key(), Err: err}
	}
	switch e.Type {
	case Added, Modified, Deleted, Bookmark:
	case errorEvent:
		return Event[meta.Object]{}, false, r.watchError(f)
	default:
		return unusable(errUnknownEvent)
	}
	kindless := f.APIVersion == "" && f.Kind == ""
	// A bookmark may leave out its kind, and so may an object over a limit, whose kind may have been skipped. The kind
	// is checked before version and name, because an object of another kind may lack these too, and its kind is the
	// actual fault.
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
		return e, false, nil // a bookmark has no object that could be missed
	case f.Limit != nil: // reported even without an identity; the next event has the version to resume from
		e.Err = &DecodeError{Identity: f.Identity, Err: publicError(f.Limit)}
		return e, false, nil
	case f.ResourceVersion == "":
		return unusable(lacks(f.Raw, "resourceVersion"))
	case e.Type == Bookmark:
		return e, false, nil
	case f.Name == "":
		return unusable(lacks(f.Raw, "name"))
	}
	if skip != nil && skip(f.Identity) {
		e.Reused = true
		return e, false, nil
	}
	if e.Type == Added && reuse != nil {
		if e.Object, e.Reused = reuse(f.Identity); e.Reused {
			return e, false, nil
		}
	}
	return e, true, nil
}

// watchError returns the error of an ERROR event.
func (r resource) watchError(f jsonstream.Frame) error {
	if f.Limit != nil {
		return &EventError{kind: errorEvent, Err: publicError(f.Limit)}
	}
	if f.Protobuf {
		f.Raw, _ = r.c.protobuf.StatusOf(f.Raw) // empty if it is not a Status
	}
	if f.Kind == "Status" {
		if status, err := codec.Unmarshal[*meta.Status](f.Raw); err == nil {
			return &EventError{kind: errorEvent, Err: apierrors.FromStatus(*status)}
		}
	}
	excerpt := f.Raw[:min(len(f.Raw), maxExcerpt)]
	return &EventError{kind: errorEvent, Err: fmt.Errorf("its object is not a Status: %s", shown.Text(string(excerpt)))}
}

var errUnknownEvent = errors.New("its type must be ADDED, MODIFIED, DELETED, BOOKMARK or ERROR")

// bareError returns the error of a watch that sent an object in place of an event. If the object is a Status, its error
// counts, although the answer has the code of a success.
func (r resource) bareError(bare *jsonstream.BareError, begun bool) error {
	if status, ok := failure(bare.Raw, bare.Kind); ok {
		if begun {
			return &EventError{kind: errorEvent, Err: status}
		}
		return status
	}
	wantAPIVersion, wantKind := r.wireKind()
	e := wrongKind(bare.APIVersion, bare.Kind, wantAPIVersion, wantKind)
	if begun {
		return &EventError{Err: fmt.Errorf("it is an object, not an event: %w", e)}
	}
	return fmt.Errorf("the answer is not a watch: %w", e)
}

// failure returns the error that a Status reports, and false if the object is no Status or reports success.
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

// lacks returns an error that says that a field of an object's metadata is missing, empty, or not a string.
func lacks(object []byte, field string) error {
	var o struct {
		Metadata json.RawMessage `json:"metadata"`
	}
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(object, &o) // a field that cannot be read counts as missing
	if kind := kindOfJSON(o.Metadata); kind != "" && json.Unmarshal(o.Metadata, &fields) != nil {
		return fmt.Errorf("metadata must be an object, got %s", kind)
	}
	switch kind := kindOfJSON(fields[field]); kind {
	case "", "a string":
		return fmt.Errorf("metadata.%s must not be empty", field)
	default:
		return fmt.Errorf("metadata.%s must be a string, got %s", field, kind)
	}
}

// kindOfJSON returns the type of a value, with its article; empty if there is no value.
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
