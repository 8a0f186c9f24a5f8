package kubeconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"go.yaml.in/yaml/v3"
)

// encodeYAML returns the documents as YAML, in the layout of text, their source. Comments outside of any document come
// first.
func (d *document) encodeYAML(text []byte) (out []byte, err error) {
	var b page
	defer func() {
		// The encoder panics in states that it considers impossible.
		if recover() != nil {
			out, err = nil, errNotSame
		}
		if b.full {
			out, err = nil, errTooLarge
		}
	}()
	if comments := bytes.TrimSpace(text); onlyComments(comments) && len(comments) > 0 {
		b.text = append(append(b.text, comments...), '\n')
	}
	e := yaml.NewEncoder(&b)
	e.SetIndent(d.indent)
	if d.compact {
		e.CompactSeqIndent()
	}
	for _, doc := range d.docs {
		if err := e.Encode(doc); err != nil {
			return nil, errNotSame // the library's message may quote the file
		}
	}
	if err := e.Close(); err != nil {
		return nil, errNotSame
	}
	if bytes.Contains(text, []byte("\r\n")) {
		return bytes.ReplaceAll(b.text, []byte("\n"), []byte("\r\n")), nil
	}
	return b.text, nil
}

// page collects a file that is written, up to the maximum size. Indentation can make a deeply nested file many times
// larger.
type page struct {
	text []byte
	full bool
}

// Write implements io.Writer.
func (p *page) Write(b []byte) (int, error) {
	if p.full = p.full || len(p.text)+len(b) > maxSize; p.full {
		return 0, errTooLarge
	}
	p.text = append(p.text, b...)
	return len(b), nil
}

// keepsComments reports whether parsing and encoding text keeps all its comments. The parser loses some, such as those
// after an opening bracket.
func (d *document) keepsComments(text []byte) bool {
	before := *d
	var err error
	if before.docs, _, err = documents(d.src, withoutReturns(text)); err != nil {
		return false
	}
	if len(before.docs) == 0 { // the text is only comments, which encodeYAML copies
		return true
	}
	out, err := before.encodeYAML(text)
	return err == nil && bytes.Count(out, []byte("#")) >= bytes.Count(text, []byte("#"))
}

func onlyComments(text []byte) bool {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return false
		}
	}
	return true
}

// layout returns the indentation of mappings, and whether a list in a mapping is not indented. The defaults are those
// of Kubernetes' own tools.
func layout(docs []*yaml.Node) (indent int, compact bool) {
	indent, compact = 2, true
	foundMap, foundList := false, false
	var look func(n *yaml.Node)
	look = func(n *yaml.Node) {
		if n.Style&yaml.FlowStyle != 0 || foundMap && foundList {
			return
		}
		for i, child := range n.Content {
			if n.Kind == yaml.MappingNode && i%2 == 1 && len(child.Content) > 0 && child.Style&yaml.FlowStyle == 0 && child.Line > 0 {
				switch by := child.Column - n.Content[i-1].Column; {
				case child.Kind == yaml.MappingNode && !foundMap && by >= 2 && by <= 9:
					indent, foundMap = by, true
				case child.Kind == yaml.SequenceNode && !foundList:
					compact, foundList = by == 0, true
				}
			}
			look(child)
		}
	}
	for _, doc := range docs {
		look(doc)
	}
	return indent, compact
}

// encodeJSON returns n as JSON, with the line breaks and indentation of text, its source.
func encodeJSON(n *yaml.Node, text []byte) ([]byte, error) {
	var b bytes.Buffer
	if err := appendJSON(&b, n); err != nil {
		return nil, err
	}
	text = bytes.TrimLeft(text, " \t\r\n")
	if first, rest, lines := bytes.Cut(bytes.TrimRight(text, " \t\r\n"), []byte("\n")); lines {
		indent := string(rest[:len(rest)-len(bytes.TrimLeft(rest, " \t"))])
		var indented bytes.Buffer
		if err := json.Indent(&indented, b.Bytes(), "", indent); err != nil {
			return nil, errNotSame
		}
		b = indented
		if bytes.HasSuffix(first, []byte("\r")) {
			b = *bytes.NewBuffer(bytes.ReplaceAll(b.Bytes(), []byte("\n"), []byte("\r\n")))
		}
	}
	if bytes.HasSuffix(text, []byte("\n")) {
		b.WriteByte('\n')
	}
	return b.Bytes(), nil
}

// appendJSON writes n, which comes from JSON or was made here, without white space.
func appendJSON(b *bytes.Buffer, n *yaml.Node) error {
	switch n.Kind {
	case yaml.MappingNode, yaml.SequenceNode:
		open, end := byte('['), byte(']')
		if n.Kind == yaml.MappingNode {
			open, end = '{', '}'
		}
		b.WriteByte(open)
		for i, child := range n.Content {
			switch {
			case n.Kind == yaml.MappingNode && i%2 == 1:
				b.WriteByte(':')
			case i > 0:
				b.WriteByte(',')
			}
			if err := appendJSON(b, child); err != nil {
				return err
			}
		}
		b.WriteByte(end)
	case yaml.ScalarNode:
		if n.Tag != "!!str" {
			b.WriteString(n.Value)
			return nil
		}
		if strings.ContainsRune(n.Value, '\ufffd') {
			return errors.New("cannot be changed: it has an unpaired surrogate or the character U+FFFD")
		}
		var s bytes.Buffer
		e := json.NewEncoder(&s)
		e.SetEscapeHTML(false)
		if err := e.Encode(n.Value); err != nil {
			return errNotSame
		}
		b.Write(bytes.TrimSpace(s.Bytes()))
	default:
		return errNotSame
	}
	return nil
}
