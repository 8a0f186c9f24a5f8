package informer

import (
	"time"

	"github.com/bowline-go/bowline/client/meta"
)

// This file has the transitions of the machine from a watch, the rest of a streaming list included.

func afterWatch(s state, in input) (state, effect) {
	progress := s.precedes(in.version)
	if in.version != "" {
		s.version, s.seen = in.version, in.version
		if (state{seen: s.ahead}).outdates(in.version) {
			s.seen = s.ahead // the added ranges are current to that
		} else {
			s.ahead = ""
		}
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
	if progress { // a bookmark at the old version does not show that the fault has passed
		s.broken = 0
		p = gentle
	}
	switch in.outcome {
	case done:
		switch {
		case s.mute >= patience:
			return relist(s, Silent, in.floor)
		case in.lived >= shortWatch && !in.early:
			s.empty, s.broken = 0, 0
			return s, effect{action: watch}
		case in.lived >= shortWatch: // the server stops and ends all watches: spread out
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
	case forbidden, refused:
		p = slow
	case inapplicable:
		if s.broken++; s.broken >= patience {
			return relist(s, Reset, in.floor)
		}
	case silent:
		if s.mute >= patience {
			return relist(s, Silent, in.floor)
		}
		p = gentle // the silence itself was a wait
	default:
	}
	return pause(s, Watching, p, in.floor)
}

// precedes reports whether version is later than the one from which the watch began. If the two have no order, any
// different version counts as later.
func (s state) precedes(version string) bool {
	if version == "" || version == s.version {
		return false
	}
	order, ok := meta.CompareVersions(version, s.version)
	return !ok || order > 0
}

// relist waits, and then lists because of cause. It forgets the version, because no watch can start from it.
//
// The wait is gentle: the informer has already waited for a server that comes back after a long time without its history.
// But lists are expensive, so one that follows another without a lasting watch in between backs off.
func relist(s state, cause Cause, floor time.Duration) (state, effect) {
	s = s.everything(cause)
	s.empty, s.broken, s.mute = 0, 0, 0
	p := gentle
	switch {
	case cause == Absent:
		p = slow
	case s.relist:
		p = backoff
	}
	return pause(s, Listing, p, floor)
}
