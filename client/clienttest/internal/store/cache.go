package store

import (
	"context"
	"math"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/status"
)

// Cache is the watch cache of one of the servers that share the store. It can be behind the store, but it never goes
// back to an older version, and is never older than the history that the store keeps.
type Cache struct {
	s       *Store
	lagging atomic.Bool // versions or age is set

	// The store's lock guards the rest.
	versions uint64
	age      time.Duration
	seen     uint64 // the newest version that it has had
	due      uint64 // the newest version whose time has come
	behind   []mark // versions with the times at which they come; oldest first
}

// NewCache adds a cache, which is not behind.
func (s *Store) NewCache() *Cache {
	c := &Cache{s: s}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.caches = append(s.caches, c)
	return c
}

// SetLag sets how many versions, and how long, the cache is behind from now on. It keeps the versions that it already
// has.
func (c *Cache) SetLag(versions int, age time.Duration) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	now := time.Now()
	c.due, _ = c.view(now)
	c.versions, c.age, c.behind = uint64(max(0, versions)), age, nil
	c.lagging.Store(versions != 0 || age != 0)
	c.note(now, c.s.version)
	c.s.wake()
}

// note records that the store has reached a version.
func (c *Cache) note(now time.Time, version uint64) {
	if c.age > 0 && version > c.due {
		c.behind = append(c.behind, mark{now.Add(c.age), version})
		c.view(now) // forgets the versions whose time has come
	}
}

// view returns the version of the cache, and the time at which that version next changes even if the store does not;
// the zero time means never. The caller holds the store's lock.
func (c *Cache) view(now time.Time) (version uint64, next time.Time) {
	reach := c.s.version
	if c.age > 0 {
		for len(c.behind) > 0 && !c.behind[0].since.After(now) {
			c.due, c.behind = c.behind[0].version, c.behind[1:]
		}
		if len(c.behind) > 0 {
			reach, next = c.due, c.behind[0].since
		}
	}
	c.seen = max(c.seen, min(reach, c.s.version-min(c.versions, c.s.version)))
	return c.seen, next
}

// Present returns the objects of a collection that the cache has.
func (c *Cache) Present(of *Collection) Snapshot {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return c.present(of)
}

func (c *Cache) present(of *Collection) Snapshot {
	version, _ := c.view(time.Now())
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
	limit, next = c.view(time.Now())
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

// Await waits until the cache has reached a version, which a client may have received from another replica. It waits
// at most 3 seconds.
func (c *Cache) Await(ctx context.Context, version uint64) error {
	return c.s.wait(ctx, version, func() (uint64, time.Time) { return c.view(time.Now()) })
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
