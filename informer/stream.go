package informer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// A streaming list is the beginning of a watch, in the same request. So this file has both.

const (
	// minWatch is the shortest time for which the server is asked to keep a watch open. The longest is twice that, so
	// that informers that began together do not reconnect together.
	minWatch = 5 * time.Minute
	// earlyEnd is how long before the requested time a watch must end to count as ended by the server's choice. The
	// same cause may have ended other watches at the same moment.
	earlyEnd = 5 * time.Second
	// noProgress is how long a streaming list may go without an event that adds to it; see initial. A server that
	// serves such lists sends its objects at once, and the end bookmark as soon as it knows that it is up to date,
	// which takes API servers up to 5 s when nothing happens. A server that ignores the request sends nothing until
	// something changes, and then only changes.
	noProgress = 30 * time.Second
	// doubtful is how long a streaming list may bring only objects that may be new before the informer asks the server
	// for its version.
	doubtful = noProgress / 3
	// proofTime is how long a watch of a further Run may take to show that the cache is current. After that a list
	// decides. The server is asked to end that watch after provingWatch, because API servers send a bookmark 2 s before
	// the end of a watch, at intervals of a bit more than a second: it may be the only sign from a quiet collection.
	proofTime    = 2500 * time.Millisecond
	provingWatch = 3 * time.Second
)

// errGrown, errUnproven and errDue end a watch for a reason of the informer. They are never reported.
var (
	errUnended  = errors.New("server did not send the bookmark that ends a streaming list")
	errGrown    = errors.New("the ranges have been listed")
	errUnmarked = errors.New("server sent an ordinary bookmark instead of the end of a streaming list")
	errUnproven = errors.New("the watch has not shown that the cache of an earlier Run is current")
	errDue      = errors.New("the next poll is due")
)

// open is one watch while it is open.
type open[T meta.Object] struct {
	r       *reflector[T]
	source  Source[T]
	excerpt *excerpt[T]     // source itself if it is limited to ranges, otherwise nil
	outer   context.Context // of the caller
	ctx     context.Context // of the watch; ends when the server is silent for too long
	cancel  context.CancelCauseFunc
	asked   time.Duration // the server should end the watch after this time
	opened  time.Time

	version    string    // the watch would resume here
	began      time.Time // when it began to follow changes, or the server opened it if that was later
	isOpen     bool      // the server has opened it
	bookmarked time.Time // when the last bookmark came
	in         input

	timer *time.Timer   // cancels ctx when it fires
	limit time.Duration // the timer fires after this time
	lasts *time.Timer   // fires when the watch has been open for a moment; nil before it is open
	given *time.Timer   // the timer of give; nil without a call of give
}

// open begins a watch, and returns the options to request it with.
func (r *reflector[T]) open(ctx context.Context) (*open[T], client.WatchOptions) {
	o := client.WatchOptions{
		Namespace: r.namespace, LabelSelector: r.o.LabelSelector, FieldSelector: r.o.FieldSelector,
		Bookmarks: true, KeepManagedFields: r.o.KeepManagedFields,
		Timeout: (minWatch + rand.N(minWatch)).Truncate(time.Second),
	}
	if r.s.proof != "" {
		o.Timeout = provingWatch
	}
	w := &open[T]{r: r, outer: ctx, asked: o.Timeout, opened: time.Now()}
	w.source, w.excerpt = r.selected(r.s)
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	o.OnOpen = w.opens
	return w, o
}

func (w *open[T]) close() {
	w.timer.Stop()
	if w.given != nil {
		w.given.Stop()
	}
	if w.lasts != nil {
		w.lasts.Stop()
		w.r.record.watching(nil)
	}
	w.cancel(nil)
}

// opens notes that the server has opened the watch.
func (w *open[T]) opens() {
	w.isOpen = true
	if !w.began.IsZero() { // before that, the stream is still a list
		w.began = time.Now()
		w.works()
	}
}

