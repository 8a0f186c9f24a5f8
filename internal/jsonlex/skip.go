package jsonlex

// Skipper passes over values of a text, and checks them.
type Skipper struct {
	Text   []byte
	Levels int  // how deep objects and arrays may nest
	Spaces int  // how many bytes of white space there are between the tokens skipped so far, if they are JSON
	Deep   bool // Skip has found more levels than Levels
}

// Skip returns the position after the value at i. A bracket beyond s.Levels does not fit.
func (s *Skipper) Skip(i int) (end int) { return s.value(i, s.Levels) }

// value is Skip for a value that may have the given number of levels.
func (s *Skipper) value(i, levels int) int {
	text := s.Text
	if i >= len(text) {
		return ^len(text)
	}
	switch text[i] {
	case '"':
		end, _ := StringEnd(text, i)
		return end
	case '{', '[':
		if levels <= 0 {
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
	i, ended := s.open(i, ']')
	for i >= 0 && !ended {
		if i = s.value(i, levels); i < 0 {
			return i
		}
		if i+1 < len(text) && text[i] == ',' && text[i+1] > ' ' { // servers write no space here
			i++
		} else {
			i, ended = s.comma(i, ']')
		}
	}
	return i
}

func (s *Skipper) object(i, levels int) int {
	text := s.Text
	i, ended := s.open(i, '}')
	for i >= 0 && !ended {
		if text[i] != '"' {
			return ^i
		}
		if i, _ = StringEnd(text, i); i < 0 {
			return i
		}
		if i+1 < len(text) && text[i] == ':' && text[i+1] > ' ' {
			i++
		} else if i = s.colon(i); i < 0 {
			return i
		}
		if text[i] == '"' { // most are strings
			i, _ = StringEnd(text, i)
		} else {
			i = s.value(i, levels)
		}
		if i < 0 {
			return i
		}
		if i+1 < len(text) && text[i] == ',' && text[i+1] > ' ' {
			i++
		} else {
			i, ended = s.comma(i, '}')
		}
	}
	return i
}

// The other methods are AfterOpen, AfterComma and AfterColon, and also count white space.

func (s *Skipper) open(i int, shut byte) (next int, ended bool) {
	next, ended = AfterOpen(s.Text, i, shut)
	s.Spaces += next - i
	if ended {
		s.Spaces--
	}
	return next, ended
}

func (s *Skipper) comma(i int, shut byte) (next int, ended bool) {
	next, ended = afterSpacedComma(s.Text, i, shut)
	s.Spaces += next - (i + 1)
	return next, ended
}

func (s *Skipper) colon(i int) int {
	next := afterSpacedColon(s.Text, i)
	s.Spaces += next - (i + 1)
	return next
}
