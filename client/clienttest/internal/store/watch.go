package store

import (
	"errors"
	"iter"
	"math"
	"sync/atomic"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/status"
)

// The causes with which the store or a test ends a watch. ErrDropped and ErrLagging cut it in mid-stream; ErrEnded
// ends it as if its timeout had passed. A cause that is a *status.Error is sent as an ERROR event first.
var (
	ErrDropped = errors.New("watch dropped")
	ErrLagging = errors.New("watch too slow")
	ErrEnded   = errors.New("watch ended")
)

// Watch is one open watch. It follows its collection's history event by event, as a cache sees it. One goroutine uses
// it.
type Watch struct {
	// Limit is how many events the watch may be behind before it is cut. Bookmarks says whether Store.Bookmark demands
	// a bookmark from it. End ends it, and must not block, because the store is locked. Set them before Join.
	Limit     uint64
	Bookmarks bool
	End       func(cause error)

	in     *Collection
	cache  *Cache
	seen   *Event        // the last event that was handled
	pos    atomic.Uint64 // seen.seq, for checkLag
	demand chan struct{} // receives when a bookmark is wanted at once
	done   chan struct{} // closed when it has ended
}

// From says where a watch starts. The first of its fields that is set decides; without any, the watch starts after the
// present version of its cache.
type From struct {
	Initial bool   // after the objects of the cache, which are sent first
	Version uint64 // after this version
	Current bool   // after the present version of the store
}

// Join registers a watch, and finds its start. It returns the objects that its cache has.
func (c *Cache) Join(in *Collection, w *Watch, start From) (Snapshot, error) {
	w.in, w.cache, w.demand, w.done = in, c, make(chan struct{}, 1), make(chan struct{})
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	select {
	case <-in.gone:
		return Snapshot{}, status.NoSuchResource()
	default:
	}
	has := c.present(in)
	from := has.Version
	switch {
	case start.Initial:
	case start.Version > 0:
		if oldest := in.oldest(); start.Version < oldest {
			return Snapshot{}, status.Expired("too old resource version: %d (%d)", start.Version, oldest)
		}
		from = start.Version
	case start.Current:
		from = c.s.version
	}
	w.seen = in.position(from)
	w.pos.Store(w.seen.seq)
	in.watches[w] = struct{}{}
	return has, nil
}

// position returns the event after which a watch from a version starts. The version must not be older than oldest.
func (c *Collection) position(version uint64) *Event {
	if e := c.upTo(version); e != nil {
		return e
	}
	if len(c.events) == 0 {
		return c.last
	}
	ready := make(chan struct{})
	close(ready)
	return &Event{seq: c.events[0].seq - 1, after: c.events[0], ready: ready}
}

// Leave makes the store forget the watch. Nothing ends it from then on.
func (w *Watch) Leave() {
	w.in.store.mu.Lock()
	defer w.in.store.mu.Unlock()
	delete(w.in.watches, w)
}

// Close says that the watch, which the store has forgotten, has ended.
func (w *Watch) Close() { close(w.done) }

// checkLag ends a watch that is too far behind the newest event.
func (w *Watch) checkLag(newest *Event) {
	if newest.seq-w.pos.Load() > w.Limit {
		w.End(ErrLagging)
	}
}

// Demand returns a channel that delivers when a bookmark is wanted at once.
func (w *Watch) Demand() <-chan struct{} { return w.demand }

// Wait returns two channels and a function that releases them. One of the channels delivers when the watch may have
// another event.
func (w *Watch) Wait() (ready <-chan struct{}, visible <-chan time.Time, stop func()) {
	limit, moved, next := w.cache.horizon(w.in)
	if w.pending() && w.seen.after.Version > limit { // the cache does not have it yet
		visible, stop = alarm(next)
		return moved, visible, stop
	}
	return w.seen.ready, nil, func() {}
}

// pending reports whether there is another event.
func (w *Watch) pending() bool {
	select {
	case <-w.seen.ready:
		return true
	default:
		return false
	}
}

// Events returns the events since the last one that was handled, up to those that the cache has or, if all is true, to
// the last.
func (w *Watch) Events(all bool) iter.Seq[*Event] {
	return func(yield func(*Event) bool) {
		limit := uint64(math.MaxUint64)
		if !all {
			limit, _, _ = w.cache.horizon(w.in)
		}
		for w.pending() && w.seen.after.Version <= limit {
			w.seen = w.seen.after
			w.pos.Store(w.seen.seq)
			if !yield(w.seen) {
				return
			}
		}
	}
}

// Reached returns the version that the cache has, and whether the watch has handled everything up to it.
func (w *Watch) Reached() (uint64, bool) {
	s := w.in.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if !w.cache.lagging.Load() {
		return s.version, w.seen == w.in.last
	}
	limit, _ := w.cache.of(w.in).view(time.Now(), s.version)
	limit = max(limit, w.in.oldest())
	return limit, !w.pending() || w.seen.after.Version > limit
}

// End ends every watch with a cause, and returns how many there were. If the cause is ErrDropped, it waits until the
// watches have ended. It does not wait for other causes, because the clients may not read.
func (s *Store) End(cause error) int {
	s.mu.Lock()
	cut := s.cut(cause)
	s.mu.Unlock()
	if cause == ErrDropped {
		waitFor(cut)
	}
	return len(cut)
}

// cut ends every watch with a cause, and returns them. The store is locked.
func (s *Store) cut(cause error) (cut []*Watch) {
	for _, c := range s.collections {
		for w := range c.watches {
			w.End(cause)
			cut = append(cut, w)
		}
	}
	return cut
}

func waitFor(watches []*Watch) {
	for _, w := range watches {
		<-w.done
	}
}

// Watches returns how many watches are open.
func (s *Store) Watches() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.collections {
		n += len(c.watches)
	}
	return n
}

// Bookmark demands a bookmark from every watch that sends bookmarks, and returns how many such watches there are.
func (s *Store) Bookmark() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.collections {
		for w := range c.watches {
			if !w.Bookmarks {
				continue
			}
			n++
			select {
			case w.demand <- struct{}{}:
			default: // one is already requested
			}
		}
	}
	return n
}
