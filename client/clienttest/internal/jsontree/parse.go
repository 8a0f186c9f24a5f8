package jsontree

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/bowline-go/bowline/internal/jsonlex"
)

// Parse reads exactly one JSON value. Its errors have the words of encoding/json.
func Parse(b []byte) (any, error) {
	p := parser{b: b, text: string(b)}
	if v, end := p.value(jsonlex.SkipSpace(b, 0), maxFastDepth); end >= 0 && jsonlex.SkipSpace(b, end) == len(b) {
		return v, nil
	}
	return parseSlowly(b)
}

// parseSlowly is Parse by encoding/json, for a text that is invalid or nested very deeply.
func parseSlowly(b []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, errors.New("unexpected end of JSON input")
		}
		return nil, err
	}
	if rest := bytes.TrimLeft(b[d.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return nil, fmt.Errorf("invalid character %q after top-level value", rune(rest[0]))
	}
	return v, nil
}

// maxFastDepth is how deeply a value may be nested for a parser to read it.
const maxFastDepth = 100

// parser reads JSON into the values that encoding/json makes of it. The strings share one copy of the text. Its methods
// return the position after what they read, which is negative if they cannot read it.
type parser struct {
	b    []byte
	text string
}

// value reads the value at i.
func (p *parser) value(i, depth int) (v any, end int) {
	if i >= len(p.b) || depth == 0 {
		return nil, -1
	}
	switch p.b[i] {
	case '{':
		return p.object(i, depth)
	case '[':
		return p.array(i, depth)
	case '"':
		return p.string(i)
	case 't':
		return true, jsonlex.LiteralEnd(p.b, i, "true")
	case 'f':
		return false, jsonlex.LiteralEnd(p.b, i, "false")
	case 'n':
		return nil, jsonlex.LiteralEnd(p.b, i, "null")
	}
	if end = jsonlex.NumberEnd(p.b, i); end < 0 {
		return nil, end
	}
	return json.Number(p.text[i:end]), end
}

// string reads the string whose quote is at i.
func (p *parser) string(i int) (text string, end int) {
	end, plain := jsonlex.StringEnd(p.b, i)
	switch {
	case end < 0:
		return "", end
	case plain:
		return p.text[i+1 : end-1], end
	}
	return jsonlex.Unquote(p.b[i+1 : end-1]), end
}

// object reads the object whose brace is at i. The last of several members with one name counts.
func (p *parser) object(i, depth int) (v Object, end int) {
	v = Object{}
	i, ended := jsonlex.AfterOpen(p.b, i+1, '}')
	for !ended {
		if i < 0 || p.b[i] != '"' {
			return nil, -1
		}
		var name string
		if name, i = p.string(i); i < 0 {
			return nil, i
		}
		if i = jsonlex.AfterColon(p.b, i); i < 0 {
			return nil, i
		}
		if v[name], i = p.value(i, depth-1); i < 0 {
			return nil, i
		}
		i, ended = jsonlex.AfterComma(p.b, i, '}')
	}
	return v, i
}

// array reads the array whose bracket is at i.
func (p *parser) array(i, depth int) (v []any, end int) {
	v = []any{}
	i, ended := jsonlex.AfterOpen(p.b, i+1, ']')
	for !ended {
		if i < 0 {
			return nil, i
		}
		var e any
		if e, i = p.value(i, depth-1); i < 0 {
			return nil, i
		}
		v = append(v, e)
		i, ended = jsonlex.AfterComma(p.b, i, ']')
	}
	return v, i
}
