package client

import (
	"context"
	"errors"
	"iter"

	"github.com/bowline-go/bowline/client/meta"
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
