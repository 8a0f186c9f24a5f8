package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"

	"github.com/bowline-go/bowline/client/meta"
	apierrors "github.com/bowline-go/bowline/errors"
	"github.com/bowline-go/bowline/internal/codec"
	"github.com/bowline-go/bowline/internal/jsonstream"
)

// EventType says what a watch event is about.
type EventType string

// The types of events. The API's fifth, ERROR, ends the iteration with an error instead.
const (
	Added    EventType = "ADDED"
	Modified EventType = "MODIFIED"
	Deleted  EventType = "DELETED"
	Bookmark EventType = "BOOKMARK"
)

// Event is one event of a watch.
type Event[T meta.Object] struct {
	Type EventType
	// Object is the object's new state, or its last one for Deleted; it is the zero T for Bookmark.
	Object T
	// Identity is the object's as the server sent it, whatever T keeps of it. Its resource version is where to resume after
	// this event; a Bookmark has nothing else.
	Identity meta.Identity
}

// Watch opens one HTTP watch and iterates over its events until the server ends it, which is no error. Any error is final,
// except a *DecodeError: it comes with the event's type and identity, and the next events follow. What the server reports
// within the stream, such as 410 when the resource version is too old, is an *errors.StatusError. Leaving the loop closes
// the watch.
//
// Watch does not reconnect; package informer does.
func (r Resource[T]) Watch(ctx context.Context, o WatchOptions) iter.Seq2[Event[T], error] {
	return func(yield func(Event[T], error) bool) {
		q := r.request("watch", meta.Key{Namespace: o.Namespace})
		q.collection = true
		query, err := o.query()
		if err != nil {
			yield(Event[T]{}, q.fail(&UsageError{Err: err}))
			return
		}
		q.query = query
		resp, err := r.send(ctx, q)
		if err != nil {
			yield(Event[T]{}, err)
			return
		}
		defer func() { _ = resp.Body.Close() }()
		frames := jsonstream.NewWatch(resp.Body, r.c.streamOptions(o.KeepManagedFields))
		for {
			frame, err := frames.Next()
			if err == io.EOF {
				return
			}
			if err == nil && ctx.Err() != nil { // what is in the buffer is not handed on any more
				err = ctx.Err()
			}
			if err != nil {
				yield(Event[T]{}, q.fail(streamError(ctx, resp, err)))
				return
			}
			event, err := r.event(frame)
			if !yield(event, q.fail(err)) {
				return
			}
			if bad := (*DecodeError)(nil); err != nil && !errors.As(err, &bad) {
				return
			}
		}
	}
}

// streamError tells why a watch could not be read on: its context ended, what came is no event or no watch at all, or the
// connection failed.
func streamError(ctx context.Context, resp *http.Response, err error) error {
	var (
		syntax *jsonstream.SyntaxError
		limit  *jsonstream.LimitError
	)
	switch {
	case errors.As(err, &limit):
		return &EventError{Identity: meta.Identity{Namespace: limit.Key.Namespace, Name: limit.Key.Name}, Err: err}
	case errors.As(err, &syntax):
		return &EventError{Err: err}
	}
	return readError(ctx, resp, err)
}

// event decodes one frame. An event that comes with a final error is not to be applied.
func (r Resource[T]) event(f jsonstream.Frame) (Event[T], error) {
	e := Event[T]{Type: EventType(f.Type), Identity: f.Identity}
	unusable := func(err error) (Event[T], error) {
		return Event[T]{}, &EventError{Type: e.Type, Identity: e.Identity, Err: err}
	}
	switch e.Type {
	case Added, Modified, Deleted, Bookmark:
	case "ERROR":
		return Event[T]{}, watchError(f)
	default:
		return unusable(errors.New("its type is unknown"))
	}
	switch {
	case f.ResourceVersion == "":
		return unusable(errors.New("it has no resource version"))
	case e.Type == Bookmark:
		return e, nil
	case f.Name == "":
		return unusable(errors.New("it has no name"))
	}
	if err := r.checkKind(f.APIVersion, f.Kind); err != nil {
		return unusable(err)
	}
	obj, err := r.decodeUnchecked(f.Item)
	e.Object = obj
	return e, err
}

// watchError returns what an ERROR event says.
func watchError(f jsonstream.Frame) error {
	if f.Kind == "Status" {
		if status, err := codec.Unmarshal[*meta.Status](f.Raw); err == nil {
			return apierrors.FromStatus(*status)
		}
	}
	excerpt := f.Raw[:min(len(f.Raw), maxExcerpt)]
	return &EventError{Type: "ERROR", Err: fmt.Errorf("its object is no Status: %s", show(string(excerpt)))}
}
