package patch

import (
	"bytes"
	"slices"

	"github.com/bowline-go/bowline/internal/jsonlex"
)

// absent is what is merged into where there is nothing yet.
var absent = (&source{text: []byte("null"), end: 4}).root()

// made returns the value that is written in text, which is well-formed.
func made(text []byte) node {
	s, _ := tokenize(text)
	return s.root()
}

func listOf(items []node) node { return node{branch: &branch{list: true, items: items}} }

// written returns the value without what was looked into, if it is from a source: then changing it changes nothing else. The
// value must be as it was there.
func (n node) written() node {
	if n.from != nil {
		n.branch = nil
	}
	return n
}

// lookup returns a member of an object, which it does not open.
func (n *node) lookup(name string) (node, bool) {
	switch b := n.branch; {
	case b != nil:
		if i := b.find(name); i >= 0 {
			return b.members[i].value, true
		}
		return node{}, false
	case n.kind() != '{':
		return node{}, false
	}
	var found node
	for c := n.parts(); ; {
		member, ok := c.next()
		if !ok {
			return found, found.from != nil
		}
		value, _ := c.next()
		if string(n.from.string(member.at)) == name {
			found = value
		}
	}
}

// word returns what a member says that is a string, and nothing for any other and where there is none.
func (n *node) word(name string) string {
	v, ok := n.lookup(name)
	if !ok || v.kind() != '"' {
		return ""
	}
	return string(v.unquoted())
}

// each yields the members of an object that are not gone.
func (b *branch) each(yield func(m *member) bool) {
	for i := range b.members {
		if m := &b.members[i]; !m.gone && !yield(m) {
			return
		}
	}
}

// alike is same where numbers are equal only if they are spelt alike.
func alike(a, b *node) bool { return sameBy(a, b, bytes.Equal) }

// unchanged tells of two values from sources, which are as they were there, whether they are written alike. If they are not
// they may still be the same.
func unchanged(a, b *node) bool { return bytes.Equal(a.text(), b.text()) }

// put gives a member the name and a value, whether it is there or not.
func (b *branch) put(m *member, value node) {
	if i := b.find(string(m.name)); i >= 0 {
		b.members[i].value = value
		return
	}
	b.add(member{name: m.name, raw: m.raw, value: value})
}

// copied returns an object with the same members. Those from a source are as they were there.
func (b *branch) copied() *branch {
	out := &branch{members: make([]member, 0, len(b.members)+1)}
	for m := range b.each {
		out.members = append(out.members, member{name: m.name, raw: m.raw, value: m.value.written()})
	}
	return out
}

// scalar returns the text of a string, and any other value as it is written.
func (n *node) scalar() string {
	switch n.kind() {
	case '"':
		return string(n.unquoted())
	case '{', '[':
		return string(n.appendSorted(nil))
	}
	return string(n.text())
}

// appendSorted appends a value in one way, whatever the order of members and the spelling of strings.
func (n *node) appendSorted(dst []byte) []byte {
	switch n.kind() {
	case '{':
		var members []*member
		for m := range n.open().each {
			members = append(members, m)
		}
		slices.SortFunc(members, func(a, b *member) int { return bytes.Compare(a.name, b.name) })
		dst = append(dst, '{')
		for _, m := range members {
			dst = append(m.value.appendSorted(append(jsonlex.AppendQuoted(dst, m.name), ':')), ',')
		}
		return append(dst, '}')
	case '[':
		dst = append(dst, '[')
		items := n.open().items
		for i := range items {
			dst = append(items[i].appendSorted(dst), ',')
		}
		return append(dst, ']')
	case '"':
		return jsonlex.AppendQuoted(dst, n.unquoted())
	}
	return append(dst, n.text()...)
}
