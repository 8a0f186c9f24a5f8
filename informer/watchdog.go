package informer

import (
	"fmt"
	"time"
)

// The watchdog ends a watch that has gone silent. A connection may be dead without either side knowing, and a watch is
// idle by nature. The only evidence is what the server should have sent by now: a bookmark, if the server has shown how
// often it sends them, and otherwise the end of the watch at the requested time. The watchdog works above HTTP, so it
// is the same over HTTP/1.1 and HTTP/2.

const (
	// missed is how many bookmarks in a row may be missing before the watch ends.
	missed = 3
	// minGap is the least assumed time between two bookmarks. A server may send a few in quick succession and then none
	// for a minute, which is the interval of API servers.
	minGap = 30 * time.Second
	// watchGrace is how long after its requested end the informer gives up a watch.
	watchGrace = 30 * time.Second
)

var (
	errSilent  = &silence{"server sent neither an event nor a bookmark"}
	errEndless = &silence{"server sent nothing and did not end the watch at its timeout"}
)

// silence says that a server sent nothing for too long. It is a network timeout, and never the end of a caller's
// context, although a context ends the request.
type silence struct{ text string }

func (s *silence) Error() string { return s.text }

// Timeout returns true, which makes errors.NetworkOf treat it as a network timeout.
func (s *silence) Timeout() bool { return true }

// watchdog is what the informer knows about the bookmarks of a server.
type watchdog struct {
	gap  time.Duration // the longest time between two bookmarks in a row; 0 is unknown
	none bool          // the server does not send any
}

// bookmark notes a bookmark, and how long after the last one it came; 0 if it was the first of its watch.
func (d *watchdog) bookmark(gap time.Duration) { d.gap, d.none = max(d.gap, gap), false }

// mute notes that silence has caused a relist. Bookmarks that come later count again.
func (d *watchdog) mute() { d.gap, d.none = 0, true }

// limit returns how long a watch may be silent if the server was asked to end it after asked, and the error that then
// ends it.
func (d *watchdog) limit(asked time.Duration) (time.Duration, error) {
	overdue := asked + watchGrace
	if d.gap == 0 {
		return overdue, errEndless
	}
	if limit := missed * max(d.gap, minGap); limit < overdue {
		return limit, fmt.Errorf("%w for %v", errSilent, limit)
	}
	return overdue, errEndless
}
