package patch

import (
	"bytes"
	"slices"

	"github.com/bowline-go/bowline/internal/jsonlex"
)

// absent is what is merged into where there is nothing yet.
var absent = (&source{Text: []byte("null"), end: 4}).Root()

// made returns the value that is written in text, which is well-formed.
func made(text []byte) node {
	s, _ := tokenize(text)
	return s.Root()
}

func listOf(items []node) node { return node{Branch: &branch{List: true, Items: items}} }

// written returns the value without what was looked into, if it is from a source: then changing it changes nothing else. The
// value must be as it was there.
func (n node) Written() node {
	if n.From != nil {
		n.Branch = nil
	}
	return n
}

// lookup returns a member of an object, which it does not open.
func (n *node) Lookup(name string) (node, bool) {
	switch b := n.Branch; {
	case b != nil:
		if i := b.Find(name); i >= 0 {
			return b.Members[i].Value, true
		}
		return node{}, false
	case n.Kind() != '{':
		return node{}, false
	}
	var found node
	for c := n.Parts(); ; {
		member, ok := c.Next()
		if !ok {
			return found, found.From != nil
		}
		value, _ := c.Next()
		if string(n.From.string(member.At)) == name {
			found = value
		}
	}
}

// word returns what a member says that is a string, and nothing for any other and where there is none.
func (n *node) Word(name string) string {
	v, ok := n.Lookup(name)
	if !ok || v.Kind() != '"' {
		return ""
	}
	return string(v.Unquoted())
}

// each yields the members of an object that are not gone.
func (b *branch) Each(yield func(m *member) bool) {
	for i := range b.Members {
		if m := &b.Members[i]; !m.Gone && !yield(m) {
			return
		}
	}
}

// alike is same where numbers are equal only if they are spelt alike.
func alike(a, b *node) bool { return sameBy(a, b, bytes.Equal) }

// unchanged tells of two values from sources, which are as they were there, whether they are written alike. If they are not
// they may still be the same.
func unchanged(a, b *node) bool { return bytes.Equal(a.Text(), b.Text()) }

// put gives a member the name and a value, whether it is there or not.
func (b *branch) Put(m *member, value node) {
	if i := b.Find(string(m.Name)); i >= 0 {
		b.Members[i].Value = value
		return
	}
	b.Add(member{Name: m.Name, Raw: m.Raw, Value: value})
}

// copied returns an object with the same members. Those from a source are as they were there.
func (b *branch) Copied() *branch {
	out := &branch{Members: make([]member, 0, len(b.Members)+1)}
	for m := range b.Each {
		out.Members = append(out.Members, member{Name: m.Name, Raw: m.Raw, Value: m.Value.Written()})
	}
	return out
}

// scalar returns the text of a string, and any other value as it is written.
func (n *node) Scalar() string {
	switch n.Kind() {
	case '"':
		return string(n.Unquoted())
	case '{', '[':
		return string(n.AppendSorted(nil))
	}
	return string(n.Text())
}

// appendSorted appends a value in one way, whatever the order of members and the spelling of strings.
func (n *node) AppendSorted(dst []byte) []byte {
	switch n.Kind() {
	case '{':
		var members []*member
		for m := range n.Open().Each {
			members = append(members, m)
		}
		slices.SortFunc(members, func(a, b *member) int { return bytes.Compare(a.Name, b.Name) })
		dst = append(dst, '{')
		for _, m := range members {
			dst = append(m.Value.AppendSorted(append(jsonlex.AppendQuoted(dst, m.Name), ':')), ',')
		}
		return append(dst, '}')
	case '[':
		dst = append(dst, '[')
		items := n.Open().Items
		for i := range items {
			dst = append(items[i].AppendSorted(dst), ',')
		}
		return append(dst, ']')
	case '"':
		return jsonlex.AppendQuoted(dst, n.Unquoted())
	}
	return append(dst, n.Text()...)
}
