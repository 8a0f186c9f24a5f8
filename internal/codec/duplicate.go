package codec

import (
	"cmp"
	"slices"

	"github.com/bowline-go/bowline/internal/jsonlex"
)

// span is a part of a document.
type span struct{ from, to int }

// lastOfEach returns raw, which is JSON, without the members that a later one of the same name in the same object
// replaces. It takes one pass, however deep the objects nest. Names are compared unescaped. It returns raw itself if
// there are no such members.
//
// It is for text that a method of a type gets, or that is kept as text. All other decoding sees the names in order, so
// the last one wins anyway.
func lastOfEach(raw []byte) []byte {
	c := cutter{data: raw}
	c.value(0)
	return without(raw, c.cuts)
}

// cutter collects the replaced members of a document that is known to be JSON.
type cutter struct {
	data []byte
	cuts []span
}

// value returns the position after the value at i.
func (c *cutter) value(i int) int {
	switch c.data[i] {
	case '{':
		return c.object(i + 1)
	case '[':
		i, ended := afterOpen(c.data, i+1, ']')
		for !ended && i >= 0 {
			i, ended = afterComma(c.data, c.value(i), ']')
		}
		return i
	}
	s := skimmer{data: c.data}
	return s.after(i)
}

// object goes through the members of an object. A member extends from the start of its name to the start of the next
// name: a replaced member is never the last, so the comma after it is cut too.
func (c *cutter) object(i int) int {
	var members map[string]span
	var name string
	start := broken
	i, ended := afterOpen(c.data, i, '}')
	for !ended && i >= 0 {
		if start >= 0 {
			if members == nil {
				members = map[string]span{}
			}
			members[name] = span{start, i}
		}
		end, _ := jsonlex.StringEnd(c.data, i)
		name, start = jsonlex.Unquote(c.data[i+1:end-1]), i
		if replaced, ok := members[name]; ok {
			c.cuts = append(c.cuts, replaced)
		}
		i, ended = afterComma(c.data, c.value(afterColon(c.data, end)), '}')
	}
	return i
}

// without returns raw without the cuts, some of which may be inside others.
func without(raw []byte, cuts []span) []byte {
	if len(cuts) == 0 {
		return raw
	}
	slices.SortFunc(cuts, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	kept, at := make([]byte, 0, len(raw)), 0
	for _, c := range cuts {
		if c.from >= at {
			kept = append(kept, raw[at:c.from]...)
			at = c.to
		}
	}
	return append(kept, raw[at:]...)
}
