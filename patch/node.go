package patch

import (
	"bytes"

	"github.com/bowline-go/bowline/internal/jsonlex"
)

// node is a value of JSON: as it is written in a source, or, once it has to be looked into, as a branch that can change.
type node struct {
	From    *source
	At, End uint32 // where it is written in the source
	Branch  *branch
}

// branch is an object or a list, whose parts are nodes.
type branch struct {
	List    bool
	Members []member       // of an object, with those that are gone
	places  map[string]int // of its members; nil while they are few, or have been searched seldom
	asked   int            // how often members that are not few were searched from end to end
	Items   []node         // of a list
}

// member is a member of an object.
type member struct {
	Name  []byte
	Raw   string // the name as it is written, if that is not the name between quotes
	Value node
	Gone  bool
}

// fewMembers is up to how many members an object is searched for a name from end to end.
const fewMembers = 16

// fewSearches is how many names are searched so among many members: their places take more room than the members do.
const fewSearches = 4

func (s *source) Root() node { return node{From: s, At: s.start, End: s.end} }

// kind is the first byte of the value's text, with '0' for all numbers.
func (n node) Kind() byte {
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

// text returns the value as it is written. It is not a branch.
func (n node) Text() []byte { return n.From.Text[n.At:n.End:n.End] }

// span returns the text, and where it starts in its source.
func (n node) span() (start int, text []byte) { return int(n.At), n.Text() }

// open returns the object or list to look into or to change; nil for anything else. Of members with one name the last
// counts.
func (n *node) Open() *branch {
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
		n.Branch = &branch{Members: appendMembers(make([]member, 0, count/2+1), *n)}
		n.Branch.unite()
		return n.Branch
	}
	b := &branch{List: true, Items: make([]node, 0, count+1)}
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

// appendMembers appends the members of an object that is no branch.
func appendMembers(members []member, n node) []member {
	for c := n.Parts(); ; {
		name, ok := c.Next()
		if !ok {
			return members
		}
		value, _ := c.Next()
		m := member{Value: value}
		if raw := name.Text(); jsonlex.IsPlain(raw) {
			m.Name = raw[1 : len(raw)-1]
		} else {
			m.Name, m.Raw = unquote(raw), string(raw)
		}
		members = append(members, m)
	}
}

// unite marks members as gone whose name a later one has.
func (b *branch) unite() {
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

// locate notes the places of all members.
func (b *branch) locate() {
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

// find returns the place of a member, or -1.
func (b *branch) Find(name string) int { return b.FindFrom(0, name) }

// findFrom is find that looks at a likely place first.
func (b *branch) FindFrom(likely int, name string) int {
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

// remove takes out the member at a place that find returned.
func (b *branch) Remove(i int) {
	b.Members[i].Gone = true
	b.Members[i].Value = node{}
	if b.places != nil {
		delete(b.places, string(b.Members[i].Name))
	}
}

// set gives a member its value, and adds it if it is not there.
func (b *branch) Set(name string, value node) {
	if i := b.Find(name); i >= 0 {
		b.Members[i].Value = value
		return
	}
	b.Add(member{Name: []byte(name), Value: value})
}

// add adds a member that is not there.
func (b *branch) Add(m member) {
	if m.Raw == "" && needsQuoting(m.Name) {
		m.Raw = string(jsonlex.AppendQuoted(nil, m.Name))
	}
	if b.places != nil {
		b.places[string(m.Name)] = len(b.Members)
	}
	b.Members = append(b.Members, m)
}

// needsQuoting reports whether a name is written differently in JSON.
func needsQuoting(name []byte) bool {
	for _, c := range name {
		if c < ' ' || c == '"' || c == '\\' || c > '~' {
			return true
		}
	}
	return false
}

// clone returns a copy that has nothing in common with n that can change.
func (n node) Clone() node {
	b := n.Branch
	if b == nil {
		return n
	}
	c := &branch{List: b.List}
	if b.List {
		c.Items = make([]node, len(b.Items))
		for i, item := range b.Items {
			c.Items[i] = item.Clone()
		}
	} else {
		c.Members = make([]member, 0, len(b.Members))
		for _, m := range b.Members {
			if !m.Gone {
				m.Value = m.Value.Clone()
				c.Members = append(c.Members, m)
			}
		}
	}
	return node{Branch: c}
}

// size returns about how many bytes a value takes that lies within level objects and lists, and no less than it is written
// with, or an error if it is too deep to be looked at.
func (n node) Size(level int) (int, error) {
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

// appendTo appends the value, which lies within level objects and lists. Nothing else is written with white space.
func (n node) AppendTo(dst []byte, level int) ([]byte, error) {
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

var errResultDepth = describe(errBeyond, "the result is too large: it nests deeper than %d", maxLevels)

func (m *member) AppendName(dst []byte) []byte {
	if m.Raw != "" {
		return append(dst, m.Raw...)
	}
	return append(append(append(dst, '"'), m.Name...), '"')
}

// depthOf returns how deep a well-formed text nests.
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
