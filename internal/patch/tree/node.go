package tree

import (
	"bytes"

	"github.com/bowline-go/bowline/internal/jsonlex"
)

// Node is a JSON value: a text in a source or, once it is opened, a branch that can change.
type Node struct {
	From    *Source // nil if the value is not from a source
	At, End uint32  // its place in the source
	Branch  *Branch // of an object or list that was opened; nil for any other value
}

// Branch is an object or a list, whose parts are nodes. Use its methods to add and remove members, because they update
// the index.
type Branch struct {
	List    bool           // it is a list, not an object
	Members []Member       // of an object, including those that are gone
	places  map[string]int // the index of its members; nil while they are few or seldom searched
	asked   int            // how often the members of a larger object were searched from end to end
	Items   []Node         // of a list
}

// Member is a member of an object.
type Member struct {
	Name  []byte // must not be changed: it may be part of the text
	Raw   string // the name as it is written, unless that is just Name between quotes
	Value Node
	Gone  bool // it was removed, or a later member has the name
}

// fewMembers is the maximal number of members that are searched for a name from end to end.
const fewMembers = 16

// fewSearches is how many such searches a larger object gets before it is indexed: an index takes more room than the
// members.
const fewSearches = 4

// Root returns the value of the text.
func (s *Source) Root() Node { return Node{From: s, At: s.start, End: s.end} }

// Kind is the first byte of the value's text, with '0' for all numbers.
func (n Node) Kind() byte {
	if n.Branch != nil {
		if n.Branch.List {
			return '['
		}
		return '{'
	}
	c := n.From.Text[n.At]
	if c == '-' || jsonlex.IsDigit(c) {
		return '0'
	}
	return c
}

// Text returns the value as it is written. n must not be a branch.
func (n Node) Text() []byte { return n.From.Text[n.At:n.End:n.End] }

// span returns the text, and its start in the source.
func (n Node) span() (start int, text []byte) { return int(n.At), n.Text() }

// Open opens the object or list and returns it, or nil for any other value. If members have the same name, the last
// counts.
func (n *Node) Open() *Branch {
	if n.Branch != nil {
		return n.Branch
	}
	kind := n.From.Text[n.At]
	if kind != '[' && kind != '{' {
		return nil
	}
	count := 0
	for c := n.Parts(); ; count++ {
		if _, ok := c.Next(); !ok {
			break
		}
	}
	if kind == '{' {
		n.Branch = &Branch{Members: AppendMembers(make([]Member, 0, count/2+1), *n)}
		n.Branch.unite()
		return n.Branch
	}
	b := &Branch{List: true, Items: make([]Node, 0, count+1)}
	for c := n.Parts(); ; {
		item, ok := c.Next()
		if !ok {
			break
		}
		b.Items = append(b.Items, item)
	}
	n.Branch = b
	return b
}

// AppendMembers appends the members of an object that is not opened.
func AppendMembers(members []Member, n Node) []Member {
	for c := n.Parts(); ; {
		name, ok := c.Next()
		if !ok {
			return members
		}
		value, _ := c.Next()
		m := Member{Value: value}
		if raw := name.Text(); jsonlex.IsPlain(raw) {
			m.Name = raw[1 : len(raw)-1]
		} else {
			m.Name, m.Raw = unquote(raw), string(raw)
		}
		members = append(members, m)
	}
}

// unite marks as gone the members whose name a later member has too.
func (b *Branch) unite() {
	ascending := true
	for i := 1; i < len(b.Members) && ascending; i++ {
		ascending = bytes.Compare(b.Members[i-1].Name, b.Members[i].Name) < 0
	}
	switch {
	case ascending:
	case len(b.Members) > fewMembers:
		b.locate()
	default:
		for i := range b.Members {
			for j := i + 1; j < len(b.Members); j++ {
				if bytes.Equal(b.Members[i].Name, b.Members[j].Name) {
					b.Members[i].Gone = true
					break
				}
			}
		}
	}
}

// locate indexes all members.
func (b *Branch) locate() {
	b.places = make(map[string]int, len(b.Members))
	for i := range b.Members {
		m := &b.Members[i]
		if m.Gone {
			continue
		}
		if earlier, ok := b.places[string(m.Name)]; ok {
			b.Members[earlier].Gone = true
		}
		b.places[string(m.Name)] = i
	}
}

// Find returns the index of a member, or -1.
func (b *Branch) Find(name string) int { return b.FindFrom(0, name) }

