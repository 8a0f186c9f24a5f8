package fieldset

import (
	"errors"
	"fmt"

	"github.com/bowline-go/bowline/internal/jsonlex"
)

// The bounds of a set that Parse accepts.
const (
	// maxSize bounds the size of a set, in bytes. An object of the API has at most 3 MiB.
	maxSize = 16 << 20
	// maxLevels bounds how deep fields may nest.
	maxLevels = 1000
)

// Parse reads a set. It is an error if the text is not JSON, has a key of another form than the package documentation
// lists, has a value that is not an object, has a "." whose object is not empty, has a k: with more than
// [MaxKeyMembers] members, or exceeds 16 MiB or 1,000 levels. A key that occurs twice has the fields of both. Parse
// does not keep fieldsV1.
func Parse(fieldsV1 []byte) (*Set, error) {
	if len(fieldsV1) > maxSize {
		return nil, fmt.Errorf("fieldset: the set has %d bytes, and %d are allowed", len(fieldsV1), maxSize)
	}
	p, s := parser{text: fieldsV1}, &Set{}
	err := p.set(s, 0)
	if err == nil && p.peek() != 0 {
		err = p.unexpected()
	}
	if err != nil {
		return nil, fmt.Errorf("fieldset: %w", err)
	}
	s.Self = false // in a set as a whole, Self is always false
	return s, nil
}

// parser reads objects whose values are objects: there is nothing else in a set.
type parser struct {
	text []byte
	at   int
}

// set adds the fields within one field to s.
func (p *parser) set(s *Set, level int) error {
	if level > maxLevels {
		return fmt.Errorf("the set nests deeper than %d levels", maxLevels)
	}
	if err := p.take('{'); err != nil {
		return err
	}
	if p.peek() == '}' {
		p.at++
		s.Self = true
		return nil
	}
	for {
		key, err := p.string()
		if err != nil {
			return err
		}
		if err := p.take(':'); err != nil {
			return err
		}
		if err := p.member(s, key, level); err != nil {
			return err
		}
		if p.peek() != ',' {
			return p.take('}')
		}
		p.at++
	}
}

// member adds the field of one key to s.
func (p *parser) member(s *Set, key string, level int) error {
	if key == "." {
		var c Set
		if err := p.set(&c, level+1); err != nil {
			return err
		}
		if len(c.Children) > 0 {
			return errors.New(`key "." must have an empty object`)
		}
		s.Self = true
		return nil
	}
	key, err := canonicalKey(key)
	if err != nil {
		return err
	}
	return p.set(s.child(key), level+1)
}

// peek moves to the next token and returns its first byte; 0 at the end.
func (p *parser) peek() byte {
	p.at = jsonlex.SkipSpace(p.text, p.at)
	switch {
	case p.at >= len(p.text):
		return 0
	case p.text[p.at] == 0:
		return 1 // a zero byte is not the end of the text
	}
	return p.text[p.at]
}

func (p *parser) take(c byte) error {
	if p.peek() != c {
		return p.unexpected()
	}
	p.at++
	return nil
}

func (p *parser) unexpected() error {
	if p.at >= len(p.text) {
		return errors.New("the set ends too early")
	}
	return fmt.Errorf("unexpected %q at byte %d", p.text[p.at], p.at)
}

func (p *parser) string() (string, error) {
	if p.peek() != '"' {
		return "", p.unexpected()
	}
	start := p.at
	end, _ := jsonlex.StringEnd(p.text, start)
	if end >= 0 {
		p.at = end
		return jsonlex.Unquote(p.text[start+1 : end-1]), nil
	}
	if p.at = ^end; p.at < len(p.text) && jsonlex.EscapeStart(p.text, p.at) < p.at {
		return "", fmt.Errorf("string at byte %d has an escape that JSON does not have", start)
	}
	return "", p.unexpected()
}

// Append appends the set as a server writes it: without white space, in the order of [Set.Paths], with "." for a field
// that is in the set together with fields within it. An empty set is {}.
func (s *Set) Append(b []byte) []byte {
	b = append(b, '{')
	if s == nil {
		return append(b, '}')
	}
	start := len(b)
	for _, key := range s.keys() {
		before := len(b)
		if before == start && s.Self {
			b = append(b, `".":{}`...)
		}
		if len(b) > start {
			b = append(b, ',')
		}
		b = append(jsonlex.AppendQuoted(b, key), ':')
		at, c := len(b), s.Children[key]
		if b = c.Append(b); len(b) == at+len("{}") && (c == nil || !c.Self) {
			b = b[:before] // the part is empty
		}
	}
	return append(b, '}')
}
