package informer

import (
	"time"

	"github.com/bowline-go/bowline/internal/shown"
)

// This file and its two companions decide what a reflector does next. The decision is a pure function of the state and
// the input: no I/O, no clock, no randomness. The loop in reflector.go performs the effects and reports the results.
// This file has the types and the entry points, machine_list.go the transitions after a list, machine_watch.go those
// after a watch.
//
//	          a paged list, or the end bookmark of a streaming one
//	Listing ───────────────────────────▶ Watching ──┐ ended well:
//	 ▲  │ ▲─┐ no streaming list served:    │   ▲ ▲───┘ watch again at once
//	 │  │ └─┘ a paged one, at once         │   │
//	 │  │ failed                           │ ended otherwise
//	 │  ▼                                  ▼   │
//	 └─ Waiting ◀──────────────────────────┘   │
//	       └───────────────────────────────────┘
//	        (to list, or to watch again at the same version; after an outage, the server
//	        is asked for its version before that)
//
// The results of a watch or a list, and the next step:
//
//	                                           in a watch                in a list
//	done: its clean end; the list is complete  watch; the third that was  watch
//	                                             mute, or ended at once: list
//	transient: reset, EOF, 401, 5xx            ask, and watch at the     list again
//	                                             same version
//	busy: 429                                  watch at the same version list again
//	expired: 410                               list                      list, not stale
//	outdated: 410 of a later page              -                         list again; after two, in one page
//	tooLarge: a version from the future        list                      list, not stale
//	absent: 404                                list, slowly              list, slowly
//	forbidden: 403                             poll                      list, slowly; a streaming one: paged, at once
//	refused: any other 4xx; 501                poll                      list, slowly; a streaming one: paged, at once
//	inapplicable: not a valid event, or an     watch; the third: list    list; the third of streaming ones: paged,
//	  in-stream 500                                                        at once
//	silent: not even bookmarks                 watch; the third: list    -
//	unended: a streaming list without its end  -                         paged, at once; if the server is known to serve
//	                                                                       them: list; the third: paged, at once
//	older: a version before the cache's        list afresh               list afresh; a stale one: a consistent one
//	unversioned: the list has no version, and  -                         poll
//	  the server serves no watch
//	unproven: the watch of a further Run has   list                      -
//	  not shown that the cache is current
//	due: a poll is due                         list                      -
//	unusable: no request is possible           stop                      stop
//
// A step after an error waits first, unless it says "at once" or follows a question: see pace. Mode Streaming has no
// paged lists and no polls: after a refusal the same request is sent again, slowly.
//
// After three streaming lists in a row that fail in any other way, a paged one follows: at once if the server has
// answered with anything but a 429, and otherwise after the wait. This says nothing about whether the server serves
// streaming lists.
//
// The results of a question: done leads to the watch, older to a list afresh. After a failure that may pass, the
// question is repeated twice. After that, and after any other failure, the watch follows, or a list in a further Run. A
// further Run asks a server that it cannot reach until it can, because a list would not reach it either, and would
// forget the version.
//
// A question reads the server's present version, with a list of one object. It shows whether the server was rolled back
// while it was away. It also distinguishes an outage from a server that answers lists and serves no watch: polling
// begins after three watches in a row that fail although the server has answered just before. A 429, or a watch without
// an answer, counts only when the fault has lasted for 2 minutes (the constant lasting); a failure to connect never
// counts.
//
// Polling means to list again and again, page by page, and to try the watch after each list. A watch that opens ends
// the polling. Polling also begins when a list finds changes after watches that were mute, or that ended at once. After
// mute watches, the state is deaf: then only a watch that brings something, or a list without changes, ends the
// polling.
//
// A further Run asks, and watches from the version that the cache is current to. When the watch has reached the version
// of the answer, the cache is current for this Run. A first Run with kept objects (Options.Warm) is such a Run; the
// objects enter the cache when it is current.

// State is what an informer is doing.
type State int

const (
	// Idle means that the informer is not running.
	Idle State = iota
	// Listing means that the informer reads the whole collection.
	Listing
	// Watching means that the informer follows the changes.
	Watching
	// Waiting means that the informer waits between a failure and the next attempt.
	Waiting
)

// String returns the state's name.
func (s State) String() string {
	return shown.Name("State", int(s), "Idle", "Listing", "Watching", "Waiting")
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
	// Reset: the server sent events that could not be applied, three times in a row, or it has been rolled back to an
	// older state, as after its etcd was restored from a backup.
	Reset Cause = "Reset"
	// Refused: the server closed the watch at once without an event, three times in a row, as some servers and proxies
	// do instead of sending a 410.
	Refused Cause = "Refused"
	// Polled: the server lists and serves no watch; see Status.Polling.
	Polled Cause = "Polled"
	// Resumed: the watch did not soon confirm, for a further Run, that the cache of the previous Run is current, or,
	// for a first Run, that the objects of Options.Warm are current.
	Resumed Cause = "Resumed"
	// Silent: three watches in a row brought nothing, not even bookmarks. A server that was rolled back sends nothing
	// to a watch from a version that it no longer has. A server that sends no bookmarks at all causes one such relist.
	Silent Cause = "Silent"
)

// outcome is the result of a list or a watch, as far as recovery depends on it. classify makes it from an error.
type outcome int

