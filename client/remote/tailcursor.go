package remote

import (
	"hash/maphash"
	"slices"
	"time"
)

// cursor is how far a container's log has been handed on: the time of the last line, and which lines have that time. A
// server can be asked for a log from a whole second on, and the lines that were handed on before are found by their
// cursor.
type cursor struct {
	time time.Time // of the last line; zero if there is none
	any  bool      // there is a last line
	same []uint64  // digests of the lines with that time, the last maxSame of them
	more int       // how many there were before same
	max  time.Time // the latest time of any line, which differs if the node's clock has been set back
}

// maxSame bounds how many lines with one timestamp are compared by their content. Those before them are counted.
const maxSame = 1024

var digestSeed = maphash.MakeSeed()

func digest(text string) uint64 { return maphash.String(digestSeed, text) }

// add notes that a line has been handed on.
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

// clone returns a cursor that stays as it is.
func (c *cursor) clone() cursor {
	frozen := *c
	frozen.same = slices.Clone(c.same)
	return frozen
}

// skipper tells the lines of an answer that have been handed on before from new ones.
type skipper struct {
	c    cursor
	more int // how many lines of cursor.more are still to come
	pos  int // how many of cursor.same have been seen
	// anchored says that the last line that was handed on has been seen. So the answer is from the same log, and
	// nothing is missing.
	anchored bool
	past     bool // all further lines are new
}

// skip returns a skipper for an answer that begins at or before the cursor.
func (c *cursor) skip() *skipper {
	frozen := c.clone()
	return &skipper{c: frozen, more: frozen.more, past: !frozen.any}
}

// seen reports whether a line has been handed on before. Lines of an answer come in the order of the log.
func (s *skipper) seen(t time.Time, text string) bool {
	switch {
	case s.past:
		return false
	case t.Before(s.c.time):
		return true
	case t.After(s.c.time):
		// A line before the anchor, from before the clock was set back. If there is no anchor any more, it is new.
		if !t.After(s.c.max) {
			return true
		}
		s.past = true
		return false
	case s.more > 0:
		s.more--
		return true
	}
	i := slices.Index(s.c.same[s.pos:], digest(text)) // those before it may have been rotated away
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

// gap is a time from which no line has been handed on, although there may be some in the log of a run that ended
// unnoticed.
type gap struct {
	from cursor
	to   time.Time // of the first line after it
}

// maxGaps bounds the gaps of a container; the last one then grows.
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

// of returns the gap that a time is in, or nil.
func (g gaps) of(t time.Time) *gap {
	for i := range g {
		if !t.Before(g[i].from.time) && t.Before(g[i].to) {
			return &g[i]
		}
	}
	return nil
}

// gapSkipper lets the lines in gaps through, and moves the beginnings of the gaps behind them.
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
