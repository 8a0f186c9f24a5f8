package kubeconfig

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// document is one file during editing, as nodes, so that unedited parts stay as they are.
type document struct {
	src    *source
	path   string      // the file itself, with all symbolic links resolved
	named  string      // the file, or the last link to it, in a folder with all links resolved
	info   fs.FileInfo // nil if there is no file yet
	data   []byte
	docs   []*yaml.Node
	isJSON bool
	said   *merged // the content of the file before the change
	edited bool

	indent  int  // the indentation of a mapping in a mapping
	compact bool // whether a list in a mapping is not indented
}

// open parses d.data.
func (d *document) open() (err error) {
	if d.docs, d.isJSON, err = documents(d.src, withoutReturns(d.data)); err != nil {
		return err
	}
	d.indent, d.compact = layout(d.docs)
	d.said, err = unify(d.src, d.docs)
	return err
}

// withoutReturns converts Windows line ends. They have the same meaning in YAML, but the parser takes two of them for
// an empty line after a comment.
func withoutReturns(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")) }

var (
	errReferences = errors.New("cannot be changed: it uses YAML anchors, aliases or merge keys, " +
		"so a change could affect other parts; edit the file by hand")
	errEncoding = errors.New("cannot be changed: it is not in UTF-8; convert it first")
)

// roots returns the mappings of the documents that are not null.
func (d *document) roots() (roots []*yaml.Node) {
	for _, doc := range d.docs {
		if n := doc.Content[0]; n.Kind == yaml.MappingNode {
			roots = append(roots, n)
		}
	}
	return roots
}

// root returns the first mapping, and creates one if there is none.
func (d *document) root() *yaml.Node {
	if roots := d.roots(); len(roots) > 0 {
		return roots[0]
	}
	n := mappingNode()
	n.Content = []*yaml.Node{quotedNode("apiVersion"), quotedNode("v1"), quotedNode("kind"), quotedNode("Config")}
	if len(d.docs) == 0 {
		d.docs = []*yaml.Node{{Kind: yaml.DocumentNode, Content: []*yaml.Node{nil}}}
	}
	d.docs[0].Content[0] = n
	return n
}

// fail returns an error about a part of the file.
func (d *document) fail(stanza, field string, err error) error {
	return &FieldError{file: d.src.name, stanza: stanza, field: field, err: err}
}

// setCurrent makes name the current context.
func (d *document) setCurrent(name string) error {
	const key = "current-context"
	root := d.root()
	for _, r := range d.roots() {
		if v := own(r, key); v != nil && !isNull(follow(v)) && follow(v).Value != "" {
			root = r
			break
		}
	}
	if v := own(root, key); v != nil && (v.Kind == yaml.AliasNode || v.Anchor != "") {
		return d.fail("", key, errReferences)
	}
	d.edited = setField(root, field{name: key, value: quotedNode(name)}) || d.edited
	return nil
}

// set sets fields of the entry with this name in the list l, and adds the entry if there is none. Other fields stay.
func (d *document) set(l list, name string, fields []field) error {
	path := fmt.Sprintf("%s[%q]", l.plural, name)
	if !utf8.ValidString(name) {
		return d.fail(path, "name", errNotUTF8)
	}
	for _, f := range fields {
		if !isUTF8(f.value) {
			return d.fail(path, f.name, errNotUTF8)
		}
	}
	seq, at, err := d.find(l, name)
	if err != nil {
		return err
	}
	var item *yaml.Node
	if at >= 0 {
		item = seq.Content[at]
	} else {
		if seq, err = d.listOf(l); err != nil {
			return err
		}
		item = mappingNode()
		item.Content = []*yaml.Node{quotedNode("name"), quotedNode(name)}
		if len(seq.Content) == 0 {
			seq.Style &^= yaml.FlowStyle
		}
		seq.Content = append(seq.Content, item)
		d.edited = true
	}
	body := own(item, l.body)
	if body == nil || isNull(body) {
		body = mappingNode()
		setField(item, field{name: l.body, value: body})
		d.edited = true
	}
	if body.Kind != yaml.MappingNode {
		return d.fail(path, "", errors.New("must be a mapping"))
	}
	for _, f := range fields {
		d.edited = setField(body, f) || d.edited
	}
	return nil
}

var errNotUTF8 = errors.New("must be valid UTF-8")

// isUTF8 reports whether all text in n is valid UTF-8.
func isUTF8(n *yaml.Node) bool {
	return n == nil || utf8.ValidString(n.Value) && !slices.ContainsFunc(n.Content, func(child *yaml.Node) bool { return !isUTF8(child) })
}

// remove removes the entry with this name from the list l, if it is there.
func (d *document) remove(l list, name string) error {
	seq, at, err := d.find(l, name)
	if err != nil || at < 0 {
		return err
	}
	seq.Content = slices.Delete(seq.Content, at, at+1)
	d.edited = true
	return nil
}

// find returns the list and the index of the entry with this name; the index is -1 if there is none.
func (d *document) find(l list, name string) (seq *yaml.Node, at int, err error) {
	if d.said.entriesOf(l)[name] == nil {
		return nil, -1, nil
	}
	for _, root := range d.roots() {
		seq := own(root, l.plural)
		if seq == nil || seq.Kind != yaml.SequenceNode || seq.Anchor != "" {
			continue
		}
		for i, item := range seq.Content {
			if n := own(item, "name"); n == nil || n.Kind != yaml.ScalarNode || n.Value != name {
				continue
			}
			if !isPlain(item) {
				break
			}
			return seq, i, nil
		}
	}
	return nil, -1, d.fail(fmt.Sprintf("%s[%q]", l.plural, name), "", errReferences)
}

// listOf returns the list to which an entry of l is added.
func (d *document) listOf(l list) (*yaml.Node, error) {
	root := d.root()
	for _, r := range d.roots() {
		if v := own(r, l.plural); v != nil && v.Kind == yaml.SequenceNode {
			root = r
			break
		}
	}
	seq := own(root, l.plural)
	switch {
	case seq == nil && hasMergeKey(root), seq != nil && (seq.Kind == yaml.AliasNode || seq.Anchor != ""):
		return nil, d.fail("", l.plural, errReferences)
	case seq == nil || isNull(seq):
		seq = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		setField(root, field{name: l.plural, value: seq})
	}
	return seq, nil
}

// entriesOf returns the entries of one list by their names.
func (m *merged) entriesOf(l list) map[string]*stanza {
	switch l.plural {
	case contexts.plural:
		return m.contexts
	case clusters.plural:
		return m.clusters
	}
	return m.users
}

// own returns the value of a field of the mapping n itself; nil if it has none.
func own(n *yaml.Node, name string) *yaml.Node {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key := n.Content[i]; key.Kind == yaml.ScalarNode && key.Value == name && key.Tag != "!!merge" {
			return n.Content[i+1]
		}
	}
	return nil
}

