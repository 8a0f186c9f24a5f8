package clienttest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/messages"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

// watchTimeout is the duration of a watch without a timeout; a real server picks one between 30 and 60 minutes.
const watchTimeout = 45 * time.Minute

// lastBookmark is how long before its end a watch gets a final bookmark, so that the next one starts where it ended.
const lastBookmark = 2 * time.Second

// The causes of a watch's end: it is cut in mid-stream, or ends as if its time were over. A cause that is a *status.Error is sent
// as an ERROR event first.
var (
	errDropped = errors.New("watch dropped")
	errLagging = errors.New("watch too slow")
	errEnded   = errors.New("watch ended")
)

// watch is one open watch. It follows its collection's history event by event; cut ends it from outside.
type watch struct {
	seen      *event        // the last event that was handled
	pos       atomic.Uint64 // seen.seq, for checkLag
	limit     uint64
	bookmarks bool
	demand    chan struct{} // of one that is wanted now
	cut       func(cause error)
	done      chan struct{} // closed when the handler has returned
}

// checkLag cuts a watch that is too far behind the newest event. It must not block: the store is locked.
func (w *watch) checkLag(newest *event) {
	if newest.seq-w.pos.Load() > w.limit {
		w.cut(errLagging)
	}
}

// watchOptions are the parameters of a watch.
type watchOptions struct {
	version   uint64
	current   bool // not older than the present version, which only the store knows
	initial   bool // send the present objects first
	endMark   bool // and then a bookmark that ends them,
	endAfter  time.Duration
	bookmarks bool
	every     time.Duration // between bookmarks
	timeout   time.Duration
}