// works notes that the watch follows changes. A watch that has been open for a moment shows that watches work, although
// it may bring nothing for long.
func (w *open[T]) works() {
	w.r.record.watching(w)
	deaf := w.r.s.deaf
	w.lasts = time.AfterFunc(shortWatch, func() {
		if w.r.record.lasts(w, deaf) {
			w.r.informer.log.Works(aboutPolling + w.r.namespace)
		}
	})
}

// give ends the watch with err after d, unless shows stops the timer before that.
func (w *open[T]) give(d time.Duration, err error) {
	w.given = time.AfterFunc(d, func() { w.cancel(err) })
}

// read reads the watch to its end. A cancelled watch returns the cause of the cancellation, even if the server ended it
// cleanly at that moment, because the caller's context has not ended.
func (w *open[T]) read(
	o client.WatchOptions, reuse func(meta.Identity) (T, bool), fn func(client.Event[T]) error,
) error {
	err := w.source.WatchEach(w.ctx, o, reuse, fn)
	if w.ctx.Err() != nil && (err == nil || w.outer.Err() == nil && errors.Is(err, context.Canceled)) {
		return w.r.fail("watch", context.Cause(w.ctx))
	}
	return err
}

// initial distinguishes the initial events of a streaming list from events of objects that are created while it is
// read: both add an object. An object that is created later has a version above all that the server had before. So an
// added object is an initial one in two cases:
//
//   - Its version is below one that has arrived already. API servers send initial objects in the order of keys, so this
//     is the usual case.
//   - Its version is not above one that the server is known to have had.
//
// Objects that were created in the order of their keys arrive with ever higher versions. While only such objects
// arrive, only the server can decide: see [reflector.present].
type initial struct {
	latest string    // the highest version that has arrived
	had    string    // a version that the server has had; empty if none is known
	since  time.Time // when the list last made progress, or the server was last asked
}

// goesOn reports whether an added object shows that the list makes progress. It returns true if versions have no order.
func (i *initial) goesOn(version string) bool {
	if order, ok := meta.CompareVersions(version, i.had); ok && order <= 0 {
		return true
	}
	if i.latest == "" {
		i.latest = version
		return false
	}
	order, ok := meta.CompareVersions(version, i.latest)
	if ok && order > 0 {
		i.latest = version
	}
	return !ok || order < 0
}

// present asks the server for its current version, with a list of one object. The version is empty if there is an
// error.
//
// It is called for a streaming list that takes long and brings only ever higher versions. That is either a slow list of
// objects that were created in the order of their keys, or a list that never ends, followed by objects that are created
// while it is read. See also question.
func (r *reflector[T]) present(ctx context.Context) (version string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	o := client.ListOptions{Namespace: r.namespace, PageSize: 1, OnPage: func(m meta.ListMeta) {
		version = m.ResourceVersion
		cancel() // the version is enough
	}}
	skip := func(meta.Identity) (obj T, reused bool) { return obj, true }
	if _, err = r.source.ListEach(ctx, o, skip, func(client.Item[T]) error { return nil }); version != "" {
		err = nil
	}
	return version, err
}

// expect ends the watch with an error if nothing arrives for a time.
func (w *open[T]) expect(limit time.Duration, err error) {
	if w.timer != nil {
		w.timer.Stop()
	}
	w.limit = limit
	w.timer = time.AfterFunc(limit, func() { w.cancel(err) })
}

// watch applies events to the cache until the watch ends.
func (r *reflector[T]) watch(ctx context.Context) input {
	r.record.update(func(st *Status) { st.Watches++ })
	w, o := r.open(ctx)
	o.ResourceVersion = r.s.version
	w.follow(r.s.version)
	defer w.close()
	switch {
	case r.s.proof != "":
		w.give(proofTime, errUnproven)
	case r.s.deaf:
		w.give(r.nextPoll(), errDue)
	}
	return w.end(ctx, w.read(o, nil, w.event))
}

