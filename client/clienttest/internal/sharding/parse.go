package sharding

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// expression is a part of an expression of CEL.
type expression struct {
	kind int
	name string       // of a function, an identifier or a field; the value of a literal
	typ  string       // the Go type of a literal
	args []expression // of a call; the operand of a field
}

// The numbers of the kinds in errors.
const (
	callKind    = 1
	identKind   = 3
	literalKind = 5
	selectKind  = 7
)

// or is the name of the function that || calls.
const or = "_||_"

// maxDepth is how deep calls and parentheses may nest.
const maxDepth = 250

// syntaxError is an error in the words of the library that kube-apiserver uses.
type syntaxError string

func (e syntaxError) Error() string { return "Syntax error: " + string(e) }

// parser reads an expression of calls, fields, literals and ||.
type parser struct {
	rest  string
	depth int
}

func parse(text string) (expression, error) {
	p := &parser{rest: text}
	e, err := p.either()
	if err == nil && p.next() != 0 {
		err = p.unexpected()
	}
	return e, err
}

// next moves to the next byte that is neither white space nor part of a comment, and returns it; 0 at the end.
func (p *parser) next() byte {
	for {
		p.rest = strings.TrimLeft(p.rest, " \t\r\n\f")
		if !strings.HasPrefix(p.rest, "//") {
			break
		}
		_, p.rest, _ = strings.Cut(p.rest, "\n")
	}
	if p.rest == "" {
		return 0
	}
	return p.rest[0]
}

// takes moves past a token if it is the next one.
func (p *parser) takes(token string) bool {
	p.next()
	rest, found := strings.CutPrefix(p.rest, token)
	if found {
		p.rest = rest
	}
	return found
}

func (p *parser) unexpected() error {
	if p.next() == 0 {
		return syntaxError("mismatched input '<EOF>'")
	}
	_, size := utf8.DecodeRuneInString(p.rest)
	return syntaxError("extraneous input '" + p.rest[:size] + "'")
}

func (p *parser) either() (expression, error) {
	if p.depth++; p.depth > maxDepth {
		return expression{}, fmt.Errorf("expression recursion limit exceeded: %d", maxDepth)
	}
	defer func() { p.depth-- }()
	e, err := p.member()
	for err == nil && p.takes("||") {
		var right expression
		right, err = p.member()
		e = expression{kind: callKind, name: or, args: []expression{e, right}}
	}
	return e, err
}

// member reads an operand, and the fields and methods of it.
func (p *parser) member() (expression, error) {
	e, err := p.primary()
	for err == nil && p.takes(".") {
		p.next()
		name := p.word()
		if name == "" {
			return e, p.unexpected()
		}
		if p.takes("(") {
			e = expression{kind: callKind, name: name}
			e.args, err = p.arguments()
		} else {
			e = expression{kind: selectKind, name: name, args: []expression{e}}
		}
	}
	return e, err
}

func (p *parser) primary() (expression, error) {
	switch c := p.next(); {
	case c == '(':
		p.rest = p.rest[1:]
		e, err := p.either()
		if err == nil && !p.takes(")") {
			err = p.unexpected()
		}
		return e, err
	case c == '\'' || c == '"':
		text, rest, found := strings.Cut(p.rest[1:], string(c))
		if !found || strings.ContainsAny(text, "\\\r\n") {
			return expression{}, p.unexpected()
		}
		p.rest = rest
		return expression{kind: literalKind, typ: "string", name: text}, nil
	case '0' <= c && c <= '9':
		p.rest = strings.TrimLeft(p.rest, "0123456789")
		return expression{kind: literalKind, typ: "int64"}, nil
	}
	dot := ""
	if p.takes(".") {
		dot = "."
		p.next()
	}
	name := p.word()
	switch {
	case name == "":
		return expression{}, p.unexpected()
	case dot == "" && (name == "true" || name == "false"):
		return expression{kind: literalKind, typ: "bool"}, nil
	case dot == "" && name == "null":
		return expression{kind: literalKind, typ: "structpb.NullValue"}, nil
	}
	name = dot + name
	if !p.takes("(") {
		return expression{kind: identKind, name: name}, nil
	}
	args, err := p.arguments()
	return expression{kind: callKind, name: name, args: args}, err
}

// arguments reads what follows the opening parenthesis of a call.
func (p *parser) arguments() (args []expression, err error) {
	if p.takes(")") {
		return nil, nil
	}
	for {
		e, err := p.either()
		if err != nil {
			return nil, err
		}
		args = append(args, e)
		if p.takes(")") {
			return args, nil
		}
		if !p.takes(",") {
			return nil, p.unexpected()
		}
	}
}

// word takes the name at the start of the rest. It is empty if there is none.
func (p *parser) word() string {
	n := 0
	for n < len(p.rest) {
		c := p.rest[n]
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (n == 0 || c < '0' || c > '9') {
			break
		}
		n++
	}
	name := p.rest[:n]
	p.rest = p.rest[n:]
	return name
}
