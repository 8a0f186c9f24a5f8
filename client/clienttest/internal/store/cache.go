package store

import (
	"context"
	"iter"
	"math"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/status"
)

// Cache is the watch cache of one of the servers that share the store. It can be behind the store, by a lag that is set
// for all collections or for some. It never goes back to an older version, and is never older than the history that the
// store keeps.
type Cache struct {
	s       *Store
	lagging atomic.Bool // a lag has been set

	// The store's lock guards the rest.
	usual lag                  // of collections without one of their own
	own   map[*Collection]*lag // of those that were named
}

// lag is how far a cache is behind.
type lag struct {
	versions uint64
	age      time.Duration
	seen     uint64 // the newest version that it has had
	due      uint64 // the newest version whose time has come
	behind   []mark // versions with the times at which they come; oldest first
}

// NewCache adds a cache, which is not behind.
func (s *Store) NewCache() *Cache {
	c := &Cache{s: s, own: map[*Collection]*lag{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.caches = append(s.caches, c)
	return c
}

// SetLag sets how many versions, and how long, the cache is behind from now on in the collections, or in all if none is
// named. It keeps the versions that it already has.
func (c *Cache) SetLag(versions int, age time.Duration, of ...*Collection) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	now := time.Now()
	if len(of) == 0 {
		for l := range c.lags() {
			l.set(now, c.s.version, versions, age)
		}
	}
	for _, in := range of {
		if c.own[in] == nil {
			l := c.usual
			l.behind = slices.Clone(l.behind)
			c.own[in] = &l
		}
		c.own[in].set(now, c.s.version, versions, age)
	}
	c.lagging.Store(false)
	for l := range c.lags() {
		if l.versions != 0 || l.age != 0 {
			c.lagging.Store(true)
		}
	}
	c.s.wake()
}

// lags returns all lags of the cache.
func (c *Cache) lags() iter.Seq[*lag] {
	return func(yield func(*lag) bool) {
		if !yield(&c.usual) {
			return
		}
		for _, l := range c.own {
			if !yield(l) {
				return
			}
		}
	}
}

// of returns the lag in a collection.
func (c *Cache) of(in *Collection) *lag {
	if l := c.own[in]; l != nil {
		return l
	}
	return &c.usual
}

// note records that the store has reached a version.
func (c *Cache) note(now time.Time, version uint64) {
	for l := range c.lags() {
		l.note(now, version)
	}
}

// reset makes the cache current to a version, which may be an older one.
func (c *Cache) reset(version uint64) {
	for l := range c.lags() {
		l.seen, l.due, l.behind = version, version, nil
	}
}

// set sets the lag of a store that has reached a version.
func (l *lag) set(now time.Time, version uint64, versions int, age time.Duration) {
	l.due, _ = l.view(now, version)
	l.versions, l.age, l.behind = uint64(max(0, versions)), age, nil
	l.note(now, version)
}

// note records that the store has reached a version.
func (l *lag) note(now time.Time, version uint64) {
	if l.age > 0 && version > l.due {
		l.behind = append(l.behind, mark{now.Add(l.age), version})
		l.view(now, version) // forgets the versions whose time has come
	}
}

// view returns the version of the cache of a store that has reached the version reach. It also returns the time at
// which the version of the cache next changes even if the store does not; the zero time means never. The caller holds
// the store's lock.
func (l *lag) view(now time.Time, reach uint64) (version uint64, next time.Time) {
	newest := reach
	if l.age > 0 {
		for len(l.behind) > 0 && !l.behind[0].since.After(now) {
			l.due, l.behind = l.behind[0].version, l.behind[1:]
		}
		if len(l.behind) > 0 {
			reach, next = l.due, l.behind[0].since
		}
	}
	l.seen = max(l.seen, min(reach, newest-min(l.versions, newest)))
	return l.seen, next
}

// Present returns the objects of a collection that the cache has.
func (c *Cache) Present(of *Collection) Snapshot {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return c.present(of)
}

func (c *Cache) present(of *Collection) Snapshot {
	version, _ := c.of(of).view(time.Now(), c.s.version)
	if version >= c.s.version {
		return Snapshot{of.tree, c.s.version}
	}
	version = max(version, of.oldest())
	return Snapshot{of.at(version), version}
}

// horizon returns the version up to which watches of the cache see events. If that is not the newest version, it also
// returns two events that can move it: a change of the store, and a time.
func (c *Cache) horizon(of *Collection) (limit uint64, moved <-chan struct{}, next time.Time) {
	if !c.lagging.Load() {
		return math.MaxUint64, nil, time.Time{}
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	limit, next = c.of(of).view(time.Now(), c.s.version)
	return max(limit, of.oldest()), c.s.next(), next
}

// wake wakes the requests that wait for a change.
func (s *Store) wake() {
	if s.moved != nil {
		close(s.moved)
		s.moved = nil
	}
}

// next returns a channel that is closed at the next change of the store or a cache.
func (s *Store) next() <-chan struct{} {
	if s.moved == nil {
		s.moved = make(chan struct{})
	}
	return s.moved
}

// Await waits until the cache of a collection has reached a version, which a client may have received from another
// replica. It waits at most 3 seconds.
func (c *Cache) Await(ctx context.Context, in *Collection, version uint64) error {
	return c.s.wait(ctx, version, func() (uint64, time.Time) { return c.of(in).view(time.Now(), c.s.version) })
}

// Await waits until the store has reached a version, 3 seconds at most.
func (s *Store) Await(ctx context.Context, version uint64) error {
	return s.wait(ctx, version, func() (uint64, time.Time) { return s.version, time.Time{} })
}

// patience is how long a request waits for a version that is not reached yet.
const patience = 3 * time.Second

// wait waits until now returns at least version. wait calls now with the store locked. now also returns the time at
// which it will return another version although the store does not change.
func (s *Store) wait(ctx context.Context, version uint64, now func() (uint64, time.Time)) error {
	var timeout <-chan time.Time
	for {
		s.mu.Lock()
		reached, next := now()
		moved := s.next()
		s.mu.Unlock()
		if reached >= version {
			return nil
		}
		if timeout == nil {
			t := time.NewTimer(patience)
			defer t.Stop()
			timeout = t.C
		}
		due, stop := alarm(next)
		select {
		case <-moved:
		case <-due:
		case <-timeout:
			stop()
			return status.TooLargeVersion(version, reached)
		case <-ctx.Done():
			stop()
			return status.Failure(http.StatusGatewayTimeout, "Timeout", "Timeout: request did not complete within the allotted timeout")
		}
		stop()
	}
}

// alarm returns a channel that delivers at a time, and a function that stops it; the zero time never comes.
func alarm(at time.Time) (<-chan time.Time, func()) {
	if at.IsZero() {
		return nil, func() {}
	}
	t := time.NewTimer(max(time.Until(at), time.Nanosecond))
	return t.C, func() { t.Stop() }
}
