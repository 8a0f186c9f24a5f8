package tree

import "bytes"

// TextRun reports whether values of two sources have the same text. If two objects differ, the members that contain
// the difference differ too, down to a scalar, so comparing the text of each would cost the depth times the length. So
// TextRun remembers how far two texts agree, and compares nothing twice if callers ask about each value before the
// values within it.
type TextRun struct {
	a, b           *Source
	startA, startB int  // the texts agree from here,
	length         int  // for this many bytes
	ends           bool // and no further
	Compared       int  // how many bytes were compared; for a test
}

// briefText is the maximal size of texts that are compared without using what is remembered.
const briefText = 64

// Unchanged returns what the function Unchanged returns for two values from sources.
func (r *TextRun) Unchanged(a, b *Node) bool {
	startA, x := a.span()
	startB, y := b.span()
	if len(x) != len(y) {
		return false
	}
	if len(x) <= briefText { // do not overwrite what is known about a long text
		r.Compared += len(x)
		return bytes.Equal(x, y)
	}
	if at := startA - r.startA; r.a == a.From && r.b == b.From && at == startB-r.startB && at >= 0 {
		if at+len(x) <= r.length {
			return true
		}
		if r.ends && at <= r.length {
			return false
		}
	}
	r.a, r.b, r.startA, r.startB = a.From, b.From, startA, startB
	r.length = agreement(x, y)
	r.ends = r.length < len(x)
	r.Compared += r.length
	return !r.ends
}

// agreement returns how far two texts of the same length agree.
func agreement(x, y []byte) int {
	const block = 512
	at := 0
	for at+block <= len(x) && bytes.Equal(x[at:at+block], y[at:at+block]) {
		at += block
	}
	for at < len(x) && x[at] == y[at] {
		at++
	}
	return at
}
