package patch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"unicode/utf8"
)

// token is where a value, or the name of a member, stands in a JSON text. The tokens of a text are in its order: behind that
// of an object stand, for each member, the name's and those of the value.
type token struct {
	start uint32
	stop  uint32 // the end, with the bit plain if that is set
	next  uint32 // the first token behind the value
}

// plain is set of a string that says what is written between its quotes. No text is so long that its end had the bit.
const plain = 1 << 31

func (t token) end() uint32 { return t.stop &^ plain }

func (t token) plain() bool { return t.stop&plain != 0 }

// source is a JSON text that has been checked, and its tokens. Values are taken from it as they are written.
type source struct {
	text   []byte
	tokens []token
	spaces bool // there is white space between tokens
	depth  int  // of its nesting
}

// read checks a JSON text, which the source uses from then on. Errors start with what it is.
func read(what string, text []byte) (*source, error) {
	if len(text) > maxSize {
		return nil, fmt.Errorf("%s is %w: it has %d bytes, and %d are allowed", what, ErrTooLarge, len(text), maxSize)
	}
	s, err := tokenize(text)
	switch {
	case err == nil:
		return s, nil
	case errors.Is(err, errSecondValue):
		return nil, fmt.Errorf("%s has %w", what, err)
	case errors.Is(err, ErrTooLarge):
		return nil, fmt.Errorf("%s is %w: it nests deeper than %d", what, ErrTooLarge, maxLevels)
	default:
		return nil, fmt.Errorf("%s is not JSON: %w", what, err)
	}
}

// tokenize is read without bounds for the text.
func tokenize(text []byte) (*source, error) {
	// Behind each name is a colon, as a rule at once, and before each value but the first a comma, a colon or the start of what
	// it is in. Where nothing is in it there is none.
	most := 1 - bytes.Count(text, []byte("{}")) + bytes.Count(text, []byte(`":`))
	for _, c := range [...]byte{',', '{', '['} {
		most += bytes.Count(text, []byte{c})
	}
	r := reader{text: text, tokens: make([]token, 0, min(most, len(text)/4+8))}
	if err := r.read(); err != nil {
		return nil, err
	}
	return &source{text: text, tokens: r.tokens, spaces: r.spaces > 0, depth: r.deepest}, nil
}

// raw returns the text of a value or name.
func (s *source) raw(at uint32) []byte {
	t := s.tokens[at]
	return s.text[t.start:t.end()]
}

// string returns what a string says. It must not be changed: it may be part of the text.
func (s *source) string(at uint32) []byte {
	raw := s.raw(at)
	if s.tokens[at].plain() {
		return raw[1 : len(raw)-1]
	}
	return unquote(raw)
}

var (
	errEnd         = errors.New("it ends too early")
	errSecondValue = errors.New("more than one JSON value")
)

// reader makes the tokens of a text, in one pass.
type reader struct {
	text    []byte
	at      int
	tokens  []token
	open    []uint32 // the objects and lists around the place
	spaces  int
	deepest int
}

func (r *reader) read() error {
	var room [64]uint32
	r.open = room[:0]
	for {
		if err := r.value(); err != nil {
			return err
		}
		if done, err := r.behindValue(); done || err != nil {
			return err
		}
	}
}

// value reads a scalar, or the start of an object or list up to its first value, or up to its end if it has none.
func (r *reader) value() error {
	for {
		c := r.peek()
		if c != '{' && c != '[' {
			return r.scalar(c)
		}
		if len(r.open) == maxLevels {
			return ErrTooLarge
		}
		r.open = append(r.open, uint32(len(r.tokens)))
		r.deepest = max(r.deepest, len(r.open))
		r.tokens = append(r.tokens, token{start: uint32(r.at)})
		r.at++
		if r.peek() == c+2 { // the closing bracket
			return nil
		}
		if c == '{' {
			if err := r.name(); err != nil {
				return err
			}
		}
	}
}

// behindValue closes what ends here, and goes on to the next value if there is one.
func (r *reader) behindValue() (done bool, err error) {
	for len(r.open) > 0 {
		t := &r.tokens[r.open[len(r.open)-1]]
		opening := r.text[t.start]
		switch r.peek() {
		case opening + 2:
			r.at++
			t.stop, t.next = uint32(r.at), uint32(len(r.tokens))
			r.open = r.open[:len(r.open)-1]
			continue
		case ',':
			r.at++
			if opening == '{' {
				r.peek()
				return false, r.name()
			}
			return false, nil
		}
		return false, r.unexpected()
	}
	r.peek()
	if r.at < len(r.text) {
		return false, errSecondValue
	}
	return true, nil
}