// watchOptions reads the parameters of a watch, and the shard selector of its selection.
func (c *call) watchOptions(sel *selection) (o watchOptions, err error) {
	version, match := c.query.Get("resourceVersion"), c.query.Get("resourceVersionMatch")
	send, mode := c.query.Has("sendInitialEvents"), c.s.mode()
	if mode == StreamingIgnored {
		match, send = "", false
	}
	var causes []meta.StatusCause
	add := func(cause meta.StatusCause) { causes = append(causes, cause) }
	const field = "resourceVersionMatch"
	if send && match != "NotOlderThan" {
		add(status.ForbiddenValue(field, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"))
	}
	if send && mode == StreamingRefused {
		add(status.ForbiddenValue("sendInitialEvents", "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled"))
	}
	if token := c.query.Get("continue"); token != "" && match == "" && version == "" && !send && (mode == StreamingServed || mode == StreamingEndless) {
		// A real server treats such a watch as one that asks for the initial events, and then checks that.
		add(status.ForbiddenValue(field, "resourceVersionMatch is forbidden when continue is provided"))
	}
	if match != "" {
		if !send {
			add(status.ForbiddenValue(field, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"))
		}
		if match != "NotOlderThan" {
			add(status.UnsupportedValue(field, match, "NotOlderThan"))
		}
		if c.query.Get("continue") != "" {
			add(status.ForbiddenValue(field, "resourceVersionMatch is forbidden when continue is provided"))
		}
	}
	if len(causes) > 0 {
		return o, status.InvalidOptions("ListOptions", causes...)
	}
	if err := c.shard(sel); err != nil {
		return o, err
	}
	timeout, err := intParam(c.query, "timeoutSeconds")
	if err != nil {
		return o, err
	}
	if version != "" {
		if o.version, err = strconv.ParseUint(version, 10, 64); err != nil {
			return o, badVersion(version, err)
		}
	}
	o.every, o.timeout = c.s.options.BookmarkEvery, watchTimeout
	if timeout != 0 {
		o.timeout = time.Duration(timeout) * time.Second
	}
	o.bookmarks = isTrue(c.query, "allowWatchBookmarks")
	o.initial = o.version == 0 && !send || send && isTrue(c.query, "sendInitialEvents")
	// A server with streaming lists also treats a watch without a version as one.
	streams := mode == StreamingServed || mode == StreamingEndless
	o.current = version == "" && (streams || send)
	o.endMark = o.initial && o.bookmarks && streams
	o.endAfter = c.s.options.EndBookmarkAfter
	if o.endMark && mode == StreamingEndless {
		o.endMark, o.bookmarks = false, false
	}
	return o, nil
}

func (c *call) watch(w http.ResponseWriter) error {
	f, err := c.formOf(false)
	if err != nil {
		return err
	}
	sel, err := c.selection()
	if err != nil {
		return err
	}
	o, err := c.watchOptions(sel)
	if err != nil {
		return err
	}
	if f == asTable {
		if err := c.checkInclude(); err != nil {
			return err
		}
	}
	frames := &frameWriter{call: c, w: w, conn: http.NewResponseController(w), form: f}
	err = c.follow(frames, sel, o)
	if err == errDropped || err == errLagging {
		frames.half()
	}
	if err != nil {
		panic(http.ErrAbortHandler) // net/http's way to end a connection without an end of the body
	}
	return nil
}

// follow sends the events of a watch until it ends. An error means that the watch was cut, or that the client has gone; an error
// of the server is sent as an ERROR event instead.
func (c *call) follow(frames *frameWriter, sel *selection, o watchOptions) error {
	if o.timeout < 0 { // a real server starts with a time that is already over
		return frames.fail(status.Failure(http.StatusInternalServerError, "InternalError", "context deadline exceeded"))
	}
	ctx, cancel := context.WithCancelCause(c.r.Context())
	defer cancel(nil)
	if o.initial {
		version := o.version
		if o.current {
			version = c.s.present()
		}
		if err := c.replica.await(ctx, version); err != nil {
			return frames.fail(err)
		}
	}
	w := &watch{
		limit: uint64(c.s.options.WatchLag), done: make(chan struct{}), bookmarks: o.bookmarks, demand: make(chan struct{}, 1),
	}
	defer close(w.done)
	w.cut = func(cause error) {
		cancel(cause)
		if cause != errDropped && cause != errLagging {
			return
		}
		_ = frames.conn.SetWriteDeadline(time.Now().Add(cutGrace)) // a blocked write must end, too
	}
	// The answer starts after the watch: a client that has the headers misses nothing that happens from then on.
	objects, version, err := c.s.store.join(c.replica, c.res, w, o)
	if err != nil {
		return frames.fail(err)
	}
	func() {
		defer c.s.store.leave(c.res, w) // also if a fault ends the answer with a panic
		if err = frames.open(); err == nil {
			err = w.run(ctx, frames, sel, o, objects, version)
		}
	}()
	// From here on nothing cuts the watch. If it was cut, its connection must not serve another request, even if it ended for
	// another reason at the same time: the deadline is still set.
	cause := context.Cause(ctx)
	if cause == errDropped || cause == errLagging {
		return cause
	}
	var status *status.Error
	if err == nil && errors.As(cause, &status) {
		return frames.error(status)
	}
	return err
}

// present returns the store's version.
func (s *Server) present() uint64 {
	s.store.mu.Lock()
	defer s.store.mu.Unlock()
	return s.store.version
}

// run sends the initial state, if it was asked for, and then the events until ctx ends or the time is over.
func (w *watch) run(
	ctx context.Context, frames *frameWriter, sel *selection, o watchOptions, objects *object.Tree, version uint64,
) error {
	timeout := time.NewTimer(o.timeout)
	defer timeout.Stop()
	if err := frames.initial(sel, o, objects, version); err != nil {
		return err
	}
	ending := o.endMark && o.endAfter > 0 // the bookmark that ends the initial events is still to be sent

	bookmark, last, end := &time.Timer{}, &time.Timer{}, &time.Timer{}
	if o.bookmarks {
		bookmark = time.NewTimer(o.every)
		defer bookmark.Stop()
		if o.timeout > lastBookmark {
			last = time.NewTimer(o.timeout - lastBookmark)
			defer last.Stop()
		}
	}
	if ending {
		end = time.NewTimer(o.endAfter)
		defer end.Stop()
	}
	p, due, gone := frames.replica, false, false
	for !gone {
		limit, moved, next := p.horizon(&frames.res.objects)
		ready := (<-chan struct{})(w.seen.ready)
		if w.hidden(limit) {
			ready = moved
		} else {
			next = time.Time{}
		}
		visible, stop := alarm(next)
		select {
		case <-ctx.Done():
			stop()
			return nil
		case <-timeout.C:
			stop()
			return nil
		case <-ready:
		case <-visible:
		case <-frames.res.gone:
			gone, limit = true, math.MaxUint64
		case <-bookmark.C:
			bookmark.Reset(o.every)
			due = due || !ending && !frames.s.muted.Load()
		case <-last.C:
			due = due || !ending && !frames.s.muted.Load()
		case <-end.C:
			due = due || ending
		case <-w.demand:
			due = true
		}
		stop()
		if !gone {
			limit, _, _ = p.horizon(&frames.res.objects)
		}
		if err := w.drain(ctx, frames, sel, o, limit); err != nil {
			return err
		}
		if due {
			// A watch from a future version sends no bookmark of the present.
			if version, ok := frames.s.store.reached(p, frames.res, w); ok && version >= o.version {
				if err := frames.bookmark(version, ending); err != nil {
					return err
				}
				due, ending = false, false
			} else if ok {
				due = false
			}
		}
		if err := frames.flush(); err != nil {
			return err
		}
	}
	return nil
}

// initial sends the present objects when a watch starts, and the bookmark that ends them.
func (fw *frameWriter) initial(sel *selection, o watchOptions, objects *object.Tree, version uint64) error {
	if !o.initial {
		return nil
	}
	from, to := object.Span(sel.namespace)
	for v := range objects.Between(from, to) {
		if sel.matches(v) {
			if err := fw.send("ADDED", v); err != nil {
				return err
			}
		}
	}
	if o.endMark && o.endAfter == 0 {
		if err := fw.bookmark(version, true); err != nil {
			return err
		}
	}
	return fw.flush()
}

// cutGrace is how long a watch that is cut may take to write its last, partial frame.
const cutGrace = 100 * time.Millisecond

// drain sends the events since the last one that was handled, up to the version limit.
func (w *watch) drain(ctx context.Context, frames *frameWriter, sel *selection, o watchOptions, limit uint64) error {
	for ctx.Err() == nil {
		select {
		case <-w.seen.ready:
		default:
			return nil
		}
		if w.seen.after.version > limit {
			return nil
		}
		w.seen = w.seen.after
		w.pos.Store(w.seen.seq)
		if w.seen.version <= o.version {
			continue
		}
		if err := frames.event(sel, w.seen); err != nil {
			return err
		}
	}
	return nil
}

// join registers a watch and finds its start: the state of the replica's cache, which it returns, or a place in the history.
func (s *store) join(p *Replica, r *resource, w *watch, o watchOptions) (*object.Tree, uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-r.gone:
		return nil, 0, status.NoSuchResource()
	default:
	}
	c := &r.objects
	objects, version := p.cached(c)
	start := version
	switch {
	case o.initial:
	case o.version > 0:
		if oldest := s.oldest(c); o.version < oldest {
			return nil, 0, status.Expired("too old resource version: %d (%d)", o.version, oldest)
		}
		start = o.version
	case o.current:
		start = s.version
	}
	w.seen = c.position(start)
	w.pos.Store(w.seen.seq)
	c.watches[w] = struct{}{}
	return objects, version, nil
}

func (s *store) leave(r *resource, w *watch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(r.objects.watches, w)
}

// cutWatches ends every watch with a cause, and returns them. The store is locked.
func (s *store) cutWatches(cause error) []*watch {
	var cut []*watch
	for _, r := range s.resources {
		for w := range r.objects.watches {
			w.cut(cause)
			cut = append(cut, w)
		}
	}
	return cut
}

// position returns the event after which a watch from a version starts. The version must not be older than oldest.
func (c *collection) position(version uint64) *event {
	if e := c.upTo(version); e != nil {
		return e
	}
	if len(c.events) == 0 {
		return c.last
	}
	ready := make(chan struct{})
	close(ready)
	return &event{seq: c.events[0].seq - 1, after: c.events[0], ready: ready}
}

// hidden reports whether there is a next event that is beyond limit.
func (w *watch) hidden(limit uint64) bool {
	select {
	case <-w.seen.ready:
		return w.seen.after.version > limit
	default:
		return false
	}
}

// reached returns the version that a replica has, and whether the watch has handled everything up to it.
func (s *store) reached(p *Replica, r *resource, w *watch) (uint64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !p.lagging.Load() {
		return s.version, w.seen == r.objects.last
	}
	limit, _ := p.view(time.Now())
	limit = max(limit, s.oldest(&r.objects))
	select {
	case <-w.seen.ready:
		return limit, w.seen.after.version > limit
	default:
		return limit, true
	}
}

// frameWriter writes the events of one watch.
type frameWriter struct {
	*call
	w    http.ResponseWriter
	conn *http.ResponseController
	form form

	buf     bytes.Buffer // the frame being built
	columns bool         // a Table's columns have been sent
}

// open starts the answer.
func (fw *frameWriter) open() error {
	h := fw.w.Header()
	h.Set("Cache-Control", "no-cache, private")
	h.Set("Content-Type", mediaJSON)
	if fw.media == mediaProtobuf {
		h.Set("Content-Type", messages.StreamType)
	}
	fw.w.WriteHeader(http.StatusOK)
	return fw.flush()
}

func (fw *frameWriter) flush() error { return fw.conn.Flush() }

// event sends an event in the view of a selection: an object that starts to match is added, one that ceases to match is deleted.
func (fw *frameWriter) event(sel *selection, e *event) error {
	was, is := sel.matches(e.prev), sel.matches(e.next)
	switch {
	case is && was:
		return fw.send("MODIFIED", e.next)
	case is:
		return fw.send("ADDED", e.next)
	case was:
		return fw.send("DELETED", e.prev.At(e.version))
	}
	return nil
}

func (fw *frameWriter) send(kind string, v *object.Revision) error {
	return fw.write(kind, func() error { return fw.object(fw.shown(v)) })
}

// object appends v in the wanted form.
func (fw *frameWriter) object(v *object.Revision) error {
	switch fw.form {
	case asTable:
		t, err := fw.table([]*object.Revision{v}, meta.ListMeta{ResourceVersion: strconv.FormatUint(v.Version, 10)}, !fw.columns)
		if err != nil {
			return err
		}
		fw.columns = true
		return fw.json(t)
	case asMetadata:
		fw.buf.WriteString(fw.partialStart())
		fw.buf.Write(v.Metadata())
		fw.buf.WriteByte('}')
	default:
		fw.buf.Write(v.Raw)
	}
	return nil
}

// bookmark sends an object that has only a version and, at the end of the initial events, an annotation that says so.
func (fw *frameWriter) bookmark(version uint64, initialEnd bool) error {
	d := &object.Draft{}
	if initialEnd {
		d.Meta.Annotations = map[string]string{"k8s.io/initial-events-end": "true"}
	}
	v := d.Revision(&fw.res.Type, version)
	if fw.res.Blank != "" {
		v.Raw = slices.Concat(v.Raw[:len(v.Raw)-1], []byte(","+fw.res.Blank+"}"))
	}
	return fw.send("BOOKMARK", v)
}

// fail sends err as an ERROR event. It returns an error that is not a Status, which the server did not mean to send.
func (fw *frameWriter) fail(err error) error {
	var status *status.Error
	if !errors.As(err, &status) {
		return err
	}
	if err := fw.open(); err != nil {
		return err
	}
	return fw.error(status)
}

// error sends an ERROR event, which must be the last.
func (fw *frameWriter) error(status *status.Error) error {
	if err := fw.write("ERROR", func() error { return fw.json(status.Status) }); err != nil {
		return err
	}
	return fw.flush()
}

func (fw *frameWriter) json(v any) error {
	b, err := json.Marshal(v)
	fw.buf.Write(b)
	return err
}

func (fw *frameWriter) write(kind string, object func() error) error {
	fw.buf.Reset()
	if fw.media == mediaProtobuf {
		if err := object(); err != nil {
			return err
		}
		frame, err := messages.Event(kind, fw.buf.Bytes())
		if err != nil {
			return err
		}
		_, err = fw.w.Write(frame)
		return err
	}
	fw.buf.WriteString(`{"type":"` + kind + `","object":`)
	if err := object(); err != nil {
		return err
	}
	fw.buf.WriteString("}\n")
	_, err := fw.w.Write(fw.buf.Bytes())
	return err
}

// half sends the first half of a frame, so that a watch is cut within a frame.
func (fw *frameWriter) half() {
	fw.buf.Reset()
	if fw.media == mediaProtobuf {
		fw.buf.WriteString("\x00\x00\x04\x00\n\x08MODIFIED\x12\xf3\x07\n\xf0\x07k8s\x00")
	} else {
		fw.buf.WriteString(`{"type":"MODIFIED","object":` + fw.res.Prefix() + `"metadata":{"name":"cut-in-mid-`)
	}
	_, _ = fw.w.Write(fw.buf.Bytes())
	_ = fw.flush()
}
