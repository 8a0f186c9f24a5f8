package jsonpath

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// parser reads a path. rest is the text that it has not read yet; unless it is empty, it ends with a closing brace.
type parser struct{ rest string }

// parse reads the text between two braces. If it contains closing and opening braces, it has several parts.
func parse(path string) (parts []steps, _ error) {
	p := &parser{path + "}"}
	for {
		part, err := p.part()
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
		_, after, more := strings.Cut(p.rest, "{")
		if !more {
			return parts, nil
		}
		p.rest = after
	}
}

// first reads a path, and returns its first part.
func first(path string) (steps, error) {
	parts, err := parse(path)
	if err != nil {
		return nil, err
	}
	return parts[0], nil
}

// part reads up to the closing brace.
func (p *parser) part() (out steps, err error) {
	for err == nil {
		var next step
		r, size := utf8.DecodeRuneInString(p.rest)
		switch {
		case p.rest == "" || r == '\r' || r == '\n':
			return nil, errors.New("unclosed action")
		case r == '}':
			p.take(size)
			return out, nil
		case r == ' ' || r == '@' || r == '$':
			p.take(size)
			continue
		case strings.HasPrefix(p.rest, "[?("):
			next, err = p.filter()
		case r == '[':
			var list steps
			list, err = p.brackets()
			out = append(out, list...)
			continue
		case strings.HasPrefix(p.rest, ".."):
			if len(out) > 0 && out[len(out)-1] == step(descent{}) {
				return nil, errors.New("invalid multiple recursive descent")
			}
			p.take(2)
			next = descent{}
			if r, _ := utf8.DecodeRuneInString(p.rest); isWord(r) {
				out, next = append(out, next), p.member()
			}
		case r == '.':
			p.take(size)
			next = p.member()
		case r == '"' || r == '\'':
			next, err = p.quoted()
		case r == '+' || r == '-' || unicode.IsDigit(r):
			next, err = p.number()
		case isWord(r):
			next = p.word()
		default:
			return nil, fmt.Errorf("unrecognized character in action: %#U", r)
		}
		out = append(out, next)
	}
	return nil, err
}

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// ends are the characters that end a name or a word.
const ends = " \t\r\n.,[]$@{}"

// take reads n bytes.
func (p *parser) take(n int) string {
	taken := p.rest[:n]
	p.rest = p.rest[n:]
	return taken
}

func (p *parser) member() step {
	i := 0
	for i < len(p.rest) && strings.IndexByte(ends, p.rest[i]) < 0 {
		if p.rest[i] == '\\' {
			i++
		}
		i++
	}
	name := p.take(min(i, len(p.rest)))
	if name == "*" {
		return wildcard{}
	}
	return member(strings.ReplaceAll(name, `\`, ""))
}

func (p *parser) word() step {
	switch name := p.take(strings.IndexAny(p.rest, ends)); name { // the last character is a brace
	case "true", "false":
		return constant{name == "true"}
	default:
		return word(name)
	}
}

func (p *parser) number() (step, error) {
	i := 0
	if p.rest[0] == '+' || p.rest[0] == '-' {
		i = 1
	}
	for i < len(p.rest) {
		r, size := utf8.DecodeRuneInString(p.rest[i:])
		if r != '.' && !unicode.IsDigit(r) {
			break
		}
		i += size
	}
	digits := p.take(i)
	if n, err := strconv.Atoi(digits); err == nil {
		return constant{n}, nil
	}
	if f, err := strconv.ParseFloat(digits, 64); err == nil {
		return constant{f}, nil
	}
	return nil, fmt.Errorf("cannot parse number %s", digits)
}

func (p *parser) quoted() (step, error) {
	quote, i := p.rest[0], 1
	for ; ; i++ {
		if i >= len(p.rest) || p.rest[i] == '\n' {
			return nil, errors.New("unterminated quoted string")
		}
		if p.rest[i] == quote && p.rest[i-1] != '\\' {
			break
		}
	}
	all := p.take(i + 1)
	s := all[1:i]
	if !strings.Contains(s, `\`) {
		return text(s), nil
	}
	var out []byte
	for s != "" {
		r, multibyte, after, err := strconv.UnquoteChar(s, quote)
		if err != nil {
			return nil, fmt.Errorf("unquote string %s error %w", all, err)
		}
		if multibyte {
			out = utf8.AppendRune(out, r)
		} else {
			out = append(out, byte(r))
		}
		s = after
	}
	return text(out), nil
}

// brackets reads a name, positions, or a union in brackets.
func (p *parser) brackets() (steps, error) {
	i := strings.IndexAny(p.rest, "]\n")
	if i < 0 || p.rest[i] == '\n' {
		return nil, errors.New("unterminated array")
	}
	s := p.take(i + 1)[1:i]
	if strings.Contains(s, ",") {
		var u union
		for choice := range strings.SplitSeq(s, ",") {
			path, err := first("[" + strings.Trim(choice, " ") + "]")
			if err != nil {
				return nil, err
			}
			u = append(u, path)
		}
		return steps{u}, nil
	}
	if name, ok := strings.CutPrefix(s, "'"); ok {
		if name, ok = strings.CutSuffix(name, "'"); ok && !strings.Contains(name, "'") {
			return first("." + name) // so, as on the server, ['a.b'] are two names
		}
	}
	one, err := positions(s)
	return steps{one}, err
}

// positions reads 1, 1:, 1:3 or 1:3:2, whose numbers may be absent.
func positions(s string) (step, error) {
	if s == "*" {
		s = ":"
	}
	numbers := strings.Split(s, ":")
	if len(numbers) > 3 || slices.ContainsFunc(numbers, func(n string) bool {
		return strings.Trim(strings.TrimPrefix(n, "-"), "0123456789") != ""
	}) {
		return nil, fmt.Errorf("invalid array index %s", s)
	}
	var given [3]*int
	for i, text := range numbers {
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("array index %s is not a number", text)
		}
		given[i] = &n
	}
	out := part{index: len(numbers) == 1, to: given[1], distance: given[2]}
	if given[0] != nil {
		out.from = *given[0]
	}
	return out, nil
}

// filter reads [?(...)]. It ends at the first parenthesis that is not between two quotes, and only the first two quotes
// count.
func (p *parser) filter() (step, error) {
	const start, end = "[?(", ")]"
	var quote byte
	i, closed := len(start), false
	for ; ; i++ {
		if i >= len(p.rest) || p.rest[i] == '\n' {
			return nil, errors.New("unterminated filter")
		}
		switch c := p.rest[i]; {
		case (c == '"' || c == '\'') && quote == 0:
			quote = c
		case c == quote && p.rest[i-1] != '\\':
			closed = true
		}
		if p.rest[i] == ')' && closed == (quote != 0) {
			break
		}
	}
	left, operator, right := split(p.take(i)[len(start):])
	if !strings.HasPrefix(p.rest, end) {
		return nil, errors.New("unclosed array expect ]")
	}
	p.take(len(end))
	f := filter{operator: operator}
	var err error
	if f.left, err = first(left); err == nil && operator != "" {
		f.right, err = first(right)
	}
	return f, err
}

// split splits a filter at its operator. The last character belongs to the right side even if it is <, =, > or !.
func split(s string) (left, operator, right string) {
	const symbols = "!<=>"
	if begin := strings.IndexAny(s, symbols); begin > 0 {
		end := min(len(s)-len(strings.TrimLeft(s[begin:], symbols)), len(s)-1)
		if begin < end {
			return s[:begin], s[begin:end], s[end:]
		}
	}
	return s, "", ""
}
