package meta

import (
	"fmt"
	"strings"
)

// syntaxError names the position of a problem in a selector's text.
func syntaxError(kind, text string, offset int, problem string) error {
	return fmt.Errorf("parse %s selector %q: at byte %d: %s", kind, clip(text), offset, problem)
}

// ParseSelector parses a label selector in the syntax of the API and of kubectl's -l: requirements separated by commas,
// each one of
//
//	key          the label is present        key = value, key == value
//	!key         it is absent                key != value
//	key in (value, ...)                      key > integer
//	key notin (value, ...)                   key < integer
//
// White space between the parts is ignored, a value may be empty, and an empty text selects everything. ParseSelector
// accepts what the server accepts. Its error names the place in text, and says what was found and what is allowed.
func ParseSelector(text string) (Selector, error) {
	p := selectorParser{text: text}
	var requirements []requirement
	if p.peek() == atEnd {
		return Selector{}, nil
	}
	for {
		r, err := p.requirement()
		if err != nil {
			return Selector{}, err
		}
		requirements = append(requirements, r)
		if p.peek() == atEnd {
			return selectorOf(requirements), nil
		}
		if !p.eat(',') {
			return Selector{}, p.unexpected(`a comma or the end`)
		}
	}
}

// selectorParser is a recursive descent parser. Every method starts at pos and leaves pos after the text it consumed.
type selectorParser struct {
	text string
	pos  int
}

// atEnd is the result of peek at the end of the text.
const atEnd = -1

// peek skips white space and returns the byte that follows, or atEnd.
func (p *selectorParser) peek() int {
	for p.pos < len(p.text) && isSelectorSpace(p.text[p.pos]) {
		p.pos++
	}
	if p.pos == len(p.text) {
		return atEnd
	}
	return int(p.text[p.pos])
}

// eat takes c if it comes next.
func (p *selectorParser) eat(c byte) bool {
	if p.peek() != int(c) {
		return false
	}
	p.pos++
	return true
}

// word takes the longest run of bytes that are neither white space nor part of an operator; it may be empty.
func (p *selectorParser) word() string {
	p.peek()
	start := p.pos
	for p.pos < len(p.text) && !isSelectorSpace(p.text[p.pos]) && strings.IndexByte("=!(),<>", p.text[p.pos]) < 0 {
		p.pos++
	}
	return p.text[start:p.pos]
}

func isSelectorSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

func (p *selectorParser) requirement() (requirement, error) {
	negated := p.eat('!')
	p.peek()
	start := p.pos
	r := Requirement{Key: p.word(), Operator: OpExists}
	if r.Key == "" {
		if negated {
			return requirement{}, p.unexpected("a key")
		}
		return requirement{}, p.unexpected(`a key or "!"`)
	}
	if err := ValidLabelKey(r.Key); err != nil {
		return requirement{}, p.fail(start, err.Error())
	}
	if negated {
		r.Operator = OpDoesNotExist
		return r.compile()
	}
	next := p.peek()
	start = p.pos
	switch next {
	case atEnd, ',':
		return r.compile()
	case '=':
		p.pos++
		if p.pos < len(p.text) && p.text[p.pos] == '=' {
			p.pos++
		}
		return p.value(r, OpIn)
	case '!':
		if !strings.HasPrefix(p.text[p.pos:], "!=") {
			return requirement{}, p.unexpected(binaryOperators)
		}
		p.pos += 2
		return p.value(r, OpNotIn)
	case '>':
		p.pos++
		return p.value(r, OpGreaterThan)
	case '<':
		p.pos++
		return p.value(r, OpLessThan)
	}
	switch p.word() {
	case "in":
		return p.set(r, OpIn)
	case "notin":
		return p.set(r, OpNotIn)
	}
	p.pos = start
	return requirement{}, p.unexpected(binaryOperators)
}

const binaryOperators = `a comma, the end, or one of = == != in notin > <`

// value parses the one value of an operator. It may be empty if the requirement ends there.
func (p *selectorParser) value(r Requirement, op Operator) (requirement, error) {
	p.peek()
	start := p.pos
	value := p.word()
	if next := p.peek(); value == "" && next != atEnd && next != ',' {
		return requirement{}, p.unexpected("a value")
	}
	r.Operator, r.Values = op, []string{value}
	c, err := r.compile()
	if err != nil {
		return requirement{}, p.fail(start, err.Error())
	}
	return c, nil
}

// set parses a list of values in parentheses. Each of them may be empty.
func (p *selectorParser) set(r Requirement, op Operator) (requirement, error) {
	if !p.eat('(') {
		return requirement{}, p.unexpected(`"("`)
	}
	for {
		p.peek()
		start := p.pos
		value := p.word()
		if err := ValidLabelValue(value); err != nil {
			return requirement{}, p.fail(start, fmt.Sprintf("label %q: %v", r.Key, err))
		}
		r.Values = append(r.Values, value)
		if p.eat(')') {
			r.Operator = op
			return r.compile()
		}
		if !p.eat(',') {
			return requirement{}, p.unexpected(`a comma or ")"`)
		}
	}
}

// unexpected returns an error for the next word, which is not allowed.
func (p *selectorParser) unexpected(allowed string) error {
	p.peek()
	start := p.pos
	found := p.word()
	if found == "" && start < len(p.text) {
		found = p.text[start : start+1]
	}
	if start == len(p.text) {
		return p.fail(start, "found the end, want "+allowed)
	}
	return p.fail(start, fmt.Sprintf("found %q, want %s", clip(found), allowed))
}

func (p *selectorParser) fail(offset int, problem string) error {
	return syntaxError("label", p.text, offset, problem)
}
