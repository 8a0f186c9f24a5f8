package jsonstream

import "github.com/bowline-go/bowline/internal/jsonlex"

// skipValue moves past the value that starts at pos, inside the given number of open brackets. This loop sees nearly
// every byte of every body, so it keeps the buffer and the position in local variables and gives them back before it
// calls anything that reads.
func (s *scanner) skipValue(level int) error {
	b, i := s.buf[:s.end+1], s.pos
	stack := s.stack[:0]
	var err error
	c := b[i]
	for {
		// A value starts with c at i. A string or a scalar is skipped here. A bracket is opened; if its closing bracket
		// does not follow, the next value or the next name does.
		var inside bool
		switch {
		case c == '"':
			if n := jsonlex.IndexQuote(b[i+1:]); n >= 0 && b[i+n] != '\\' {
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
		case jsonlex.IsScalar(c):
			if b, i, err = s.scalarEnd(i); err != nil {
				return err
			}
		default:
			s.pos = i
			return s.unexpected(c, "a value")
		}

		// After a value: close the brackets that close here, until a comma leads to the next value.
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
		if n := jsonlex.IndexQuote(b[i+1:]); n >= 0 && b[i+n] != '\\' {
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

// peekAt is peek for skipValue: it takes the local position and returns the buffer and the position, which may have
// changed.
func (s *scanner) peekAt(i int) (b []byte, at int, c byte, err error) {
	s.pos = i
	c, err = s.peek()
	return s.buf[:s.end+1], s.pos, c, err
}

// skipString moves past the string that starts at pos.
func (s *scanner) skipString() error {
	if n := jsonlex.IndexQuote(s.buf[s.pos+1 : s.end]); n >= 0 && s.buf[s.pos+n] != '\\' {
		s.pos += n + 2
		return nil
	}
	_, i, err := s.stringEnd(s.pos)
	s.pos = i
	return err
}

// stringEnd returns the position after the string that starts at i.
func (s *scanner) stringEnd(i int) ([]byte, int, error) {
	at := i - s.start
	for from := 1; ; {
		if n := jsonlex.ClosingQuote(s.buf[s.start+at:s.end], from); n >= 0 {
			return s.buf[:s.end+1], s.start + at + n + 1, nil
		}
		from = s.end - s.start - at
		if err := s.fill(); err != nil {
			return nil, s.pos, s.readError(err)
		}
	}
}

// scalarEnd returns the position after the number or literal that starts at i. It does not check whether the value is
// well-formed: decoding does, and the end is the same in any case.
func (s *scanner) scalarEnd(i int) ([]byte, int, error) {
	for {
		for jsonlex.IsScalar(s.buf[i]) {
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

// unquote returns the text of a quoted string, with the replacement character for bytes that are not valid UTF-8,
// as in decoding. It returns "" for a string that decoding refuses, because a wrong name is worse than none. If the
// result equals like, it returns like.
func unquote(quoted []byte, like string) string {
	end, plain := jsonlex.StringEnd(quoted, 0)
	inner := quoted[1 : len(quoted)-1]
	switch {
	case end != len(quoted):
		return ""
	case !plain:
		return jsonlex.Unquote(inner)
	case string(inner) == like:
		return like
	}
	return string(inner)
}

// isPlain reports whether a quoted string has no escapes and is valid, so that its text is the bytes between its
// quotes.
func isPlain(quoted []byte) bool {
	end, plain := jsonlex.StringEnd(quoted, 0)
	return plain && end == len(quoted)
}
