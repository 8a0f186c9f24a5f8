package informer

import (
	"fmt"
	"time"
)

// The watchdog ends a watch over which nothing comes any more. A connection may be dead without either side knowing, and a
// watch is idle by nature: only what the server would have sent by now tells. That is a bookmark, on a server that has
// shown how often it sends them, and else the end of the watch at the time that it was asked for. It is measured here, so
// it is the same over HTTP/1.1 and HTTP/2.

const (
	// missed is how many bookmarks must have been missed.
	missed = 3
	// minGap is the least time that is believed to be between two bookmarks. A server may send a few in quick succession
	// and then none for a minute, which is how often API servers do.
	minGap = 30 * time.Second
	// watchGrace is how long after the time that it was asked to end a watch is given up.
	watchGrace = 30 * time.Second
)

var (
	errSilent  = &silence{"server sent neither an event nor a bookmark"}
	errEndless = &silence{"server sent nothing, and did not end the watch when it was to"}
)

// silence says that a server sent nothing for too long. It is a timeout of the network, and never the end of a context of the
// caller's, although that is how the request is ended.
type silence struct{ text string }

func (s *silence) Error() string { return s.text }

// Timeout returns true. By it errors.NetworkOf tells that it is a timeout of the network.
func (s *silence) Timeout() bool { return true }

// watchdog is what is known about the bookmarks of a server.
type watchdog struct {
	gap  time.Duration // the longest time between two bookmarks in a row; 0 is unknown
	none bool          // the server does not send any
}

// bookmark notes a bookmark, and how long it came after the last one; 0 if there was none before in its watch.
func (d *watchdog) bookmark(gap time.Duration) { d.gap, d.none = max(d.gap, gap), false }

// mute notes that nothing came for so long that a list had to see to it. If bookmarks do come later, they count again.
func (d *watchdog) mute() { d.gap, d.none = 0, true }

// limit returns how long a watch may be silent that the server was asked to end after a time, and the error to end it with.
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
