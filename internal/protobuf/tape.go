// A JSON text as a list of its values.

package protobuf

import (
	"fmt"
	"math"

	"github.com/bowline-go/bowline/internal/jsonlex"
)

// tape has a node for each value of a JSON text, and for the name of each member before its value.
type tape struct {
	text  []byte
	nodes []node
}

// node is text[start:end]. next is the index of the node after the value.
type node struct{ start, end, next int32 }

// readTape reads a JSON text.
func readTape(text []byte) (*tape, error) {
	if len(text) > math.MaxInt32 {
		return nil, fmt.Errorf("a JSON text of %d bytes is too large: the maximum is %d", len(text), math.MaxInt32)
	}
	t := &tape{text: text, nodes: make([]node, 0, len(text)/16+1)}
	end := t.read(jsonlex.SkipSpace(text, 0), rawLevels)
	if end >= 0 {
		if end = jsonlex.SkipSpace(text, end); end == len(text) {
			return t, nil
		}
		end = ^end
	}
	return nil, fmt.Errorf("the text is not JSON at byte %d", ^end)
}

// read reads the value at i, and returns the position after it. If the text is not JSON at position p, it returns ^p.
func (t *tape) read(i, levels int) int {
	if i >= len(t.text) {
		return ^i
	}
	at := len(t.nodes)
	t.nodes = append(t.nodes, node{start: int32(i)})
	switch t.text[i] {
	case '{', '[':
		if levels <= 0 {
			return ^i
		}
		i = t.inside(i+1, t.text[i] == '{', levels-1)
	default:
		i = jsonlex.ScalarEnd(t.text, i)
	}
	t.nodes[at].end, t.nodes[at].next = int32(i), int32(len(t.nodes))
	return i
}

// inside reads the members or elements after a bracket.
func (t *tape) inside(i int, members bool, levels int) int {
	shut := byte(']')
	if members {
		shut = '}'
	}
	i, ended := jsonlex.AfterOpen(t.text, i, shut)
	for i >= 0 && !ended {
		if members {
			if t.text[i] != '"' {
				return ^i
			}
			end, _ := jsonlex.StringEnd(t.text, i)
			if end < 0 {
				return end
			}
			t.nodes = append(t.nodes, node{start: int32(i), end: int32(end), next: int32(len(t.nodes) + 1)})
			if i = jsonlex.AfterColon(t.text, end); i < 0 {
				return i
			}
		}
		if i = t.read(i, levels); i < 0 {
			return i
		}
		i, ended = jsonlex.AfterComma(t.text, i, shut)
	}
	return i
}

// kind returns the first byte of a value.
func (t *tape) kind(at int32) byte { return t.text[t.nodes[at].start] }

// of returns the text of a value.
func (t *tape) of(at int32) []byte { return t.text[t.nodes[at].start:t.nodes[at].end] }

// string returns the text of a string, without quotes and escapes.
func (t *tape) string(at int32) []byte {
	text := t.of(at)
	inner := text[1 : len(text)-1]
	if jsonlex.IsPlain(inner) {
		return inner
	}
	return jsonlex.AppendUnquoted(nil, inner)
}
