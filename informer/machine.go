package informer

import "time"

// This file and its two companions decide what a reflector does next. It is a pure function of what it knows and of what
// happened: no I/O, no clock, no randomness. The loop in reflector.go performs the effects and reports what came of them.
// This file has the words and the frame, machine_list.go what follows a list, machine_watch.go what follows a watch.
//
//	          a paged list, or the end bookmark of a streaming one
//	Listing ───────────────────────────▶ Watching ──┐ ended well:
//	 ▲  │ ▲─┐ no streaming list to be had: │   ▲ ▲───┘ watch again at once
//	 │  │ └─┘ a paged one, at once         │   │
//	 │  │ failed                           │ ended otherwise
//	 │  ▼                                  ▼   │
//	 └─ Waiting ◀──────────────────────────┘   │
//	       └───────────────────────────────────┘
//	        (to list, or to watch again at the same version)
//
// What ends a watch or a list, and where that leads:
//
//	                                           in a watch                in a list
//	done: its clean end; the list is complete  watch; mute thrice: list  watch
//	transient: reset, EOF, 401, 429, 5xx       watch at the same version list again
//	expired: 410                               list                      list, not stale
//	outdated: 410 of a later page              -                         list again; after two, in one page
//	tooLarge: a version from the future        list                      list, not stale
//	absent: 404                                list, slowly              list, slowly
//	forbidden: 403                             watch, slowly             list, slowly; a streaming one: paged, at once
//	refused: any other 4xx; 501                watch, slowly             list, slowly; a streaming one: paged, at once
//	inapplicable: what is no event, in-stream  watch; the third: list    list; the third of streaming ones: paged, at once
//	  500
//	silent: not even bookmarks                 watch; the third: list    -
//	unended: a streaming list without its end  -                         paged, at once
//	older: than what the cache is current to   list afresh               list afresh; a stale one: a consistent one
//	unusable: it cannot even be asked          stop                      stop
//
// Everything but "at once" waits first: see pace.

// State is what an informer is doing.
type State int

const (
	// Idle is the state of an informer that is not running.
	Idle State = iota
	// Listing reads the whole collection.
	Listing
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
	// Reset: the server sent events that could not be applied, three times in a row, or it has been rolled back to an older
	// state: see RollbackError.
	Reset Cause = "Reset"
	// Refused: the server closed the watch at once and without a word, three times in a row, as some servers and proxies
	// do instead of saying 410.
	Refused Cause = "Refused"
	// Silent: three watches in a row brought nothing, not even bookmarks. A server that was rolled back is silent to a watch
	// from a version that it does not have any more. One that sends no bookmarks at all is listed once because of it.
	Silent Cause = "Silent"
)

// outcome is what came of a list or a watch, as far as recovery is concerned. classify makes it from an error.
type outcome int

const (
	done         outcome = iota // a complete list; the clean end of a watch
	transient                   // resets, EOF, 429, 5xx, 401, timeouts, anything else that may pass
	expired                     // 410
	outdated                    // 410 of a page after the first: the token has expired
	tooLarge                    // "Too large resource version"
	absent                      // 404 of the resource
	forbidden                   // 403: it passes only when somebody mends something
	refused                     // 400, 422 and the like: the server does not do what was asked; nor one that answers something else
	unusable                    // the source cannot be asked at all, whatever the server says
	inapplicable                // an answer or an event that is not what it must be: wrong kind, no version, not JSON
	silent                      // a watch that has gone without the bookmarks that the server is known to send
	unended                     // a streaming list that ended, or brought nothing more, before its end bookmark
	older                       // a list or a bookmark with a version before the cache's; it has not been applied
)

// answer is what is known about whether a server has something.
type answer int

const (
	unknown answer = iota
	has
	lacks
)

// way is how a list is read.
type way int

const (
	paged    way = iota
	whole        // in one page, for which no token can expire
	streamed     // from a watch
)

// state is what the machine remembers.
type state struct {
	phase   State
	then    State // what follows Waiting: Listing or Watching
	mode    Mode  // how lists may be read
	way     way   // of the list that is under way
	version string
	seen    string // what the cache is current to; unlike version it outlives the loss of the watch
	cause   Cause  // of the list that is under way or will be next
	stale   bool   // the next list may be older than the present, by Options.AllowStale
	afresh  bool   // the next list takes nothing in the cache for unchanged: the server gives versions a second time
	doubt   bool   // a streaming list did not end: if the paged one under way works, the server has none
	expired int    // paged lists in a row whose token expired
	empty   int    // watches in a row that ended at once and without an event
	broken  int    // watches or streaming lists in a row that ended with something inapplicable, or without an end
	mute    int    // watches in a row that brought nothing, in spite of bookmarks
	relist  bool   // the last list was a relist, and no watch has lasted since: the next one is not urgent
	lacking string // why lists are not streaming ones, where this Run has found that out
}

// input is what happened.
type input struct {
	outcome outcome
	// version is the list's, or that of the last event that was applied; empty when nothing was.
	version string
	// delivered says that the watch had brought an event or a bookmark.
	delivered bool
	// mute says that the watch was open for long and brought nothing, not even a bookmark, of which the server is not known
	// to send none.
	mute bool
	// early says that the server ended the watch long before the time that it was asked for, as one does that stops.
	early bool
	// lived is how long the watch was open.
	lived time.Duration
	// floor is how long the server asks to wait.
	floor time.Duration
	// streams is what is known about whether the server serves streaming lists.
	streams answer
	// said is what went wrong, for people.
	said string
}

// action is what is to be done.
type action int

const (
	list   action = iota // read all pages
	stream               // read a streaming list
	watch
	follow // go on with the stream whose list is complete: it is the watch. Only the loop that reads the stream can
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
	action  action
	pace    pace          // of a wait
	floor   time.Duration // of a wait
	learned answer        // what the client is to remember about streaming lists, unless it is unknown
	why     string        // of list, stream and follow: why the list is read as it is, for people
}

// shortWatch is the life of a watch below which an end without an event counts as a refusal.
const shortWatch = time.Second

// settled is the life of a watch that shows that a list was of use.
const settled = 10 * time.Second

// patience is how many of a kind in a row lead to something else: watches that are empty, broken or mute to a relist,
// streaming lists that are broken to a paged one.
const patience = 3

// start returns where a reflector begins: with a list, or where an earlier Run has left off. That is not the version of the
// cache alone: a relist that was due then still is.
func start(s state, mode Mode, allowStale bool, streams answer) (state, effect) {
	s.mode, s.lacking = mode, ""
	switch {
	case s.version != "":
		s.phase = Watching
		return s, effect{action: watch}
	case s.cause == "":
		s.cause, s.stale = Initial, allowStale
	}
	return begin(s, streams)
}

// next is the machine: in state s, in has happened. It returns the new state and what to do.
func next(s state, in input) (state, effect) {
	if in.outcome == unusable {
		s.phase = Idle
		return s, effect{action: stop}
	}
	switch s.phase {
	case Listing:
		if s.way == streamed {
			return afterStream(s, in)
		}
		return afterList(s, in)
	case Watching:
		return afterWatch(s, in)
	case Waiting:
		if s.then == Watching {
			s.phase = Watching
			return s, effect{action: watch}
		}
		return begin(s, in.streams)
	case Idle:
	}
	return start(s, s.mode, s.stale, in.streams)
}

// pause waits before the next list or watch.
func pause(s state, then State, p pace, floor time.Duration) (state, effect) {
	s.phase, s.then = Waiting, then
	return s, effect{action: wait, pace: p, floor: floor}
}
