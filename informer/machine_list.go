package informer

import "github.com/bowline-go/bowline/client/meta"

// This file has the transitions of the machine before and after a list: how a list is read, and which step follows it.

// begin starts a list in the way that the mode allows and the server is known to serve.
func begin(s state, streams answer) (state, effect) {
	s.phase = Listing
	switch {
	case s.mode == Streaming, s.mode == Auto && streams != lacks && !s.plain && !s.polling && s.cause != Silent && s.cause != Refused:
		s.way = streamed
		return s, effect{action: stream, why: s.why(streams)}
	case s.expired >= 2:
		s.way = whole
	default:
		s.way = paged
	}
	return s, effect{action: list, why: s.why(streams)}
}

// Reasons for the way a list is read.
const (
	demanded   = "Options.Mode asks for it"
	served     = "server serves streaming lists"
	trial      = "to see whether the server serves streaming lists"
	remembered = "server has not served a streaming list within the last hour"
	// The server's error follows these.
	unserved    = "server does not serve streaming lists: "
	unpermitted = "a streaming list needs permission to watch: "
	failing     = "streaming lists have failed three times in a row: "
	unwatched   = "server does not serve watches: "
	unbrought   = "watches have delivered nothing, so a complete list is needed"
)

// why returns why the list that begins is read in this way.
func (s state) why(streams answer) string {
	switch {
	case s.mode != Auto:
		return demanded
	case s.way == streamed && streams == has:
		return served
	case s.way == streamed:
		return trial
	case s.lacking != "":
		return s.lacking
	case s.polling, s.cause == Silent, s.cause == Refused:
		return unbrought
	}
	return remembered
}

// outdates reports whether a complete list of this version is older than the cache. It must then not be applied. A list
// that may be stale can be older. A consistent one cannot be, unless the server has been rolled back, as by an etcd
// that was restored from a backup. It returns false for versions that have no order.
func (s state) outdates(version string) bool {
	order, ok := meta.CompareVersions(version, s.seen)
	return ok && order < 0
}

// afterList returns the step after a list that was read in pages or in one page.
func afterList(s state, in input) (state, effect) {
	switch in.outcome {
	case done:
		to, todo := listed(s, in), effect{action: watch}
		if s.doubt {
			todo.learned = lacks
		}
		return to, todo
	case unversioned:
		return poll(listed(s, in), in)
	default:
	}
	s.doubt, s.plain = false, false // one fault may have stopped both lists
	return again(s, in)
}

// afterStream returns the step after a streaming list, which ends with its end bookmark. The rest of the stream is a
// watch, and ends as one.
func afterStream(s state, in input) (state, effect) {
	switch in.outcome {
	case refused, unended, inapplicable:
		s.lacking = unserved + in.said
	case forbidden:
		s.lacking = unpermitted + in.said
	default:
	}
	switch in.outcome {
	case done:
		s = listed(s, in)
		s.lacking = ""
		reason := demanded
		if s.mode == Auto {
			reason = served
		}
		return s, effect{action: follow, learned: has, why: reason}
	case refused:
		if s.mode == Streaming {
			break
		}
		s, todo := begin(s, lacks)
		todo.learned = lacks
		return s, todo
	case forbidden:
		if s.mode == Streaming {
			break
		}
		// A streaming list needs the permission to watch, and a paged one the permission to list: a program with only
		// the latter still gets a cache. The 403 says nothing about what the server serves, so the next list tries a
		// streaming one again.
		return begin(s, lacks)
	case unended, inapplicable:
		s.broken++
		// If the server is known to serve streaming lists, or if it sent something invalid, the failure may not repeat.
		trusted := in.outcome == inapplicable || in.streams == has
		if s.mode == Streaming || trusted && s.broken < patience {
			break
		}
		s.broken, s.doubt = 0, true
		return begin(s, lacks)
	case older, stopped:
	default:
		if s.mode == Streaming {
			break
		}
		if s.broken++; s.broken < patience {
			break
		}
		s.broken, s.plain, s.lacking = 0, true, failing+in.said
		if in.answered && in.outcome != busy {
			return begin(s, in.streams)
		}
	}
	return again(s, in)
}

// listed returns the state after a complete list. It forgets the failures before the list, except the reason why the
// list was not a streaming one.
func listed(s state, in input) state {
	to := state{
		phase: Watching, mode: s.mode, version: in.version, seen: in.version, relist: s.cause != Initial, lacking: s.lacking,
		polling: s.polling, deaf: s.deaf,
	}
	// The watches should have delivered the changes that the list shows.
	switch missed := in.changed && (s.cause == Silent || s.cause == Refused); {
	case missed:
		to.polling, to.deaf = true, s.cause == Silent
	case s.deaf && !in.changed:
		to.polling, to.deaf = false, false
	}
	return to
}

// again lists once more, after a wait.
func again(s state, in input) (state, effect) {
	p := backoff
	switch in.outcome {
	case expired, tooLarge:
		s.stale = false // the server cannot answer from its cache: ask for the present state
	case outdated:
		s.stale = false
		s.expired++
	case older:
		p = gentle
		if s.stale {
			// The list was allowed to be stale, but a list older than the cache is useless: the cache never goes back.
			s.stale = false
			break
		}
		s = rolledBack(s)
	case absent, forbidden, refused:
		p = slow
	default:
	}
	return pause(s, Listing, p, in.floor)
}

// rolledBack makes the next list replace everything. The version of the cache no longer exists, and the server reuses
// versions: an equal version does not mean an equal state.
func rolledBack(s state) state {
	s.seen, s.afresh, s.stale = "", true, false
	return s.everything(Reset)
}

// everything makes the next list one of the whole collection.
func (s state) everything(cause Cause) state {
	s.cause, s.version = cause, ""
	return s
}
