package informer

import (
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// This file has the transitions of the machine after a watch, which may be the rest of a streaming list, and after the
// question for the server's version that may come before a watch.

// resume watches from the version that the cache is current to. If s.ask is set, the server is first asked for its
// version.
func resume(s state) (state, effect) {
	s.phase = Watching
	if s.asking = s.ask; s.asking {
		return s, effect{action: ask}
	}
	return s, effect{action: watch}
}

// afterQuestion returns the step after the question for the server's version.
func afterQuestion(s state, in input) (state, effect) {
	s.asking = false
	switch in.outcome {
	case done:
		s.ask, s.unheard, s.unasked = false, false, 0
		if !s.unproven {
			return s, effect{action: watch}
		}
		switch order, ok := meta.CompareVersions(in.version, s.version); {
		case !ok:
			return relist(s, Resumed, in.floor)
		case order > 0:
			s.proof = in.version
		default: // the server has stored nothing since
			s.unproven = false
		}
		return s, effect{action: watch}
	case older:
		return relist(rolledBack(s), Reset, in.floor)
	case stopped:
		return pause(s, Watching, backoff, 0)
	case transient, busy:
		if s.unasked++; s.unasked < patience || s.unproven && in.unreached { // a list could not reach the server either
			return pause(s, Watching, backoff, in.floor)
		}
	default: // a program may be allowed to watch and not to list
		s.ask = false
	}
	if s.unproven {
		return relist(s, Resumed, in.floor)
	}
	return s, effect{action: watch}
}

func afterWatch(s state, in input) (state, effect) {
	if s.proof != "" && !(state{seen: s.proof}).outdates(in.version) && in.version != "" {
		s.proof, s.unproven = "", false
	}
	progress := s.precedes(in.version)
	if in.version != "" {
		s.version, s.seen = in.version, in.version
	}
	if in.lived >= settled {
		s.relist = false
	}
	if in.mute {
		s.mute++
	} else if in.lived >= shortWatch {
		s.mute = 0
	}
	p := backoff
	if in.delivered {
		s.empty = 0
	}
	opened := in.delivered || in.lived >= shortWatch
	if opened {
		s.failed = 0
		s.deaf = s.deaf && !in.delivered
		if s.polling && !s.deaf {
			s.polling, s.lacking = false, ""
		}
	}
	if progress { // a bookmark at the old version does not show that the fault has passed
		s.broken = 0
		p = gentle
	}
	s.ask = s.unproven
	if s.deaf && (in.outcome == done || in.outcome == transient || in.outcome == busy) {
		// The watch has ended before the next poll was due.
		return poll(s, in)
	}
	switch in.outcome {
	case done:
		switch {
		case s.mute >= patience:
			return relist(s, Silent, in.floor)
		case in.lived >= shortWatch && !in.early:
			s.empty, s.broken = 0, 0
			return resume(s)
		case in.lived >= shortWatch: // the server is stopping and ends all watches: spread the reconnects
			s.empty, s.broken = 0, 0
			p = gentle
		case !in.delivered:
			if s.empty++; s.empty >= patience {
				return relist(s, Refused, in.floor)
			}
		}
	case expired, outdated:
		return relist(s, Expired, in.floor)
	case tooLarge:
		return relist(s, TooLarge, in.floor)
	case absent:
		return relist(s, Absent, in.floor)
	case older:
		return relist(rolledBack(s), Reset, in.floor)
	case unproven:
		return relist(s, Resumed, in.floor)
	case due:
		return relist(s, Polled, in.floor)
	case forbidden, refused:
		if s.mode != Streaming {
			return poll(s, in)
		}
		p = slow
	case transient, busy:
		passes := in.away < lasting && !s.polling
		if in.outcome == busy && passes {
			break
		}
		s.ask = true
		if opened || in.unreached || !in.answered && passes || s.mode == Streaming {
			break
		}
		if !s.unheard {
			s.failed++
		}
		if s.unheard = true; s.failed >= patience || s.polling {
			return poll(s, in)
		}
	case inapplicable:
		if s.broken++; s.broken >= patience {
			return relist(s, Reset, in.floor)
		}
	case silent:
		if s.mute >= patience {
			return relist(s, Silent, in.floor)
		}
		p, s.ask = gentle, true // the silence itself was a wait
	default:
	}
	return pause(s, Watching, p, in.floor)
}

// poll lists, after a wait, because the server serves no watch. It forgets the version.
func poll(s state, in input) (state, effect) {
	s = s.everything(Polled)
	s.empty, s.broken, s.mute, s.failed = 0, 0, 0, 0
	s.polling, s.ask, s.unheard = true, false, false
	if in.said != "" {
		s.lacking = unwatched + in.said
	}
	return pause(s, Listing, polls, in.floor)
}

// precedes reports whether version is later than the one from which the watch began. If the two versions have no order,
// any different version counts as later.
func (s state) precedes(version string) bool {
	if version == "" || version == s.version {
		return false
	}
	order, ok := meta.CompareVersions(version, s.version)
	return !ok || order > 0
}

// relist waits, and then lists because of cause. It forgets the version, because no watch can start from it.
//
// The wait is gentle: a server that comes back without its history was away for a long time, and the informer has
// already waited during that time. But lists are expensive, so a list that follows another without a lasting watch in
// between backs off.
func relist(s state, cause Cause, floor time.Duration) (state, effect) {
	s = s.everything(cause)
	s.empty, s.broken, s.mute = 0, 0, 0
	p := gentle
	switch {
	case cause == Polled: // the watch itself was the wait
	case s.polling:
		p = polls
	case cause == Absent:
		p = slow
	case s.relist:
		p = backoff
	}
	return pause(s, Listing, p, floor)
}
