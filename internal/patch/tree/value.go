package tree

import (
	"bytes"
	"slices"

	"github.com/bowline-go/bowline/internal/jsonlex"
)

// Absent returns the target of a merge where nothing exists yet.
func Absent() Node { return absent }

var absent = (&Source{Text: []byte("null"), end: 4}).Root()

// Literal returns the value of a well-formed text.
func Literal(text []byte) Node {
	s, _ := tokenize(text)
	return s.Root()
}

// ListOf returns the list of the items.
func ListOf(items []Node) Node { return Node{Branch: &Branch{List: true, Items: items}} }

// Written returns the value without its branch, if it is from a source, so that changes to the result do not affect
// other users of the value. The value must equal its text in the source.
func (n Node) Written() Node {
	if n.From != nil {
		n.Branch = nil
	}
	return n
}

// Lookup returns a member of an object, which it does not open.
func (n *Node) Lookup(name string) (Node, bool) {
	switch b := n.Branch; {
	case b != nil:
		if i := b.Find(name); i >= 0 {
			return b.Members[i].Value, true
		}
		return Node{}, false
	case n.Kind() != '{':
		return Node{}, false
	}
	var found Node
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

// Word returns the content of a member that is a string, or "" for any other value and if there is none.
func (n *Node) Word(name string) string {
	v, ok := n.Lookup(name)
	if !ok || v.Kind() != '"' {
		return ""
	}
	return string(v.Unquoted())
}

// Each yields the members of an object that are not gone.
func (b *Branch) Each(yield func(m *Member) bool) {
	for i := range b.Members {
		if m := &b.Members[i]; !m.Gone && !yield(m) {
			return
		}
	}
}

// Alike is [Same], except that numbers are equal only if their texts are.
func Alike(a, b *Node) bool { return sameBy(a, b, bytes.Equal) }

// Unchanged reports whether two values from sources have the same text. Both must equal their texts in the sources. If
// the texts differ, the values may still be equal.
func Unchanged(a, b *Node) bool { return bytes.Equal(a.Text(), b.Text()) }

// Put sets the member with m's name to a value, or adds it if it is not there.
func (b *Branch) Put(m *Member, value Node) {
	if i := b.Find(string(m.Name)); i >= 0 {
		b.Members[i].Value = value
		return
	}
	b.Add(Member{Name: m.Name, Raw: m.Raw, Value: value})
}

// Copied returns an object with the same members. Those from a source must equal their texts there.
func (b *Branch) Copied() *Branch {
	out := &Branch{Members: make([]Member, 0, len(b.Members)+1)}
	for m := range b.Each {
		out.Members = append(out.Members, Member{Name: m.Name, Raw: m.Raw, Value: m.Value.Written()})
	}
	return out
}

// Scalar returns the content of a string, and the text of any other scalar. For an object or a list, it returns what
// AppendSorted appends.
func (n *Node) Scalar() string {
	switch n.Kind() {
	case '"':
		return string(n.Unquoted())
	case '{', '[':
		return string(n.AppendSorted(nil))
	}
	return string(n.Text())
}

// AppendSorted appends a value in a canonical form, independent of the order of members and the spelling of strings
// and numbers.
func (n *Node) AppendSorted(dst []byte) []byte {
	switch n.Kind() {
	case '{':
		members := slices.SortedFunc(n.Open().Each, func(a, b *Member) int { return bytes.Compare(a.Name, b.Name) })
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
	case '0':
		return appendNumber(dst, n.Text())
	}
	return append(dst, n.Text()...)
}

// IsZero reports whether the value is null, 0, or an empty string, list or object. It is false for the boolean false.
func (n *Node) IsZero() bool {
	switch n.Kind() {
	case '{', '[':
		b := n.Open()
		return b.Len() == 0 && len(b.Items) == 0
	case '"':
		return len(n.Unquoted()) == 0
	case '0':
		return string(n.Text()) == "0"
	}
	return n.Kind() == 'n'
}