// setField sets or removes a field of the mapping n, and reports whether that changes anything.
func setField(n *yaml.Node, f field) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key := n.Content[i]; key.Kind != yaml.ScalarNode || key.Value != f.name || key.Tag == "!!merge" {
			continue
		}
		old := n.Content[i+1]
		switch {
		case f.value == nil:
			n.Content = slices.Delete(n.Content, i, i+2)
		case same(old, f.value):
			return false
		default:
			f.value.HeadComment, f.value.LineComment, f.value.FootComment = old.HeadComment, old.LineComment, old.FootComment
			n.Content[i+1] = f.value
		}
		return true
	}
	if f.value == nil {
		return false
	}
	if len(n.Content) == 0 {
		n.Style &^= yaml.FlowStyle
	}
	n.Content = append(n.Content, quotedNode(f.name), f.value)
	return true
}

// isPlain reports whether n is independent: it has no aliases, anchors or merge keys.
func isPlain(n *yaml.Node) bool {
	if n.Anchor != "" || n.Kind == yaml.AliasNode || hasMergeKey(n) {
		return false
	}
	return !slices.ContainsFunc(n.Content, func(child *yaml.Node) bool { return !isPlain(child) })
}

func hasMergeKey(n *yaml.Node) bool {
	return n.Kind == yaml.MappingNode && slices.ContainsFunc(n.Content, func(c *yaml.Node) bool { return c.Tag == "!!merge" })
}

// same reports whether two nodes are equal except for style and comments.
func same(a, b *yaml.Node) bool {
	return a.Kind == b.Kind && a.ShortTag() == b.ShortTag() && a.Value == b.Value && a.Anchor == b.Anchor &&
		slices.EqualFunc(a.Content, b.Content, same)
}

// encode returns the new content of the file. It parses the result again: it returns an error if Load could not read
// the file, or if it would differ from what the change intends.
func (d *document) encode() ([]byte, error) {
	mark := bytes.HasPrefix(d.data, []byte(byteOrderMark))
	text := bytes.TrimPrefix(d.data, []byte(byteOrderMark))
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return nil, d.fail("", "", errEncoding)
	}
	var out []byte
	var err error
	if d.isJSON {
		out, err = encodeJSON(d.docs[0].Content[0], text)
	} else {
		out, err = d.encodeYAML(text)
		if err == nil && !d.keepsComments(text) {
			err = errNotSame
		}
	}
	if err != nil {
		return nil, d.fail("", "", err)
	}
	if mark {
		out = append([]byte(byteOrderMark), out...)
	}
	docs, isJSON, err := documents(d.src, out)
	if err != nil {
		return nil, err
	}
	if isJSON != d.isJSON || !slices.EqualFunc(docs, d.docs, same) {
		return nil, d.fail("", "", errNotSame)
	}
	return out, nil
}

var errNotSame = errors.New("cannot be changed without changing other parts of the file; edit it by hand")
