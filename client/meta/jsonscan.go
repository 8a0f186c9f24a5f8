package meta

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/bowline-go/bowline/internal/jsonlex"
)

// jsonScan walks over JSON text without decoding it: it finds members and elements and checks that they are
// well-formed. Raw is decoded and read with it.
type jsonScan struct {
	b      []byte
	pos    int
	spaces int // bytes of white space between the tokens of values so far
}

var errJSONEnd = errors.New("the JSON ends too early")

func (s *jsonScan) unexpected() error {
	if s.pos >= len(s.b) {
		return errJSONEnd
	}
	return fmt.Errorf("JSON has an unexpected %q at byte %d", s.b[s.pos], s.pos)
}

// peek moves to the next token and returns its first byte; 0 at the end.
func (s *jsonScan) peek() byte {
	if s.pos = jsonlex.SkipSpace(s.b, s.pos); s.pos < len(s.b) {
		return s.b[s.pos]
	}
	return 0
}

// take moves past the token c.
func (s *jsonScan) take(c byte) error {
	if s.peek() != c {
		return s.unexpected()
	}
	s.pos++
	return nil
}

// end checks that nothing follows.
func (s *jsonScan) end() error {
	if s.peek() != 0 || s.pos < len(s.b) {
		return s.unexpected()
	}
	return nil
}

// object calls fn with the quoted name of each member; fn moves past its value.
func (s *jsonScan) object(fn func(name []byte) error) error {
	if err := s.take('{'); err != nil {
		return err
	}
	if s.peek() == '}' {
		s.pos++
		return nil
	}
	for {
		s.peek()
		start := s.pos
		if err := s.quoted(); err != nil {
			return err
		}
		name := s.b[start:s.pos]
		if err := s.take(':'); err != nil {
			return err
		}
		s.peek()
		if err := fn(name); err != nil {
			return err
		}
		if more, err := s.more('}'); !more {
			return err
		}
	}
}

// array calls fn at each element; fn moves past it.
func (s *jsonScan) array(fn func() error) error {
	if err := s.take('['); err != nil {
		return err
	}
	if s.peek() == ']' {
		s.pos++
		return nil
	}
	for {
		s.peek()
		if err := fn(); err != nil {
			return err
		}
		if more, err := s.more(']'); !more {
			return err
		}
	}
}

// more moves past the comma before a further element, or past the end.
func (s *jsonScan) more(end byte) (bool, error) {
	switch s.peek() {
	case ',':
		s.pos++
		return true, nil
	case end:
		s.pos++
		return false, nil
	}
	return false, s.unexpected()
}

// value moves past the value that starts here and returns its text.
func (s *jsonScan) value() ([]byte, error) {
	s.peek()
	start := s.pos
	k := jsonlex.Skipper{Text: s.b, Levels: maxNesting}
	err := s.pass(k.Skip(start))
	if k.Deep {
		err = errNesting
	}
	s.spaces += k.Spaces
	return s.b[start:s.pos], err
}

// pass moves to the end of a token that jsonlex has found.
func (s *jsonScan) pass(end int) error {
	if end < 0 {
		s.pos = ^end
		return s.unexpected()
	}
	s.pos = end
	return nil
}

func (s *jsonScan) word(w string) error { return s.pass(jsonlex.LiteralEnd(s.b, s.pos, w)) }

// quoted moves past the string that starts here.
func (s *jsonScan) quoted() error {
	if s.pos >= len(s.b) || s.b[s.pos] != '"' {
		return s.unexpected()
	}
	end, _ := jsonlex.StringEnd(s.b, s.pos)
	return s.pass(end)
}

// isName reports whether a quoted JSON string has the value name.
func isName(quoted []byte, name string) bool {
	if inner := quoted[1 : len(quoted)-1]; jsonlex.IsPlain(inner) {
		return string(inner) == name
	}
	return unquoted(quoted) == name
}

