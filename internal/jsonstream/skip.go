package jsonstream

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/bits"
)

// skipValue moves past the value that starts at pos, inside the given number of open brackets. This loop sees nearly
// every byte of every body, so it keeps the buffer and the position in local variables and gives them back before it
// calls anything that reads.
func (s *scanner) skipValue(level int) error {
	b, i := s.buf[:s.end+1], s.pos
	stack := s.stack[:0]
	var err error
	c := b[i]
	for {
		// A value starts with c at i. A string or a scalar is passed here; a bracket is opened, and if something
		// other than its closing follows, that is the next value, or the next name.
		var inside bool
		switch {
		case c == '"':
			if n := indexQuote(b[i+1:]); n >= 0 && b[i+n] != '\\' {
				i += n + 2
			} else if b, i, err = s.stringEnd(i); err != nil {
				return err
			}
		case c == '{' || c == '[':
			if level+len(stack) >= s.maxDepth {
				s.pos = i
				return s.tooDeep()
			}
			closing := c + 2 // '}' or ']'
			stack = append(stack, closing)
			i++
			if c = b[i]; c <= ' ' {
				if b, i, c, err = s.peekAt(i); err != nil {
					return err
				}
			}
			inside = c != closing
		case isScalar(c):
			if b, i, err = s.scalarEnd(i); err != nil {
				return err
			}
		default:
			s.pos = i
			return s.unexpected(c, "a value")
		}

		// Behind a value: close what closes here, until a comma leads to the next value.
		for !inside {
			if len(stack) == 0 {
				s.pos, s.stack = i, stack
				return nil
			}
			if c = b[i]; c <= ' ' {
				if b, i, c, err = s.peekAt(i); err != nil {
					return err
				}
			}
			closing := stack[len(stack)-1]
			if c == closing {
				stack = stack[:len(stack)-1]
				i++
				continue
			}
			if c != ',' {
				s.pos = i
				return s.unexpected(c, "a comma or '"+string(rune(closing))+"'")
			}
			i++
			if c = b[i]; c <= ' ' {
				if b, i, c, err = s.peekAt(i); err != nil {
					return err
				}
			}
			inside = true
		}

		if stack[len(stack)-1] == ']' {
			continue
		}
		if c != '"' {
			s.pos = i
			return s.unexpected(c, "the name of a member")
		}
		if n := indexQuote(b[i+1:]); n >= 0 && b[i+n] != '\\' {
			i += n + 2
		} else if b, i, err = s.stringEnd(i); err != nil {
			return err
		}
		if c = b[i]; c <= ' ' {
			if b, i, c, err = s.peekAt(i); err != nil {
				return err
			}
		}
		if c != ':' {
			s.pos = i
			return s.unexpected(c, "a colon")
		}
		i++
		if c = b[i]; c <= ' ' {
			if b, i, c, err = s.peekAt(i); err != nil {
				return err
			}
		}
	}
}

// peekAt is peek for skipValue: it takes the local position and returns what may have changed.
func (s *scanner) peekAt(i int) (b []byte, at int, c byte, err error) {
	s.pos = i
	c, err = s.peek()
	return s.buf[:s.end+1], s.pos, c, err
}

// skipString moves past the string that starts at pos.
func (s *scanner) skipString() error {
	_, i, err := s.stringEnd(s.pos)
	s.pos = i
	return err
}

// indexQuote is bytes.IndexByte for a quote, faster where that is near, as it is in most strings of the API's.
func indexQuote(b []byte) int {
	if len(b) < 16 {
		return bytes.IndexByte(b, '"')
	}
	if n := quoteIn(binary.LittleEndian.Uint64(b)); n < 8 {
		return n
	}
	if n := quoteIn(binary.LittleEndian.Uint64(b[8:])); n < 8 {
		return n + 8
	}
	if n := bytes.IndexByte(b[16:], '"'); n >= 0 {
		return n + 16
	}
	return -1
}

// quoteIn returns which of eight bytes is the first quote, or 8 if none is.
func quoteIn(eight uint64) int {
	const ones, tops, quotes = 0x0101010101010101, 0x8080808080808080, 0x2222222222222222
	x := eight ^ quotes // a quote becomes 0, and the lowest 0 leaves the lowest bit below
	return bits.TrailingZeros64((x-ones)&^x&tops) / 8
}

// stringEnd returns the position behind the string that starts at i. It goes from quote to quote: one that an odd number
// of backslashes precedes is escaped. Each run of backslashes is counted once, so the cost is linear.
func (s *scanner) stringEnd(i int) ([]byte, int, error) {
	at := i - s.start
	for from := at + 1; ; {
		n := indexQuote(s.buf[s.start+from : s.end])
		if n < 0 {
			from = s.end - s.start
			if err := s.fill(); err != nil {
				return nil, s.pos, s.readError(err)
			}
			continue
		}
		quote := s.start + from + n
		run := quote
		for s.buf[run-1] == '\\' {
			run--
		}
		if (quote-run)%2 == 0 {
			return s.buf[:s.end+1], quote + 1, nil
		}
		from += n + 1
	}
}

// scalarEnd returns the position behind the number or literal that starts at i.
func (s *scanner) scalarEnd(i int) ([]byte, int, error) {
	for {
		for isScalar(s.buf[i]) {
			i++
		}
		if i < s.end {
			return s.buf[:s.end+1], i, nil
		}
		at := i - s.start
		if err := s.fill(); err != nil {
			return nil, s.pos, s.readError(err)
		}
		i = s.start + at
	}
}

// isScalar reports whether numbers and literals consist of such bytes. Whether they are well put together is for the
// decoding to say: they end at the same byte in any case.
func isScalar(c byte) bool {
	return c-'0' < 10 || (c|0x20)-'a' < 26 || c == '-' || c == '.' || c == '+'
}

// unquote returns what a quoted string stands for, with the replacement character for what is not Unicode, as decoding
// has it. It returns "" for a string that decoding refuses: a wrong name would be worse than none. If the result equals
// like, it is like.
func unquote(quoted []byte, like string) string {
	if !isPlain(quoted) {
		var text string
		if json.Unmarshal(quoted, &text) != nil {
			return ""
		}
		return text
	}
	inner := quoted[1 : len(quoted)-1]
	if string(inner) == like {
		return like
	}
	return string(inner)
}

// isPlain reports whether a quoted string stands for the very bytes between its quotes.
func isPlain(quoted []byte) bool {
	for _, c := range quoted {
		if c < ' ' || c == '\\' || c >= 0x7f {
			return false
		}
	}
	return true
}
