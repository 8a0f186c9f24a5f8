package tree

import (
	"errors"
	"fmt"
	"sort"

	"github.com/bowline-go/bowline/internal/jsonlex"
)

// Source is a checked JSON text. Values are parts of it as they are written. The end of a value is found in the text.
// An index holds the ends of all but short objects and lists, so that they can be skipped at once; it is small
// compared to the text.
type Source struct {
	Text       []byte
	start, end uint32 // of the value
	nests      []nest // in the order of the text
	Spaces     bool   // there is white space between tokens
	Depth      int    // the levels of nesting
}

// nest is an object or list of at least shortNest bytes.
type nest struct {
	start, end uint32
}

const shortNest = 64

// Read checks a JSON text, which the source uses from then on. Errors start with what, the name of the text.
func Read(what string, text []byte) (*Source, error) {
	if len(text) > MaxSize {
		return nil, fmt.Errorf("%s is %w: it has %d bytes, and %d are allowed", what, ErrTooLarge, len(text), MaxSize)
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

// tokenize is Read without bounds for the text.
func tokenize(text []byte) (*Source, error) {
	r := reader{text: text}
	r.peek()
	start := r.at
	if err := r.read(); err != nil {
		return nil, err
	}
	return &Source{Text: text, start: uint32(start), end: uint32(r.end), nests: r.nests, Spaces: r.spaced, Depth: r.deepest}, nil
}

// string returns the content of the string that starts at at. It must not be changed, because it may be part of the
// text.
func (s *Source) string(at uint32) []byte {
	raw := s.Text[at:stringEnd(s.Text, at)]
	if inner := raw[1 : len(raw)-1]; jsonlex.IsPlain(inner) {
		return inner
	}
	return unquote(raw)
}

// Unquoted returns the content of a string. It must not be changed, because it may be part of the text.
func (n Node) Unquoted() []byte { return n.From.string(n.At) }

// unquote returns the content of a string, in new memory.
func unquote(raw []byte) []byte { return jsonlex.AppendUnquoted(nil, raw[1:len(raw)-1]) }

// stringEnd returns the end of the string that starts at at.
func stringEnd(text []byte, at uint32) uint32 {
	return uint32(jsonlex.ClosingQuote(text, int(at)+1) + 1)
}

// Cursor goes through the parts of an object, its names and values in turn, or of a list.
type Cursor struct {
	s       *Source
	at, end uint32
	nest    int // an index in s.nests; all nests before it start before at
}

// Parts returns a cursor before the first part of an object or list.
func (n Node) Parts() Cursor {
	nests := n.From.nests
	return Cursor{n.From, n.At + 1, n.End - 1, sort.Search(len(nests), func(i int) bool { return nests[i].start > n.At })}
}

// Next moves past the next part, and returns it.
func (c *Cursor) Next() (part Node, ok bool) {
	for text := c.s.Text; c.at < c.end; c.at++ {
		switch text[c.at] {
		case ' ', '\t', '\r', '\n', ',', ':':
			continue
		case '"':
			part = Node{From: c.s, At: c.at, End: stringEnd(text, c.at)}
		case '{', '[':
			part = Node{From: c.s, At: c.at, End: c.nestEnd()}
		default:
			end := c.at + 1
			for end < c.end && jsonlex.IsScalar(text[end]) {
				end++
			}
			part = Node{From: c.s, At: c.at, End: end}
		}
		c.at = part.End
		return part, true
	}
	return Node{}, false
}

// nestEnd returns the end of the object or list at the cursor.
func (c *Cursor) nestEnd() uint32 {
	left := c.s.nests[c.nest:]
	if len(left) > 0 && left[0].start < c.at { // it is in a part that was skipped
		step := 1
		for step < len(left) && left[step].start < c.at {
			step *= 2
		}
		from := step / 2
		some := left[from:min(step+1, len(left))]
		skip := from + sort.Search(len(some), func(i int) bool { return some[i].start >= c.at })
		c.nest, left = c.nest+skip, left[skip:]
	}
	if len(left) > 0 && left[0].start == c.at {
		return left[0].end
	}
	text, depth := c.s.Text, 0
	for i := c.at; ; i++ {
		switch text[i] {
		case '"':
			i = stringEnd(text, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
}

var (
	errEnd         = errors.New("it ends too early")
	errSecondValue = errors.New("more than one JSON value")
)

// reader checks a text and makes the index, in one pass.
type reader struct {
	text    []byte
	at      int
	end     int // of the value
	nests   []nest
	open    []uint32 // the objects and lists around the present place, by index
	spaced  bool     // there is white space between tokens, or around the value
	deepest int
}

func (r *reader) read() error {
	var room [64]uint32
	r.open = room[:0]
	for {
		if err := r.value(); err != nil {
			return err
		}
		if done, err := r.afterValue(); done || err != nil {
			return err
		}
	}
}

// value reads a scalar, or the start of an object or list up to its first value, or up to its end if it has none.
func (r *reader) value() error {
	for {
		c := r.peek()
		if c != '{' && c != '[' {
			return r.scalar()
		}
		if len(r.open) == maxLevels {
			return ErrTooLarge
		}
		r.open = append(r.open, uint32(len(r.nests)))
		r.deepest = max(r.deepest, len(r.open))
		r.nests = append(r.nests, nest{start: uint32(r.at)})
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

// afterValue closes the objects and lists that end here, and goes on to the next value if there is one.
func (r *reader) afterValue() (done bool, err error) {
	for len(r.open) > 0 {
		last := r.open[len(r.open)-1]
		n := &r.nests[last]
		opening := r.text[n.start]
		switch r.peek() {
		case opening + 2:
			r.at++
			if n.end = uint32(r.at); n.end-n.start < shortNest {
				r.nests = r.nests[:last] // its parts are not long either
			}
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
	r.end = r.at
	r.peek()
	if r.at < len(r.text) {
		return false, errSecondValue
	}
	return true, nil
}

// peek moves to the next token and returns its first byte; 0 at the end.
func (r *reader) peek() byte {
	if at := jsonlex.SkipSpace(r.text, r.at); at > r.at {
		r.at, r.spaced = at, true
	}
	if r.at < len(r.text) {
		return r.text[r.at]
	}
	return 0
}

func (r *reader) unexpected() error {
	if r.at >= len(r.text) {
		return errEnd
	}
	return fmt.Errorf("unexpected %q at byte %d", r.text[r.at], r.at)
}

// name reads the name of a member and the colon.
func (r *reader) name() error {
	if r.at >= len(r.text) || r.text[r.at] != '"' {
		return r.unexpected()
	}
	if err := r.scalar(); err != nil {
		return err
	}
	if r.peek() != ':' {
		return r.unexpected()
	}
	r.at++
	return nil
}

func (r *reader) scalar() error {
	end := jsonlex.ScalarEnd(r.text, r.at)
	if end < 0 {
		r.at = ^end
		return r.unexpected()
	}
	r.at = end
	return nil
}