// unquoted returns the value of a well-formed JSON string. Invalid Unicode becomes replacement characters.
func unquoted(quoted []byte) string { return jsonlex.Unquote(quoted[1 : len(quoted)-1]) }

// decodeText is decodeValue for one well-formed value; it is faster for scalars.
func decodeText(text []byte) (any, error) {
	switch text[0] {
	case '"':
		return unquoted(text), nil
	case 't', 'f':
		return text[0] == 't', nil
	case 'n':
		return nil, nil
	case '{', '[':
		return decodeValue(text)
	}
	return parseNumber(json.Number(text)), nil
}

// The functions below read the types of metadata. A null sets each of them to its zero value.

func (s *jsonScan) isNull() bool { return s.peek() == 'n' }

func (s *jsonScan) readText(dst *string) error {
	if *dst = ""; s.isNull() {
		return s.word("null")
	}
	if s.peek() != '"' {
		return s.mismatch("a string")
	}
	text, err := s.value()
	if err == nil {
		*dst = unquoted(text)
	}
	return err
}

func (s *jsonScan) readInt(dst *int64) error {
	if *dst = 0; s.isNull() {
		return s.word("null")
	}
	if c := s.peek(); c != '-' && !jsonlex.IsDigit(c) {
		return s.mismatch("a number")
	}
	text, err := s.value()
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return fmt.Errorf("%s does not fit int64", clip(string(text)))
	}
	*dst = n
	return nil
}

func (s *jsonScan) readBool(dst *bool) error {
	if *dst = false; s.isNull() {
		return s.word("null")
	}
	if c := s.peek(); c != 't' && c != 'f' {
		return s.mismatch("a boolean")
	}
	text, err := s.value()
	*dst = string(text) == "true"
	return err
}

func (s *jsonScan) readTime(dst *Time) error {
	text, err := s.value()
	if err != nil {
		return err
	}
	return dst.UnmarshalJSON(text)
}

func (s *jsonScan) readTexts(dst *map[string]string) error {
	if *dst = nil; s.isNull() {
		return s.word("null")
	}
	if s.peek() != '{' {
		return s.mismatch("an object")
	}
	m := map[string]string{}
	*dst = m
	return s.object(func(name []byte) error {
		var text string
		err := s.readText(&text)
		m[unquoted(name)] = text
		return err
	})
}

// readList reads an array. read takes a pointer to an element.
func readList[E any](s *jsonScan, dst *[]E, read func(*E) error) error {
	if *dst = nil; s.isNull() {
		return s.word("null")
	}
	if s.peek() != '[' {
		return s.mismatch("an array")
	}
	list := []E{}
	err := s.array(func() error {
		var elem E
		err := read(&elem)
		list = append(list, elem)
		return err
	})
	*dst = append(make([]E, 0, len(list)), list...) // trims the capacity
	return err
}

// readPointer reads a value that may be null, which makes the pointer nil.
func readPointer[E any](s *jsonScan, dst **E, read func(*E) error) error {
	if *dst = nil; s.isNull() {
		return s.word("null")
	}
	*dst = new(E)
	return read(*dst)
}

// readMembers reads an object. fn reads the members that it knows; for any other member it returns false and does not
// move.
func (s *jsonScan) readMembers(fn func(name []byte) (known bool, err error)) error {
	if s.isNull() {
		return s.word("null")
	}
	if s.peek() != '{' {
		return s.mismatch("an object")
	}
	return s.object(func(quoted []byte) error {
		name := quoted[1 : len(quoted)-1]
		if !jsonlex.IsPlain(name) {
			name = []byte(unquoted(quoted))
		}
		known, err := fn(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if !known {
			_, err = s.value()
		}
		return err
	})
}

func (s *jsonScan) mismatch(want string) error {
	text, err := s.value()
	if err != nil {
		return err
	}
	v, err := decodeText(text)
	if err != nil {
		return err
	}
	return fmt.Errorf("it is %s, not %s", describe(v), want)
}
