package clienttest

import (
	"context"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/object"
	"github.com/bowline-go/bowline/client/clienttest/internal/store"
)

// lastBookmark is how long before its end a watch gets a final bookmark, so that the next one starts where it ended.
const lastBookmark = 2 * time.Second

// follower sends the events that a watch selects.
type follower struct {
	*frameWriter
	watch *store.Watch
	sel   *selection
	o     watchOptions

	timeout, bookmark, last <-chan time.Time

	ending bool // the bookmark that ends the initial events has not been sent yet
	due    bool // a bookmark must be sent
	gone   bool // the resource is no longer served: the pending events are the last
}

// run sends the initial state, if the client has asked for it, and then the events until ctx ends or the watch times
// out.
func (f *follower) run(ctx context.Context, objects store.Snapshot) error {
	var timers []*time.Timer
	start := func(d time.Duration) <-chan time.Time {
		timers = append(timers, time.NewTimer(d))
		return timers[len(timers)-1].C
	}
	defer func() {
		for _, t := range timers {
			t.Stop()
		}
	}()
	f.timeout = start(f.o.timeout)
	if err := f.initial(objects); err != nil {
		return err
	}
	if f.o.bookmarks {
		ticker := time.NewTicker(f.options.BookmarkEvery)
		defer ticker.Stop()
		f.bookmark = ticker.C
		if f.o.timeout > lastBookmark {
			f.last = start(f.o.timeout - lastBookmark)
		}
	}
	for !f.gone {
		if over := f.wait(ctx); over {
			return nil
		}
		if err := f.drain(ctx); err != nil || ctx.Err() != nil {
			return err
		}
		if f.due {
			if err := f.mark(); err != nil {
				return err
			}
		}
		if err := f.flush(); err != nil {
			return err
		}
	}
	return nil
}

// initial sends the present objects when a watch starts, and the bookmark that ends them.
func (f *follower) initial(objects store.Snapshot) error {
	if !f.o.initial {
		return nil
	}
	for v := range objects.Between(object.Span(f.sel.namespace)) {
		if f.sel.matches(v) {
			if err := f.send("ADDED", v); err != nil {
				return err
			}
		}
	}
	if f.ending = f.o.endMark && f.o.endless; f.o.endMark && !f.ending {
		if err := f.sendBookmark(objects.Version, true); err != nil {
			return err
		}
	}
	return f.flush()
}

// wait waits until there may be something to send. over means that the watch ends.
func (f *follower) wait(ctx context.Context) (over bool) {
	ready, visible, stop := f.watch.Wait()
	defer stop()
	select {
	case <-ctx.Done():
		return true
	case <-f.timeout:
		return true
	case <-ready:
	case <-visible:
	case <-f.res.objects.Gone():
		f.gone = true
	case <-f.bookmark:
		f.due = f.due || !f.ending && !f.muted.Load()
	case <-f.last:
		f.due = f.due || !f.ending && !f.muted.Load()
	case <-f.watch.Demand():
		f.due = true
	}
	return false
}

// drain sends the events that have come.
func (f *follower) drain(ctx context.Context) error {
	for e := range f.watch.Events(f.gone) {
		if ctx.Err() != nil {
			return nil
		}
		if e.Version <= f.o.version {
			continue
		}
		if err := f.event(f.sel, e); err != nil {
			return err
		}
	}
	return nil
}

// mark sends the bookmark that is due, unless there are events to send before it.
func (f *follower) mark() error {
	version, reached := f.watch.Reached()
	if !reached {
		return nil
	}
	f.due = false
	if version < f.o.version { // a watch from a future version sends no bookmark of the present
		return nil
	}
	ending := f.ending
	f.ending = false
	return f.sendBookmark(version, ending)
}