// peek moves to the next token and returns its first byte; 0 at the end.
func (r *reader) peek() byte {
	for r.at < len(r.text) {
		switch c := r.text[r.at]; c {
		case ' ', '\t', '\r', '\n':
			r.at++
			r.spaces++
		default:
			return c
		}
	}
	return 0
}

func (r *reader) unexpected() error {
	if r.at >= len(r.text) {
		return errEnd
	}
	return fmt.Errorf("unexpected %q at byte %d", r.text[r.at], r.at)
}

// push adds the token of a scalar or name that ends here; bits is plain or nothing.
func (r *reader) push(start int, bits uint32) {
	r.tokens = append(r.tokens, token{start: uint32(start), stop: uint32(r.at) | bits, next: uint32(len(r.tokens) + 1)})
}

// name reads the name of a member and the colon.
func (r *reader) name() error {
	if r.at >= len(r.text) || r.text[r.at] != '"' {
		return r.unexpected()
	}
	if err := r.string(); err != nil {
		return err
	}
	if r.peek() != ':' {
		return r.unexpected()
	}
	r.at++
	return nil
}

func (r *reader) scalar(c byte) error {
	switch c {
	case '"':
		return r.string()
	case 't':
		return r.word("true")
	case 'f':
		return r.word("false")
	case 'n':
		return r.word("null")
	}
	return r.number()
}

func (r *reader) word(w string) error {
	start := r.at
	for i := range len(w) {
		if r.at >= len(r.text) || r.text[r.at] != w[i] {
			return r.unexpected()
		}
		r.at++
	}
	r.push(start, 0)
	return nil
}

func (r *reader) string() error {
	start, b, i := r.at, r.text, r.at+1
	ascii, escapes := true, false
	for {
		// Eight bytes at a time, as long as there is nothing in them to look at.
		for i+8 <= len(b) {
			n := special(binary.LittleEndian.Uint64(b[i:]))
			if i += n; n < 8 {
				break
			}
		}
		if i >= len(b) {
			r.at = len(b)
			return errEnd
		}
		switch c := b[i]; {
		case c == '"':
			r.at = i + 1
			bits := uint32(0)
			if !escapes && (ascii || utf8.Valid(b[start+1:i])) {
				bits = plain
			}
			r.push(start, bits)
			return nil
		case c == '\\':
			escapes = true
			r.at = i + 1
			if err := r.escape(); err != nil {
				return err
			}
			i = r.at
		case c < ' ':
			r.at = i
			return r.unexpected()
		case c >= utf8.RuneSelf:
			ascii = false
		}
		i++
	}
}

// special returns which of eight bytes is the first that ends a string, escapes something, or is no printable ASCII; 8 if
// none is.
func special(eight uint64) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	quote, backslash := eight^(ones*'"'), eight^(ones*'\\')
	found := (quote-ones)&^quote | (backslash-ones)&^backslash | (eight-ones*' ')&^eight | eight
	return bits.TrailingZeros64(found&tops) / 8 // the lowest is right, whatever was borrowed above it
}

// escape stands on what follows a backslash and moves to its last byte.
func (r *reader) escape() error {
	if r.at >= len(r.text) {
		return errEnd
	}
	switch r.text[r.at] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return nil
	case 'u':
		for range 4 {
			if r.at++; r.at >= len(r.text) || !isHex(r.text[r.at]) {
				return r.unexpected()
			}
		}
		return nil
	}
	return r.unexpected()
}

func isHex(c byte) bool {
	return isDigit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func (r *reader) number() error {
	start := r.at
	r.pass('-')
	if !r.pass('0') && !r.digits() {
		return r.unexpected()
	}
	if r.pass('.') && !r.digits() {
		return r.unexpected()
	}
	if r.pass('e') || r.pass('E') {
		if !r.pass('+') {
			r.pass('-')
		}
		if !r.digits() {
			return r.unexpected()
		}
	}
	r.push(start, 0)
	return nil
}

func (r *reader) pass(c byte) bool {
	if r.at < len(r.text) && r.text[r.at] == c {
		r.at++
		return true
	}
	return false
}

func (r *reader) digits() bool {
	start := r.at
	for r.at < len(r.text) && isDigit(r.text[r.at]) {
		r.at++
	}
	return r.at > start
}
