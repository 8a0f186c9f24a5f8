package informer

import "time"

// This file decides what a reflector does next. It is a pure function of what it knows and of what happened: no I/O, no
// clock, no randomness. The loop in reflector.go performs the effects and reports what came of them.
//
//	          listed
//	Listing ─────────▶ Watching ──┐ ended well: watch again at once
//	   ▲  │                │  ▲───┘
//	   │  │ failed         │ ended otherwise
//	   │  ▼                ▼
//	   └─ Waiting ◀────────┘
//	       (to list, or to watch again at the same version)

// State is what an informer is doing.
type State int

const (
	// Idle is the state of an informer that is not running.
	Idle State = iota
	// Listing reads the whole collection, page by page.
	Listing
	// Streaming reads the whole collection from a watch. No effect leads there yet.
	Streaming
	// Watching follows the changes.
	Watching
	// Waiting is between a failure and the next attempt.
	Waiting
)

// String returns the state's name.
func (s State) String() string {
	switch s {
	case Idle:
		return "Idle"
	case Listing:
		return "Listing"
	case Streaming:
		return "Streaming"
	case Watching:
		return "Watching"
	case Waiting:
		return "Waiting"
	}
	return "unknown"
}

// Cause says why an informer listed the whole collection again.
type Cause string

const (
	// Initial is the first list, which is not counted as a relist.
	Initial Cause = "Initial"
	// Expired: the server no longer has the history since the version (410).
	Expired Cause = "Expired"
	// TooLarge: the server does not have the version yet (504, "Too large resource version").
	TooLarge Cause = "TooLarge"
	// Absent: the resource was not served for a time (404).
	Absent Cause = "Absent"
	// Reset: the server sent events that could not be applied, three times in a row.
	Reset Cause = "Reset"
	// Refused: the server closed the watch at once and without a word, three times in a row, as some servers and proxies
	// do instead of saying 410.
	Refused Cause = "Refused"
)

// outcome is what came of a list or a watch, as far as recovery is concerned. classify makes it from an error.
type outcome int

const (
	done         outcome = iota // a complete list; the clean end of a watch
	transient                   // resets, EOF, 429, 5xx, 401, timeouts, anything else that may pass
	expired                     // 410
	tooLarge                    // "Too large resource version"
	absent                      // 404 of the resource
	refused                     // 400, 403 and the like: it passes only when somebody mends something
	unusable                    // the source cannot be asked at all, whatever the server says
	inapplicable                // an answer or an event that is not what it must be: wrong kind, no version, not JSON
)

// state is what the machine remembers.
type state struct {
	phase   State
	then    State // what follows Waiting: Listing or Watching
	version string
	cause   Cause // of the list that is under way or will be next
	stale   bool  // the next list may be older than the present, by Options.AllowStale
	empty   int   // watches in a row that ended at once and without an event
	broken  int   // watches in a row that ended with something inapplicable
	relist  bool  // the last list was a relist, and no watch has lasted since: the next one is not urgent
}

// input is what happened.
type input struct {
	outcome outcome
	// version is the list's, or that of the last event that was applied; empty when nothing was.
	version string
	// delivered says that the watch had brought an event or a bookmark.
	delivered bool
	// lived is how long the watch was open.
	lived time.Duration
	// floor is how long the server asks to wait.
	floor time.Duration
}

// action is what is to be done.
type action int

const (
	list action = iota
	watch
	wait
	stop
)

// pace is how a wait is measured.
type pace int

const (
	backoff pace = iota // exponential with full jitter
	gentle              // up to the first step of the backoff, which does not grow: what failed had worked
	slow                // 5 to 30 s: somebody has to mend something
)

// effect is what the loop does next.
type effect struct {
	action action
	pace   pace          // of a wait
	floor  time.Duration // of a wait
}

// shortWatch is the life of a watch below which an end without an event counts as a refusal.
const shortWatch = time.Second

// settled is the life of a watch that shows that a list was of use.
const settled = 10 * time.Second

// patience is how many empty or broken watches in a row lead to a relist.
const patience = 3

// start returns where a reflector begins: with a list, or where an earlier Run has left off. That is not the version of the
// cache alone: a relist that was due then still is.
func start(s state, allowStale bool) (state, effect) {
	switch {
	case s.version != "":
		s.phase = Watching
		return s, effect{action: watch}
	case s.cause == "":
		s.cause, s.stale = Initial, allowStale
	}
	s.phase = Listing
	return s, effect{action: list}
}

// next is the machine: in state s, in has happened. It returns the new state and what to do.
func next(s state, in input) (state, effect) {
	if in.outcome == unusable {
		s.phase = Idle
		return s, effect{action: stop}
	}
	switch s.phase {
	case Listing, Streaming:
		return afterList(s, in)
	case Watching:
		return afterWatch(s, in)
	case Waiting:
		s.phase = s.then
		if s.then == Watching {
			return s, effect{action: watch}
		}
		return s, effect{action: list}
	case Idle:
	}
	return start(s, s.stale)
}

func afterList(s state, in input) (state, effect) {
	switch in.outcome {
	case done:
		return state{phase: Watching, version: in.version, relist: s.cause != Initial}, effect{action: watch}
	case expired, tooLarge:
		s.stale = false // whatever was asked for is not to be had: ask for the present
		return pause(s, Listing, backoff, in.floor)
	case absent, refused:
		return pause(s, Listing, slow, in.floor)
	case transient, inapplicable:
	}
	return pause(s, Listing, backoff, in.floor)
}

func afterWatch(s state, in input) (state, effect) {
	if in.version != "" {
		s.version = in.version
	}
	if in.lived >= settled {
		s.relist = false
	}
	p := backoff
	if in.delivered {
		s.empty, s.broken = 0, 0
		p = gentle
	}
	switch in.outcome {
	case done:
		switch {
		case in.lived >= shortWatch:
			s.empty, s.broken = 0, 0
			return s, effect{action: watch}
		case !in.delivered:
			if s.empty++; s.empty >= patience {
				return relist(s, Refused, in.floor)
			}
		}
	case expired:
		return relist(s, Expired, in.floor)
	case tooLarge:
		return relist(s, TooLarge, in.floor)
	case absent:
		return relist(s, Absent, in.floor)
	case refused:
		p = slow
	case inapplicable:
		if s.broken++; s.broken >= patience {
			return relist(s, Reset, in.floor)
		}
	case transient:
	}
	return pause(s, Watching, p, in.floor)
}

// relist waits, and then lists because of cause. The version is forgotten: a watch from it is not to be had.
//
// The wait is gentle: a server that has come back after a long time with its history gone has been waited for already. But
// lists are dear, so one that follows another without a watch worth the name in between backs off.
func relist(s state, cause Cause, floor time.Duration) (state, effect) {
	s.version, s.cause, s.empty, s.broken = "", cause, 0, 0
	p := gentle
	switch {
	case cause == Absent:
		p = slow
	case s.relist:
		p = backoff
	}
	return pause(s, Listing, p, floor)
}

func pause(s state, then State, p pace, floor time.Duration) (state, effect) {
	s.phase, s.then = Waiting, then
	return s, effect{action: wait, pace: p, floor: floor}
}
