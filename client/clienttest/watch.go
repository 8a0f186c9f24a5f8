package clienttest

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
)

// serveWatch sends the changes of a collection, or of one object, as they happen.
func serveWatch(c *call) error {
	if err := c.negotiate(false); err != nil {
		return err
	}
	sel, err := c.selection()
	if err != nil {
		return err
	}
	o, err := c.watchOptions(sel)
	if err == nil && c.form == asTable {
		err = c.include().Check()
	}
	if err != nil {
		return err
	}
	frames := &frameWriter{call: c, conn: http.NewResponseController(c.w)}
	err = c.follow(frames, sel, o)
	if isCut(err) {
		frames.half()
	}
	if err != nil {
		panic(http.ErrAbortHandler) // makes net/http close the connection without ending the body
	}
	return nil
}

// isCut reports whether the cause of a watch's end cuts it in mid-stream.
func isCut(cause error) bool { return cause == store.ErrDropped || cause == store.ErrLagging }

// cutGrace is how long a watch that is cut may take to write its last, partial frame.
const cutGrace = 100 * time.Millisecond

// follow sends the events of a watch until it ends. An error means that the watch was cut, or that the client has
// gone; an error of the server is sent as an ERROR event instead.
func (c *call) follow(frames *frameWriter, sel *selection, o watchOptions) error {
	if o.timeout < 0 { // a real server starts such a watch, and its context has expired
		return frames.sendFailure(status.Failure(http.StatusInternalServerError, "InternalError", "context deadline exceeded"))
	}
	ctx, cancel := context.WithCancelCause(c.r.Context())
	defer cancel(nil)
	if o.initial {
		version := o.version
		if o.current {
			version = c.store.Version()
		}
		if err := c.cache.Await(ctx, c.res.objects, version); err != nil {
			return frames.sendFailure(err)
		}
	}
	watch := &store.Watch{Limit: uint64(c.options.lag), Bookmarks: o.bookmarks, End: func(cause error) {
		cancel(cause)
		if isCut(cause) {
			_ = frames.conn.SetWriteDeadline(time.Now().Add(cutGrace)) // a blocked write must end, too
		}
	}}
	// The watch starts before the answer, so a client that has received the headers misses no later event.
	objects, err := c.cache.Join(c.res.objects, watch, store.From{Initial: o.initial, Version: o.version, Current: o.current})
	if err != nil {
		return frames.sendFailure(err)
	}
	defer watch.Close()
	func() {
		defer watch.Leave() // even if a fault ends the answer with a panic
		if err = frames.open(); err == nil {
			err = (&follower{frameWriter: frames, watch: watch, sel: sel, o: o}).run(ctx, objects)
		}
	}()
	// From here on nothing cuts the watch. If it was cut, its connection must not serve another request, even if it
	// ended for another reason at the same time: the deadline is still set.
	cause := context.Cause(ctx)
	if isCut(cause) {
		return cause
	}
	if failure, ok := errors.AsType[*status.Error](cause); ok && err == nil {
		return frames.sendError(failure)
	}
	return err
}
