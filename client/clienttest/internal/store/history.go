package store

import (
	"fmt"
	"sort"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/object"
)

// mark records the version that the store had at the end of a short span of time. The span starts at since.
type mark struct {
	since   time.Time
	version uint64
}

// mark records that the present version has been reached by now. Marks are at least a small part of s.age apart, so
// that there are few of them.
func (s *Store) mark(now time.Time) {
	const parts = 256
	if n := len(s.marks); n > 0 && now.Sub(s.marks[n-1].since) < s.age/parts {
		s.marks[n-1].version = s.version
		return
	}
	s.marks = append(s.marks, mark{now, s.version})
}

// prune drops events from a collection's history that are too old or too many.
func (c *Collection) prune() {
	s := c.store
	now, old := time.Now(), 0
	for ; old < len(s.marks) && now.Sub(s.marks[old].since) >= s.age; old++ {
		s.floor = max(s.floor, s.marks[old].version)
	}
	s.marks = s.marks[old:]
	drop := max(0, len(c.events)-s.length)
	if drop > 0 {
		c.floor = c.events[drop-1].Version
	}
	for drop < len(c.events) && c.events[drop].Version <= s.floor {
		drop++
	}
	if drop > 0 {
		c.base = c.events[drop-1].tree
		clear(c.events[:drop])
		c.events = c.events[drop:]
	}
}

// oldest returns the oldest version that a list or watch of the collection can go back to.
func (c *Collection) oldest() uint64 {
	c.prune()
	return max(c.store.floor, c.floor)
}

// Compact drops the whole history. Reads at versions before the present one, and watches from there, are then too old.
func (s *Store) Compact() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.floor, s.marks = s.version, nil
	for _, c := range s.collections {
		c.prune()
	}
}

// upTo returns the last event of the collection whose version is not greater, or nil if that is before the history.
func (c *Collection) upTo(version uint64) *Event {
	after := sort.Search(len(c.events), func(i int) bool { return c.events[i].Version > version })
	if after == 0 {
		return nil
	}
	return c.events[after-1]
}

// at returns the objects at a version, which must not be older than oldest nor newer than the present.
func (c *Collection) at(version uint64) *object.Tree {
	if e := c.upTo(version); e != nil {
		return e.tree
	}
	return c.base
}

// At returns the objects at a version, which must not be newer than the present. It returns false if that is too old.
func (c *Collection) At(version uint64) (Snapshot, bool) {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	if version < c.oldest() {
		return Snapshot{}, false
	}
	return Snapshot{c.at(version), version}, true
}

// Rollback restores the state at a version, drops the history, gives all caches the state of the store, and cuts every
// watch. It returns when the watches have ended. A collection that was added after that version has no objects.
func (s *Store) Rollback(version uint64) error {
	s.mu.Lock()
	err := s.rollback(version)
	var cut []*Watch
	if err == nil {
		cut = s.cut(ErrDropped)
	}
	s.mu.Unlock()
	waitFor(cut)
	return err
}

func (s *Store) rollback(version uint64) error {
	if version > s.version {
		return fmt.Errorf("clienttest: roll back to version %d: the present version is %d", version, s.version)
	}
	for _, c := range s.collections {
		if oldest := c.oldest(); c.last.Version > version && version >= c.since && version < oldest {
			return fmt.Errorf("clienttest: roll back to version %d: the history of %s starts at %d", version, c.name, oldest)
		}
	}
	s.version, s.floor, s.marks = version, version, nil
	clear(s.inNamespace)
	for _, c := range s.collections {
		switch {
		case version < c.since:
			c.tree, c.since = nil, version
		case c.last.Version > version:
			c.tree = c.at(version)
		}
		for v := range c.tree.Between("", "") {
			s.inNamespace[v.Key.Namespace]++
		}
		c.base, c.events, c.floor = c.tree, nil, version
		c.last = &Event{Version: version, seq: c.last.seq, ready: make(chan struct{})}
	}
	for _, cache := range s.caches {
		cache.reset(version)
	}
	s.wake()
	return nil
}
