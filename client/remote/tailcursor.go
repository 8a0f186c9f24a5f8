package remote

import (
	"hash/maphash"
	"slices"
	"time"
)

// cursor is a position in a container's log: the time of the last yielded line, and which lines with that time were
// yielded. A request for a log can only begin at a whole second, so the cursor is needed to skip the lines before the
// position.
type cursor struct {
	time time.Time // of the last yielded line; zero if there is none
	any  bool      // a line has been yielded
	same []uint64  // digests of the last lines with that time, at most maxSame
	more int       // number of lines with that time before those in same
	max  time.Time // the latest time of any yielded line; later than time if the node's clock was set back
}

// maxSame bounds how many lines with the same timestamp are compared by content. Earlier ones are only counted.
const maxSame = 1024

var digestSeed = maphash.MakeSeed()

func digest(text string) uint64 { return maphash.String(digestSeed, text) }

// add records that a line has been yielded.
func (c *cursor) add(t time.Time, text string) {
	if !c.any || !t.Equal(c.time) {
		c.time, c.same, c.more = t, c.same[:0], 0
	}
	c.any = true
	if len(c.same) == maxSame {
		c.same, c.more = c.same[:copy(c.same, c.same[maxSame/2:])], c.more+maxSame/2
	}
	c.same = append(c.same, digest(text))
	if t.After(c.max) {
		c.max = t
	}
}

// clone returns a copy that later calls of add do not change.
func (c *cursor) clone() cursor {
	frozen := *c
	frozen.same = slices.Clone(c.same)
	return frozen
}

// skipper distinguishes the lines of a response that were already yielded from new ones.
type skipper struct {
	c    cursor
	more int // number of lines of cursor.more that have not been seen yet
	pos  int // number of lines of cursor.same that have been seen or passed over
	// anchored says that the last yielded line has been seen. So the response is from the same log, and no line is
	// missing.
	anchored bool
	past     bool // all further lines are new
}

// skip returns a skipper for a response that begins at or before the cursor.
func (c *cursor) skip() *skipper {
	frozen := c.clone()
	return &skipper{c: frozen, more: frozen.more, past: !frozen.any}
}

// seen reports whether a line was already yielded. It must be called for the lines of a response in their order.
func (s *skipper) seen(t time.Time, text string) bool {
	switch {
	case s.past:
		return false
	case t.Before(s.c.time):
		return true
	case t.After(s.c.time):
		// A line up to max may be from before the node's clock was set back. A line after max is new.
		if !t.After(s.c.max) {
			return true
		}
		s.past = true
		return false
	case s.more > 0:
		s.more--
		return true
	}
	i := slices.Index(s.c.same[s.pos:], digest(text)) // the lines before it may have been rotated away
	if i < 0 {
		s.past = true
		return false
	}
	s.pos += i + 1
	if s.pos == len(s.c.same) {
		s.anchored, s.past = true, true
	}
	return true
}

// gap is a period for which Tail has yielded no lines, although the log of a run whose end was not noticed may have
// some.
type gap struct {
	from cursor
	to   time.Time // the time of the first line after the gap
}

// maxGaps bounds the gaps of a container; beyond it, the last gap is extended.
const maxGaps = 8

// gaps are in order of time.
type gaps []gap

func (g *gaps) add(from cursor, to time.Time) {
	if len(*g) == maxGaps {
		(*g)[maxGaps-1].to = to
		return
	}
	*g = append(*g, gap{from, to})
}

// of returns the gap that contains t, or nil.
func (g gaps) of(t time.Time) *gap {
	for i := range g {
		if !t.Before(g[i].from.time) && t.Before(g[i].to) {
			return &g[i]
		}
	}
	return nil
}

// gapSkipper passes only new lines in gaps, and moves the beginning of each gap past them.
type gapSkipper struct {
	gaps  gaps
	skips map[*gap]*skipper
}

func (g *gapSkipper) seen(t time.Time, text string) bool {
	in := g.gaps.of(t)
	if in == nil {
		return true
	}
	if g.skips[in] == nil {
		g.skips[in] = in.from.skip()
	}
	if g.skips[in].seen(t, text) {
		return true
	}
	in.from.add(t, text)
	return false
}