// FindFrom is Find, but looks at a likely index first.
func (b *Branch) FindFrom(likely int, name string) int {
	if likely < len(b.Members) && string(b.Members[likely].Name) == name && !b.Members[likely].Gone {
		return likely
	}
	if b.places == nil && len(b.Members) > fewMembers {
		if b.asked++; b.asked > fewSearches {
			b.locate()
		}
	}
	if b.places != nil {
		if i, ok := b.places[name]; ok {
			return i
		}
		return -1
	}
	for i := range b.Members {
		if m := &b.Members[i]; !m.Gone && string(m.Name) == name {
			return i
		}
	}
	return -1
}

// Remove removes the member at an index that Find returned.
func (b *Branch) Remove(i int) {
	b.Members[i].Gone = true
	b.Members[i].Value = Node{}
	if b.places != nil {
		delete(b.places, string(b.Members[i].Name))
	}
}

// Set sets a member, or adds it if it is not there.
func (b *Branch) Set(name string, value Node) {
	if i := b.Find(name); i >= 0 {
		b.Members[i].Value = value
		return
	}
	b.Add(Member{Name: []byte(name), Value: value})
}

// Add adds a member that is not there.
func (b *Branch) Add(m Member) {
	if m.Raw == "" && needsQuoting(m.Name) {
		m.Raw = string(jsonlex.AppendQuoted(nil, m.Name))
	}
	if b.places != nil {
		b.places[string(m.Name)] = len(b.Members)
	}
	b.Members = append(b.Members, m)
}

// needsQuoting reports whether the JSON of a name may differ from the name between quotes.
func needsQuoting(name []byte) bool {
	for _, c := range name {
		if c < ' ' || c == '"' || c == '\\' || c > '~' {
			return true
		}
	}
	return false
}

// Clone returns a copy that shares nothing with n that can change.
func (n Node) Clone() Node {
	b := n.Branch
	if b == nil {
		return n
	}
	c := &Branch{List: b.List}
	if b.List {
		c.Items = make([]Node, len(b.Items))
		for i, item := range b.Items {
			c.Items[i] = item.Clone()
		}
	} else {
		c.Members = make([]Member, 0, len(b.Members))
		for _, m := range b.Members {
			if !m.Gone {
				m.Value = m.Value.Clone()
				c.Members = append(c.Members, m)
			}
		}
	}
	return Node{Branch: c}
}

// Size estimates how many bytes the text of a value has; the estimate is never less than the text. level is the number
// of objects and lists around it. It returns an error if the value nests too deep.
func (n Node) Size(level int) (int, error) {
	b := n.Branch
	if b == nil {
		return len(n.Text()), nil
	}
	if level >= maxLevels {
		return 0, errResultDepth
	}
	total := 2
	for _, item := range b.Items {
		size, err := item.Size(level + 1)
		if err != nil {
			return 0, err
		}
		total += size + 1
	}
	for i := range b.Members {
		m := &b.Members[i]
		if m.Gone {
			continue
		}
		size, err := m.Value.Size(level + 1)
		if err != nil {
			return 0, err
		}
		total += max(len(m.Name), len(m.Raw)) + 4 + size
	}
	return total, nil
}

// AppendTo appends the value without white space. level is the number of objects and lists around it.
func (n Node) AppendTo(dst []byte, level int) ([]byte, error) {
	b := n.Branch
	if b == nil {
		if level+n.From.Depth > maxLevels && level+depthOf(n.Text()) > maxLevels {
			return nil, errResultDepth
		}
		if n.From.Spaces {
			return jsonlex.AppendCompact(dst, n.Text()), nil
		}
		return append(dst, n.Text()...), nil
	}
	if level >= maxLevels {
		return nil, errResultDepth
	}
	var err error
	if b.List {
		dst = append(dst, '[')
		for i, item := range b.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			if dst, err = item.AppendTo(dst, level+1); err != nil {
				return nil, err
			}
		}
		return append(dst, ']'), nil
	}
	dst = append(dst, '{')
	first := true
	for i := range b.Members {
		m := &b.Members[i]
		if m.Gone {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		if dst, err = m.Value.AppendTo(append(m.AppendName(dst), ':'), level+1); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

var errResultDepth = Errorf(ErrTooLarge, "the result is too large: it nests deeper than %d", maxLevels)

func (m *Member) AppendName(dst []byte) []byte {
	if m.Raw != "" {
		return append(dst, m.Raw...)
	}
	return append(append(append(dst, '"'), m.Name...), '"')
}

// depthOf returns the nesting of a well-formed text.
func depthOf(text []byte) int {
	depth, deepest, inString := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			inString = !inString
		case c == '\\':
			i++
		case inString:
		case c == '{', c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}', c == ']':
			depth--
		}
	}
	return deepest
}
