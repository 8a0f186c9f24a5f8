package schema

import (
	"bytes"
	"encoding/json"
)

// scanner reads a valid JSON document. Unlike json.Decoder it makes no value of what is skipped.
type scanner struct{ rest []byte }

// next returns the first byte of the next value, or of the end of an object or a list.
func (s *scanner) next() byte {
	s.rest = bytes.TrimLeft(s.rest, " \t\r\n,:")
	return s.rest[0]
}

// enter goes into an object or a list.
func (s *scanner) enter() {
	s.next()
	s.rest = s.rest[1:]
}

// more reports whether there is another value before the end of an object or a list, and passes the end.
func (s *scanner) more(end byte) bool {
	if s.next() != end {
		return true
	}
	s.rest = s.rest[1:]
	return false
}

// text reads a string.
func (s *scanner) text() string {
	s.next()
	raw := s.rest[:s.textEnd()]
	s.rest = s.rest[len(raw):]
	for _, c := range raw {
		if c == '\\' || c >= 0x80 {
			var text string
			_ = json.Unmarshal(raw, &text) // it is valid
			return text
		}
	}
	return string(raw[1 : len(raw)-1])
}

// textEnd returns the length of the string at the start of the rest, with its quotes.
func (s *scanner) textEnd() int {
	for i := 1; ; i++ {
		switch s.rest[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}

// skip passes a value.
func (s *scanner) skip() {
	for depth := 0; ; {
		switch s.next() {
		case '{', '[':
			depth++
			s.rest = s.rest[1:]
		case '}', ']':
			depth--
			s.rest = s.rest[1:]
		case '"':
			s.rest = s.rest[s.textEnd():]
		default: // a number or a word
			if end := bytes.IndexAny(s.rest, " \t\r\n,:]}"); end >= 0 {
				s.rest = s.rest[end:]
			} else {
				s.rest = nil
			}
		}
		if depth == 0 {
			return
		}
	}
}