// stream reads the whole collection from a watch. When the list is complete, the machine tells it to follow the changes
// of the same watch, and stream does so. It returns how the list ended or, after a complete list, how the watch ended.
func (r *reflector[T]) stream(ctx context.Context) input {
	s := r.s // as the list begins
	r.record.listing(Streaming)
	w, o := r.open(ctx)
	o.InitialEvents = true
	if s.stale {
		o.ResourceVersion = "0"
	}
	w.expect(noProgress, fmt.Errorf("%w: no progress for %v", errUnended, noProgress))
	defer w.close()
	g := r.stage(s)
	synced, grown := false, ""
	first := initial{had: s.seen, since: time.Now()}
	reuse := g.reuse()
	// added is called for every object that the server adds, even if a Filter leaves it out afterwards.
	added := func(id meta.Identity) (obj T, reused bool) {
		// In mode Streaming every added object counts as progress, even one that may be new: if the list ended here,
		// the informer would only begin another streaming list.
		switch {
		case first.goesOn(id.ResourceVersion), s.mode == Streaming:
			first.since = time.Now()
			w.timer.Reset(w.limit)
		case time.Since(first.since) >= doubtful:
			if version, _ := r.present(w.ctx); version != "" {
				first.had = version
			}
			first.since = time.Now()
		}
		if reuse == nil {
			return obj, false
		}
		return reuse(id)
	}
	err := w.read(o, added, func(e client.Event[T]) error {
		if synced {
			return w.event(e)
		}
		if e.Type != client.Bookmark {
			g.event(e)
			return nil
		}
		if !e.InitialEventsEnd {
			return r.fail("watch", errUnmarked)
		}
		version := e.Identity.ResourceVersion
		if err := g.commit(version); err != nil {
			return r.fail("watch", err)
		}
		synced = true
		w.excerpt.judge(r)
		if g.grows {
			grown = version
			return errGrown
		}
		if todo := r.advance(input{outcome: done, version: version}); todo.action == follow {
			w.follow(version)
		}
		return nil
	})
	switch {
	case synced && g.grows:
		return input{outcome: done, version: grown}
	case synced:
		return w.end(ctx, err)
	case err == nil:
		err = r.fail("watch", fmt.Errorf("%w: the watch ended", errUnended))
	}
	return g.failed(ctx, err)
}

// event stages an initial event of a streaming list, or a change that arrives before the initial events end.
func (g *staging[T]) event(e client.Event[T]) {
	switch {
	case isOutside(e): // an object outside the ranges is only counted
	case e.Type == client.Deleted:
		g.delete(e.Identity)
	case e.Err != nil:
		g.retain(e.Identity, e.Err)
	case e.Reused:
		g.keepAgain(e.Identity)
	default:
		g.set(e.Identity, e.Object, e.Packed())
	}
	g.r.record.item()
}

// follow applies all further events to the cache, which is current to version.
func (w *open[T]) follow(version string) {
	w.version, w.began = version, time.Now()
	if w.isOpen { // it was a list until now
		w.works()
	}
	w.expect(w.r.dog.limit(w.asked))
}

// event applies one event to the cache.
func (w *open[T]) event(e client.Event[T]) error {
	version := e.Identity.ResourceVersion
	news := w.r.isNews(e)
	if tell := w.r.informer.observers.event; tell != nil && news {
		tell(EventInfo{Informer: w.r.o.called(), Resource: w.r.source.GVR(), Type: e.Type, Identity: e.Identity, Err: e.Err})
	}
	switch {
	case e.Type == client.Bookmark:
		if err := w.bookmark(version); err != nil {
			return w.r.fail("watch", err)
		}
	case news:
		w.timer.Reset(w.limit)
		w.r.apply(e)
		w.r.divides()
	default:
		w.timer.Reset(w.limit)
		w.excerpt.judge(w.r)
		w.r.reaches(e)
	}
	w.r.portion.reached(version)
	if version != "" { // an object that is too large may lack it
		w.version, w.in.version = version, version
	}
	if w.r.s.polling && !w.in.delivered {
		w.r.pollsNoMore()
	}
	w.in.delivered = true
	w.shows()
	w.r.record.event(e.Type == client.Bookmark || !news)
	w.r.healthy()
	return nil
}

