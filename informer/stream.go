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

// A streaming list and a watch are the same request: the one is the beginning of the other. So this file has both.

const (
	// minWatch is the least that the server is asked to keep a watch open; up to twice that, so that informers which began
	// together do not come back together.
	minWatch = 5 * time.Minute
	// earlyEnd is how long before the time that it was asked for the end of a watch is one that the server chose. Whatever
	// made it do so may have ended other watches at the same moment.
	earlyEnd = 5 * time.Second
	// noProgress is how long a streaming list may go without an event that adds to it; see initial. A server that serves them
	// sends what it has at once, and the end bookmark as soon as it knows that it is up to date, which takes API servers up to
	// 5 s when nothing happens. One that ignores what was asked sends nothing more until something changes, and then what
	// changes.
	noProgress = 30 * time.Second
	// doubtful is how long a streaming list may bring only what may have been created meanwhile before the server is asked.
	doubtful = noProgress / 3
)

var (
	errUnended  = errors.New("server did not send the bookmark that ends a streaming list")
	errUnmarked = errors.New("server sent an ordinary bookmark instead of the end of a streaming list")
)

// open is one watch while it is open.
type open[T meta.Object] struct {
	r      *reflector[T]
	outer  context.Context // of the caller
	ctx    context.Context // of the watch, which ends when the server is silent for too long
	cancel context.CancelCauseFunc
	asked  time.Duration // after which the server is to end it
	opened time.Time

	version    string    // where it would be resumed
	began      time.Time // when the following of changes did
	bookmarked time.Time // when the last bookmark came
	in         input

	timer *time.Timer   // cancels
	limit time.Duration // after which it does
}

// open begins a watch, and returns the options to ask for it with.
func (r *reflector[T]) open(ctx context.Context) (*open[T], client.WatchOptions) {
	o := client.WatchOptions{
		Namespace: r.namespace, LabelSelector: r.o.LabelSelector, FieldSelector: r.o.FieldSelector,
		Bookmarks: true, KeepManagedFields: r.o.KeepManagedFields,
		Timeout: (minWatch + rand.N(minWatch)).Truncate(time.Second),
	}
	w := &open[T]{r: r, outer: ctx, asked: o.Timeout, opened: time.Now()}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	return w, o
}

func (w *open[T]) close() {
	w.timer.Stop()
	w.cancel(nil)
}

// read reads the watch to its end. One that was cancelled has not ended well, although the server may have been so quick to
// end it then that it looks so. The error is why it was: no caller's context has ended.
func (w *open[T]) read(
	o client.WatchOptions, reuse func(meta.Identity) (T, bool), fn func(client.Event[T]) error,
) error {
	err := w.r.source.WatchEach(w.ctx, o, reuse, fn)
	if w.ctx.Err() != nil && (err == nil || w.outer.Err() == nil && errors.Is(err, context.Canceled)) {
		return w.r.fail("watch", context.Cause(w.ctx))
	}
	return err
}

// initial tells the initial events of a streaming list from what is created meanwhile: both add an object. An object that is
// created later has a version above all that the server had before. So an added object is an initial one if its version is
// below one that has come already, which is what API servers send, in the order of keys, or not above one that the server had
// at some time. Objects that were created in the order of their keys come with ever higher versions. While nothing but those
// comes, only the server can tell what it is: see [reflector.present].
type initial struct {
	latest string    // of the versions that have come
	had    string    // a version that the server has had; empty if none is known
	since  time.Time // when the list was last known to go on, or the server was last asked
}

// goesOn reports whether an object that is added shows that the list goes on. Where versions cannot be ordered it does.
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

// present asks the server for the version that it has reached, with a list of one object, and returns "" where it does not
// say. It is one small request in a streaming list that takes long and brings nothing but ever higher versions, which is a
// slow list of objects that were created in the order of their keys, or one that does not end and is followed by what is
// created meanwhile.
func (r *reflector[T]) present(ctx context.Context) (version string) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	o := client.ListOptions{Namespace: r.namespace, PageSize: 1, OnPage: func(m meta.ListMeta) {
		version = m.ResourceVersion
		cancel() // nothing else is wanted
	}}
	skip := func(meta.Identity) (obj T, reused bool) { return obj, true }
	_, _ = r.source.ListEach(ctx, o, skip, func(client.Item[T]) error { return context.Canceled })
	return version
}

// expect makes the watch end with an error if nothing comes for a time.
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
	return w.end(ctx, w.read(o, nil, w.event))
}

