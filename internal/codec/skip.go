package codec

import (
	"slices"

	"github.com/bowline-go/bowline/internal/jsonlex"
)

// maxDepth is how deep a document may nest, as for encoding/json.
const maxDepth = 10000

// skimmer skips values that are not decoded, and checks them as thoroughly as decoding would.
type skimmer struct {
	data  []byte
	depth int // of the objects and arrays around the value

	// afterUnique uses the following fields.
	hashes  []uint64 // of the names in the objects that are open
	plain   []byte   // the last name that had escapes, unescaped
	repeats bool     // two names of one object may be the same
}

// after returns the position after the value at i.
func (s *skimmer) after(i int) int {
	if i < len(s.data) && isNumber(s.data[i]) {
		return numberEnd(s.data, i)
	}
	k := s.skipper()
	return max(k.Skip(i), broken)
}

// skipper returns a Skipper for values inside the open objects and arrays.
func (s *skimmer) skipper() jsonlex.Skipper {
	return jsonlex.Skipper{Text: s.data, Levels: maxDepth - s.depth}
}

// afterUnique is after, and also returns the value without the members that a later one of the same name replaces.
func (s *skimmer) afterUnique(i int) (value []byte, next int) {
	s.hashes, s.repeats = s.hashes[:0], false
	if next = s.afterHashed(i, 0); next < 0 {
		return nil, broken
	}
	value = s.data[i:next:next]
	if s.repeats {
		value = lastOfEach(value)
	}
	return value, next
}

// afterHashed returns the position after the value at i, or any negative number, and looks for names that repeat in its
// objects.
func (s *skimmer) afterHashed(i, depth int) int {
	data := s.data
	if i >= len(data) {
		return broken
	}
	switch c := data[i]; {
	case c == '{':
		return s.afterObject(i+1, depth+1)
	case c == '[':
		return s.afterArray(i+1, depth+1)
	case isNumber(c):
		return numberEnd(data, i)
	}
	return jsonlex.ScalarEnd(data, i)
}

func (s *skimmer) afterArray(i, depth int) int {
	data := s.data
	if depth+s.depth > maxDepth {
		return broken
	}
	i, ended := jsonlex.AfterOpen(data, i, ']')
	for i >= 0 && !ended {
		if i = s.afterHashed(i, depth); i >= 0 {
			i, ended = jsonlex.AfterComma(data, i, ']')
		}
	}
	return i
}

func (s *skimmer) afterObject(i, depth int) int {
	data := s.data
	if depth+s.depth > maxDepth {
		return broken
	}
	first := len(s.hashes) // where the hashes of this object's names begin
	i, ended := jsonlex.AfterOpen(data, i, '}')
	for i >= 0 && !ended {
		if data[i] != '"' {
			return broken
		}
		end, plain := jsonlex.StringEnd(data, i)
		if end < 0 {
			return broken
		}
		name := data[i+1 : end-1]
		if !plain {
			s.plain = jsonlex.AppendUnquoted(s.plain[:0], name)
			name = s.plain
		}
		s.hashes = append(s.hashes, hash(name))
		if i = jsonlex.AfterColon(data, end); i < 0 {
			return broken
		}
		if data[i] == '"' { // most are strings
			i, _ = jsonlex.StringEnd(data, i)
		} else {
			i = s.afterHashed(i, depth)
		}
		if i >= 0 {
			i, ended = jsonlex.AfterComma(data, i, '}')
		}
	}
	s.repeats = s.repeats || repeats(s.hashes[first:])
	s.hashes = s.hashes[:first]
	return i
}

// repeats reports whether two of the hashes are the same. It may change the slice.
func repeats(hashes []uint64) bool {
	if len(hashes) > 8 {
		slices.Sort(hashes)
		return len(slices.Compact(hashes)) < len(hashes)
	}
	for i, h := range hashes {
		if slices.Contains(hashes[:i], h) {
			return true
		}
	}
	return false
}
