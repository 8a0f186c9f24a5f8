package codec

import "slices"

// maxDepth is how deep a document may nest, as for encoding/json.
const maxDepth = 10000

// skimmer passes over values that are not decoded, and checks them as thoroughly as if they were.
type skimmer struct {
	data  []byte
	depth int // of what is open around the value

	// For afterUnique.
	hashes  []uint64 // of the names in the objects that are open
	repeats bool     // two names of one object may be the same
}

// after returns the position behind the value at i.
func (s *skimmer) after(i int) int { return s.afterValue(i, 0, false) }

// afterUnique is after, and returns the value without the members that a later one of the same name replaces.
func (s *skimmer) afterUnique(i int) (value []byte, next int) {
	s.hashes, s.repeats = s.hashes[:0], false
	if next = s.afterValue(i, 0, true); next < 0 {
		return nil, broken
	}
	value = s.data[i:next:next]
	if s.repeats {
		value = lastOfEach(value)
	}
	return value, next
}

func (s *skimmer) afterValue(i, depth int, unique bool) int {
	data := s.data
	if i >= len(data) {
		return broken
	}
	switch data[i] {
	case '"':
		end, _ := stringEnd(data, i+1)
		return behind(end)
	case '{':
		return s.afterObject(i+1, depth+1, unique)
	case '[':
		return s.afterArray(i+1, depth+1, unique)
	case 't':
		return afterLiteral(data, i, "true")
	case 'f':
		return afterLiteral(data, i, "false")
	case 'n':
		return afterLiteral(data, i, "null")
	}
	return numberEnd(data, i)
}

// behind is the position after a closing quote, or broken.
func behind(end int) int {
	if end < 0 {
		return broken
	}
	return end + 1
}

func (s *skimmer) afterArray(i, depth int, unique bool) int {
	data := s.data
	if depth+s.depth > maxDepth {
		return broken
	}
	i, ended := afterOpen(data, i, ']')
	for i >= 0 && !ended {
		if i = s.afterValue(i, depth, unique); i >= 0 {
			i, ended = afterComma(data, i, ']')
		}
	}
	return i
}

func (s *skimmer) afterObject(i, depth int, unique bool) int {
	data := s.data
	if depth+s.depth > maxDepth {
		return broken
	}
	first := len(s.hashes) // those of this object are from here on
	i, ended := afterOpen(data, i, '}')
	for i >= 0 && !ended {
		if data[i] != '"' {
			return broken
		}
		end, escaped := stringEnd(data, i+1)
		if end < 0 {
			return broken
		}
		if unique {
			s.repeats = s.repeats || escaped
			s.hashes = append(s.hashes, hash(data[i+1:end]))
		}
		if i = afterColon(data, end+1); i < 0 {
			return broken
		}
		if data[i] == '"' { // most are strings
			end, _ := stringEnd(data, i+1)
			i = behind(end)
		} else {
			i = s.afterValue(i, depth, unique)
		}
		if i >= 0 {
			i, ended = afterComma(data, i, '}')
		}
	}
	if unique {
		s.repeats = s.repeats || repeats(s.hashes[first:])
		s.hashes = s.hashes[:first]
	}
	return i
}

// repeats reports whether two of the hashes are the same. It may change their order.
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