// stream reads the whole collection from a watch. When that is complete the machine says to follow what the same watch brings then, and
// stream does. It returns how the last of the two ended.
func (r *reflector[T]) stream(ctx context.Context) input {
	s := r.s // when it begins
	r.record.listing(Streaming)
	w, o := r.open(ctx)
	o.InitialEvents = true
	if s.stale {
		o.ResourceVersion = "0"
	}
	w.expect(noProgress, fmt.Errorf("%w: nothing came for %v", errUnended, noProgress))
	defer w.close()
	g := r.stage(s)
	synced := false
	first := initial{had: s.seen, since: time.Now()}
	reuse := g.reuse()
	// This is asked about every object that the server adds, also where Filter or a wide watch leaves it out afterwards.
	added := func(id meta.Identity) (obj T, reused bool) {
		// Where there is no other way to list, an object that may be new counts too: it is better than to begin again.
		switch {
		case first.goesOn(id.ResourceVersion), s.mode == Streaming:
			first.since = time.Now()
			w.timer.Reset(w.limit)
		case time.Since(first.since) >= doubtful:
			if version := r.present(w.ctx); version != "" {
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
		if todo := r.advance(input{outcome: done, version: version}); todo.action == follow {
			w.follow(version)
		}
		return nil
	})
	switch {
	case synced:
		return w.end(ctx, err)
	case err == nil:
		err = r.fail("watch", fmt.Errorf("%w: it ended the watch", errUnended))
	}
	return g.failed(ctx, err)
}

// event stages one of the initial events of a streaming list, or what changes until they end.
func (g *staging[T]) event(e client.Event[T]) {
	switch {
	case e.Type == client.Deleted:
		g.delete(e.Identity)
	case e.Err != nil:
		g.retain(e.Identity, e.Err)
	case e.Reused:
		g.keepAgain(e.Identity)
	default:
		g.set(e.Identity, e.Object)
	}
	g.r.record.item()
}

// follow makes what comes from now on be applied to the cache, which is current to version.
func (w *open[T]) follow(version string) {
	w.version, w.began = version, time.Now()
	w.expect(w.r.dog.limit(w.asked))
}

// event applies one event to the cache.
func (w *open[T]) event(e client.Event[T]) error {
	version := e.Identity.ResourceVersion
	if e.Type != client.Bookmark {
		w.timer.Reset(w.limit)
		w.r.apply(e)
	} else if err := w.bookmark(version); err != nil {
		return w.r.fail("watch", err)
	}
	if version != "" { // an object that is too large may not have said it
		w.version, w.in.version = version, version
	}
	w.in.delivered = true
	w.r.record.event(e.Type == client.Bookmark)
	w.r.healthy()
	return nil
}

// bookmark moves the cache to a version up to which everything has come. One that lies before what has come is of another
// history than the cache.
func (w *open[T]) bookmark(version string) error {
	if (state{seen: w.version}).outdates(version) {
		return &RollbackError{Was: w.version, Is: version}
	}
	now, gap := time.Now(), time.Duration(0)
	if !w.bookmarked.IsZero() {
		gap = now.Sub(w.bookmarked)
	}
	w.r.dog.bookmark(gap)
	w.bookmarked = now
	w.expect(w.r.dog.limit(w.asked))
	w.r.writer.Bookmark(version)
	return nil
}

// end says what the end of the watch means.
func (w *open[T]) end(ctx context.Context, err error) input {
	in := w.in
	in.lived = time.Since(w.began)
	in.mute = !in.delivered && !w.r.dog.none && (err == nil && in.lived >= minWatch-earlyEnd || errors.Is(err, errSilent))
	if err != nil && !(errors.Is(err, errEndless) && in.delivered) {
		failed := w.r.failed(ctx, err)
		in.outcome, in.floor = failed.outcome, failed.floor
		return in
	}
	in.early = time.Since(w.opened) < w.asked-earlyEnd
	// Without bookmarks the end of a watch may be all that an idle resource's server ever shows of its health.
	if in.lived >= shortWatch {
		w.r.record.update(func(st *Status) { st.Err = nil })
	}
	if in.lived >= healthy {
		w.r.backoff.Reset()
		w.r.slow.Reset()
	}
	return in
}

// apply makes the cache what an event says.
func (r *reflector[T]) apply(e client.Event[T]) {
	id := e.Identity
	switch {
	case e.Type == client.Deleted:
		if e.Err != nil {
			var none T
			e.Object = none // the last good state stands in for the final one
			r.badObject(id.Key().String(), e.Err)
		}
		r.writer.Delete(id, e.Object)
		r.decodes(r.record.decodable(id.Key()))
	case e.Err != nil:
		r.undecodable(id, e.Err)
		r.writer.Bookmark(id.ResourceVersion)
	default:
		r.writer.Set(id, e.Object)
		r.decodes(r.record.decodable(id.Key()))
	}
}