// shows stops the timer of give if the watch has shown that it works: for a further Run, that the cache is current.
func (w *open[T]) shows() {
	s := w.r.s
	if w.given == nil || s.proof != "" && (w.version == "" || (state{seen: s.proof}).outdates(w.version)) {
		return
	}
	w.given.Stop()
	w.given = nil
	if s.proof != "" {
		w.r.proven()
	}
}

// bookmark moves the cache to a version up to which every event has arrived. A bookmark before the last version belongs
// to another history than the cache's.
func (w *open[T]) bookmark(version string) error {
	if (state{seen: w.version}).outdates(version) {
		return &rollbackError{was: w.version, is: version}
	}
	now, gap := time.Now(), time.Duration(0)
	if !w.bookmarked.IsZero() {
		gap = now.Sub(w.bookmarked)
	}
	w.r.dog.bookmark(gap)
	w.r.record.sendsBookmarks(w.r.dog.gap > 0) // the gap is known after two bookmarks in one watch
	w.bookmarked = now
	w.expect(w.r.dog.limit(w.asked))
	w.r.reaches(client.Event[T]{Type: client.Bookmark, Identity: meta.Identity{ResourceVersion: version}})
	return nil
}

// end returns the outcome of the watch.
func (w *open[T]) end(ctx context.Context, err error) input {
	in := w.in
	if w.isOpen || in.delivered || err == nil {
		in.lived = time.Since(w.began)
	}
	in.mute = !in.delivered && !w.r.dog.none && (err == nil && in.lived >= minWatch-earlyEnd || errors.Is(err, errSilent))
	if in.lived >= shortWatch && !errors.Is(err, errSilent) {
		w.r.worked = time.Now()
	}
	if in.lived >= healthy {
		w.r.poll = 0
	}
	if err != nil && !(errors.Is(err, errEndless) && in.delivered) {
		failed := w.r.failed(ctx, err)
		failed.version, failed.delivered, failed.mute, failed.lived = in.version, in.delivered, in.mute, in.lived
		return failed
	}
	in.early = time.Since(w.opened) < w.asked-earlyEnd
	// Without bookmarks, the end of a watch may be the only sign that the server of an idle resource is healthy.
	if in.lived >= shortWatch {
		w.r.record.update(func(st *Status) { st.Err = nil })
	}
	if in.lived >= healthy {
		w.r.backoff.Reset()
		w.r.slow.Reset()
	}
	return in
}

// reaches moves the cache to the version of an event that changes nothing.
func (r *reflector[T]) reaches(e client.Event[T]) {
	if r.warm != nil {
		r.warm.event(client.Event[T]{Type: client.Bookmark, Identity: e.Identity})
		return
	}
	r.writer.Bookmark(e.Identity.ResourceVersion)
}

// apply applies an event to the cache, or to the kept objects that are not in the cache yet.
func (r *reflector[T]) apply(e client.Event[T]) {
	id := e.Identity
	switch {
	case r.warm != nil:
		r.warm.event(e)
	case e.Type == client.Deleted:
		if e.Err != nil {
			var none T
			e.Object = none // the cache passes the last good state to handlers
			r.badObject(id.Key().String(), e.Err)
		}
		r.writer.DeletePacked(id, e.Object, e.Packed())
		r.decodes(r.record.decodable(id.Key()))
	case e.Err != nil:
		r.undecodable(id, e.Err)
		r.writer.Bookmark(id.ResourceVersion)
	default:
		r.writer.SetPacked(id, e.Object, e.Packed())
		r.decodes(r.record.decodable(id.Key()))
	}
}
