package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/codec"
	"github.com/bowline-go/bowline/internal/conn"
	"github.com/bowline-go/bowline/internal/jsonstream"
	"github.com/bowline-go/bowline/internal/pipeline"
	"github.com/bowline-go/bowline/internal/shown"
)

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
