package informer

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// record is the Status that the reflector writes and others read. Its lock guards all fields, and nothing else is
// called while it is held.
type record struct {
	mu  sync.Mutex
	s   Status
	bad map[meta.Key]*client.DecodeError

	watch     any  // the watch that is open and follows changes; nil if none is
	bookmarks bool // the server sends bookmarks

	works func() // called, without the lock, when Status.Err has become nil; nil before the reflector runs
}

func (r *record) update(f func(*Status)) {
	if works := r.updated(f); works != nil {
		works()
	}
}

// updated changes the status. It returns works if that has cleared Status.Err, or has left only the reason for polling.
func (r *record) updated(f func(*Status)) (works func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.s.fault()
	f(&r.s)
	if before != nil && r.s.fault() == nil {
		return r.works
	}
	return nil
}

// says sets the function to call when the error is gone.
func (r *record) says(works func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.works = works
}

// listing notes that a list begins, and how it is read.
func (r *record) listing(m Mode) {
	r.update(func(s *Status) {
		s.Lists++
		s.Mode, s.Listed, s.Remaining = m, 0, 0
	})
}

// listed notes that a list is complete and in the cache.
func (r *record) listed(cause Cause) {
	r.update(func(s *Status) {
		s.Synced, s.Err, s.LastEvent, s.Renewed, s.Remaining = true, s.Polling, time.Now(), time.Now(), 0
		if cause != Initial {
			if s.Relists == nil {
				s.Relists = make(map[Cause]int)
			}
			s.Relists[cause]++
		}
	})
}

// proven notes that the cache of an earlier Run is current in this one.
func (r *record) proven() {
	r.update(func(s *Status) { s.Synced, s.Err, s.Renewed = true, nil, time.Now() })
}

// expire notes that the Run has ended.
func (r *record) expire() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.s.Synced, r.s.Polling, r.s.PollingSince = false, nil, time.Time{}
}

// watching notes which watch is open; nil means none.
func (r *record) watching(w any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.watch != nil && !r.bookmarks {
		r.s.Renewed = time.Now()
	}
	r.watch = w
}

// lasts notes that w has been open for a moment, if it is still open. It reports whether that ends the polling. A watch
// that may be deaf does not end it.
func (r *record) lasts(w any, deaf bool) (ended bool) {
	r.update(func(s *Status) {
		if r.watch != w {
			return
		}
		if s.Err = nil; s.Polling != nil && !deaf {
			s.Polling, s.PollingSince, ended = nil, time.Time{}, true
		}
	})
	return ended
}

// polls notes why the informer polls the collection; nil ends the polling. It reports whether the informer polled
// before.
func (r *record) polls(why error) (before bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	before = r.s.Polling != nil
	r.s.Polling = why
	switch {
	case why == nil:
		r.s.PollingSince = time.Time{}
	case !before:
		r.s.PollingSince = time.Now()
	}
	return before
}

// sendsBookmarks notes whether the server sends bookmarks.
func (r *record) sendsBookmarks(does bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bookmarks = does
}

// sharded notes where the ranges are selected.
func (r *record) sharded(s Sharding) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.s.Sharded = s
}

// item notes an object of a list.
func (r *record) item() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.s.Listed++
}

// page notes, when a page begins, how many objects follow the page; nil means unknown.
func (r *record) page(remaining *int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.s.Remaining = 0
	if remaining != nil {
		r.s.Remaining = int(*remaining)
	}
}

// event notes that a watch has brought a usable event or bookmark; idle says that it changed nothing in the cache.
func (r *record) event(idle bool) {
	r.update(func(s *Status) {
		s.Err, s.LastEvent, s.Renewed = nil, time.Now(), time.Now()
		if !idle {
			s.Events++
		}
	})
}

// undecodable notes an object that does not decode. It returns false if this state of it is known already. An object
// without a name is never known.
func (r *record) undecodable(id meta.Identity, err error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if was, ok := r.bad[id.Key()]; ok && was.Identity == id && id.Name != "" {
		return false
	}
	if r.bad == nil {
		r.bad = make(map[meta.Key]*client.DecodeError)
	}
	if e, ok := errors.AsType[*client.DecodeError](err); ok {
		err = e.Err
	}
	r.bad[id.Key()] = &client.DecodeError{Identity: id, Err: err}
	return true
}

// decodable notes that the object of a key decodes, or is gone. It reports whether that was the last object that did
// not decode.
func (r *record) decodable(key meta.Key) bool {
	return r.forget(func(bad map[meta.Key]*client.DecodeError) { delete(bad, key) })
}

// keepUndecodable forgets the objects that do not decode, except those for which keep is true. It reports whether that
// removed the last of them.
func (r *record) keepUndecodable(keep func(meta.Identity) bool) bool {
	return r.forget(func(bad map[meta.Key]*client.DecodeError) {
		maps.DeleteFunc(bad, func(_ meta.Key, u *client.DecodeError) bool { return !keep(u.Identity) })
	})
}

// gone is like decodable, but for an event that says that an object is gone. The key may already belong to another
// object, or to a later state of the same object, because a filter reports an object as gone whenever it leaves the
// object out.
func (r *record) gone(id meta.Identity) bool {
	return r.forget(func(bad map[meta.Key]*client.DecodeError) {
		u := bad[id.Key()]
		if u == nil || u.Identity.UID != id.UID && u.Identity.UID != "" && id.UID != "" {
			return
		}
		if order, ok := meta.CompareVersions(u.Identity.ResourceVersion, id.ResourceVersion); !ok || order <= 0 {
			delete(bad, id.Key())
		}
	})
}

// badAt returns the identity of the object of a key, if that object does not decode.
func (r *record) badAt(key meta.Key) (id meta.Identity, found bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	u, found := r.bad[key]
	if found {
		id = u.Identity
	}
	return id, found
}

// forget lets f remove objects from those that do not decode. It reports whether that removed the last of them.
func (r *record) forget(f func(bad map[meta.Key]*client.DecodeError)) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	had := len(r.bad)
	f(r.bad)
	return had > 0 && len(r.bad) == 0
}

func (r *record) err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.s.Err
}

func (r *record) copy() Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.s
	if r.watch != nil && !r.bookmarks {
		s.Renewed = time.Now()
	}
	s.Relists = maps.Clone(s.Relists)
	s.Undecodable = slices.SortedFunc(maps.Values(r.bad), func(a, b *client.DecodeError) int {
		return a.Identity.Key().Compare(b.Identity.Key())
	})
	return s
}