const (
	done         outcome = iota // a complete list; the clean end of a watch
	transient                   // resets, EOF, 5xx, 401, timeouts, anything else that may pass
	busy                        // 429
	expired                     // 410
	outdated                    // 410 of a page after the first: the token has expired
	tooLarge                    // "Too large resource version"
	absent                      // 404 of the resource
	forbidden                   // 403: it lasts until the permissions change
	refused                     // 400, 422 and the like, or an answer that does not fit the request
	unusable                    // no request to the source is possible
	inapplicable                // an invalid answer or event: wrong kind, no version, not JSON
	silent                      // a watch without the bookmarks that the server is known to send
	unended                     // a streaming list that ended, or brought nothing more, before its end bookmark
	older                       // a list or bookmark with a version before the cache's, not applied
	unversioned                 // a complete list without a version, of a server that serves no watch
	unproven                    // a watch has not shown in time that the cache is current
	due                         // a deaf watch stayed open until the next poll
	stopped                     // the context of the reflector has ended; a later Run may continue from here
)

// answer is whether a server is known to support something.
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
	whole        // in one page, so that no token can expire
	streamed     // from a watch
)

// state is the machine's memory.
type state struct {
	phase   State
	then    State // the phase after Waiting: Listing or Watching
	mode    Mode  // how lists may be read
	way     way   // of the current list
	version string
	seen    string // the version that the cache is current to; unlike version it survives the loss of the watch
	cause   Cause  // of the current or the next list
	stale   bool   // the next list may be older than the server's present state (Options.AllowStale)
	afresh  bool   // the next list treats no object as unchanged: the server reuses versions
	doubt   bool   // a streaming list did not end: if the current paged one works, the server serves no streaming lists
	plain   bool   // the next list is a paged one, because streaming lists have failed
	expired int    // paged lists in a row whose token expired
	empty   int    // watches in a row that ended at once and without an event
	broken  int    // watches in a row that met something inapplicable; for streaming lists, also those without an end
	mute    int    // watches in a row that brought nothing, not even bookmarks
	relist  bool   // the last list was a relist, and no watch has lasted since: the next relist backs off
	lacking string // why lists are not streaming, if this Run found out

	ask     bool // the server must be asked for its version before the next watch
	asking  bool // it is being asked
	unasked int  // questions in a row without an answer
	unheard bool // the last watch has failed, and the server has answered nothing since
	failed  int  // watches in a row that failed to open although the server had answered since the last one

	polling bool // the server lists and serves no watch
	deaf    bool // polling although the server opens watches, because they brought nothing

	unproven bool   // the cache is from an earlier Run, and not yet confirmed to be current
	proof    string // if unproven: the cache is current when the watch reaches this version; empty if that is not known
}

// input is an event for the machine.
type input struct {
	outcome outcome
	// version is the version of the list, or of the last event that was applied; empty when none was.
	version string
	// changed says that a complete list differs from what the cache held.
	changed bool
	// answered says that the error is an answer of the server.
	answered bool
	// unreached says that the informer could not connect.
	unreached bool
	// away is how long ago a list or a watch last worked.
	away time.Duration
	// delivered says that the watch had brought an event or a bookmark.
	delivered bool
	// mute says that the watch was open for a long time and brought nothing, not even a bookmark, although the server
	// may send bookmarks.
	mute bool
	// early says that the server ended the watch long before the requested time, as a stopping server does.
	early bool
	// lived is how long the watch was open; 0 if it failed before the server had opened it.
	lived time.Duration
	// floor is how long the server asks the informer to wait.
	floor time.Duration
	// streams is what is known about whether the server serves streaming lists.
	streams answer
	// err is the error to report, and said is its text.
	err  error
	said string
}

// action is the next step of the loop.
type action int

const (
	list   action = iota // read all pages
	stream               // read a streaming list
	watch
	ask    // ask the server for its present version
	follow // the list is complete, and its stream is now the watch; the reader of the stream performs it
	wait
	stop
)

// pace is how the length of a wait is chosen.
type pace int

const (
	backoff pace = iota // exponential with full jitter
	gentle              // at most the first step of the backoff, without growth: the watch or the list had worked
	slow                // 5 to 30 s: the fault lasts until a person fixes it
	polls               // until the next poll
)

// effect is the machine's instruction to the loop.
type effect struct {
	action  action
	pace    pace          // of a wait
	floor   time.Duration // of a wait
	learned answer        // the client remembers this about streaming lists, unless unknown
	why     string        // of list, stream and follow: why the list is read this way, for people
}

// shortWatch is the lifetime below which the end of a watch without an event counts as a refusal.
const shortWatch = time.Second

// settled is how long a watch must be open to show that the list before it was useful.
const settled = 10 * time.Second

// patience is how many repeats in a row change the strategy: empty, broken or mute watches lead to a relist, broken
// streaming lists to a paged one.
const patience = 3

// lasting is how long a 429, or no answer at all, must last before it counts as a fault that does not pass.
const lasting = 2 * time.Minute

// start returns the first step of a reflector: a list, or the step at which it or an earlier Run stopped. The version
// of the cache alone does not decide the step: a relist that was due when the reflector stopped is still due.
func start(s state, mode Mode, allowStale bool, streams answer) (state, effect) {
	s.mode, s.lacking = mode, ""
	switch {
	case s.version != "":
		return resume(s)
	case s.cause == "":
		s.cause, s.stale = Initial, allowStale
	}
	return begin(s, streams)
}

// next is the machine: it returns the state that follows s after in, and what to do.
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
		if s.asking {
			return afterQuestion(s, in)
		}
		return afterWatch(s, in)
	case Waiting:
		if s.then == Watching {
			return resume(s)
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
