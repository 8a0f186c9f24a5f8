package jsonlex

// Skipper passes over values of a text, and checks them.
type Skipper struct {
	Text   []byte
	Levels int  // how many objects and arrays may lie in each other
	Spaces int  // how many bytes of white space there are between the tokens that were passed, as long as they are JSON
	Deep   bool // Skip has found more levels than that
}

// Skip returns the position behind the value at i. A bracket beyond s.Levels does not fit.
func (s *Skipper) Skip(i int) (end int) { return s.value(i, s.Levels) }

// value is Skip for a value that may have so many levels.
func (s *Skipper) value(i, levels int) int {
	text := s.Text
	if i < len(text) && (text[i] == '{' || text[i] == '[') {
		if levels == 0 {
			s.Deep = true
			return ^i
		}
		if text[i] == '{' {
			return s.object(i+1, levels-1)
		}
		return s.array(i+1, levels-1)
	}
	return ScalarEnd(text, i)
}

func (s *Skipper) array(i, levels int) int {
	text := s.Text
	next, ended := s.open(i, ']')
	for next >= 0 && !ended {
		if i = s.value(next, levels); i < 0 {
			return i
		}
		next, ended = AfterComma(text, i, ']')
		s.Spaces += next - (i + 1)
	}
	return next
}

func (s *Skipper) object(i, levels int) int {
	text := s.Text
	next, ended := s.open(i, '}')
	for next >= 0 && !ended {
		if text[next] != '"' {
			return ^next
		}
		if i, _ = StringEnd(text, next); i < 0 {
			return i
		}
		if next = AfterColon(text, i); next < 0 {
			return next
		}
		s.Spaces += next - (i + 1)
		if text[next] == '"' { // most are strings
			i, _ = StringEnd(text, next)
		} else {
			i = s.value(next, levels)
		}
		if i < 0 {
			return i
		}
		next, ended = AfterComma(text, i, '}')
		s.Spaces += next - (i + 1)
	}
	return next
}

// open is AfterOpen, and counts the white space.
func (s *Skipper) open(i int, shut byte) (next int, ended bool) {
	next, ended = AfterOpen(s.Text, i, shut)
	s.Spaces += next - i
	if ended {
		s.Spaces--
	}
	return next, ended
}
