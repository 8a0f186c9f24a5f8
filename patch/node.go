package patch

import (
	"bytes"

	"github.com/bowline-go/bowline/internal/jsonlex"
)

// node is a value of JSON: as it is written in a source, or, once it has to be looked into, as a branch that can change.
type node struct {
	from    *source
	at, end uint32 // where it is written in the source
	branch  *branch
}

// branch is an object or a list, whose parts are nodes.
type branch struct {
	list    bool
	members []member       // of an object, with those that are gone
	places  map[string]int // of its members; nil while they are few, or have been searched seldom
	asked   int            // how often members that are not few were searched from end to end
	items   []node         // of a list
}

// member is a member of an object.
type member struct {
	name  []byte
	raw   string // the name as it is written, if that is not the name between quotes
	value node
	gone  bool
}

// fewMembers is up to how many members an object is searched for a name from end to end.
const fewMembers = 16

// fewSearches is how many names are searched so among many members: their places take more room than the members do.
const fewSearches = 4

func (s *source) root() node { return node{from: s, at: s.start, end: s.end} }

// kind is the first byte of the value's text, with '0' for all numbers.
func (n node) kind() byte {
	if n.branch != nil {
		if n.branch.list {
			return '['
		}
		return '{'
	}
	c := n.from.text[n.at]
	if c == '-' || jsonlex.IsDigit(c) {
		return '0'
	}
	return c
}

// text returns the value as it is written. It is not a branch.
func (n node) text() []byte { return n.from.text[n.at:n.end:n.end] }

// span returns the text, and where it starts in its source.
func (n node) span() (start int, text []byte) { return int(n.at), n.text() }

// open returns the object or list to look into or to change; nil for anything else. Of members with one name the last
// counts.
func (n *node) open() *branch {
	if n.branch != nil {
		return n.branch
	}
	kind := n.from.text[n.at]
	if kind != '[' && kind != '{' {
		return nil
	}
	count := 0
	for c := n.parts(); ; count++ {
		if _, ok := c.next(); !ok {
			break
		}
	}
	if kind == '{' {
		n.branch = &branch{members: appendMembers(make([]member, 0, count/2+1), *n)}
		n.branch.unite()
		return n.branch
	}
	b := &branch{list: true, items: make([]node, 0, count+1)}
	for c := n.parts(); ; {
		item, ok := c.next()
		if !ok {
			break
		}
		b.items = append(b.items, item)
	}
	n.branch = b
	return b
}

// appendMembers appends the members of an object that is no branch.
func appendMembers(members []member, n node) []member {
	for c := n.parts(); ; {
		name, ok := c.next()
		if !ok {
			return members
		}
		value, _ := c.next()
		m := member{value: value}
		if raw := name.text(); jsonlex.IsPlain(raw) {
			m.name = raw[1 : len(raw)-1]
		} else {
			m.name, m.raw = unquote(raw), string(raw)
		}
		members = append(members, m)
	}
}

// unite marks members as gone whose name a later one has.
func (b *branch) unite() {
	ascending := true
	for i := 1; i < len(b.members) && ascending; i++ {
		ascending = bytes.Compare(b.members[i-1].name, b.members[i].name) < 0
	}
	switch {
	case ascending:
	case len(b.members) > fewMembers:
		b.locate()
	default:
		for i := range b.members {
			for j := i + 1; j < len(b.members); j++ {
				if bytes.Equal(b.members[i].name, b.members[j].name) {
					b.members[i].gone = true
					break
				}
			}
		}
	}
}

// locate notes the places of all members.
func (b *branch) locate() {
	b.places = make(map[string]int, len(b.members))
	for i := range b.members {
		m := &b.members[i]
		if m.gone {
			continue
		}
		if earlier, ok := b.places[string(m.name)]; ok {
			b.members[earlier].gone = true
		}
		b.places[string(m.name)] = i
	}
}

// find returns the place of a member, or -1.
func (b *branch) find(name string) int { return b.findFrom(0, name) }

// findFrom is find that looks at a likely place first.
func (b *branch) findFrom(likely int, name string) int {
	if likely < len(b.members) && string(b.members[likely].name) == name && !b.members[likely].gone {
		return likely
	}
	if b.places == nil && len(b.members) > fewMembers {
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
	for i := range b.members {
		if m := &b.members[i]; !m.gone && string(m.name) == name {
			return i
		}
	}
	return -1
}

// remove takes out the member at a place that find returned.
func (b *branch) remove(i int) {
	b.members[i].gone = true
	b.members[i].value = node{}
	if b.places != nil {
		delete(b.places, string(b.members[i].name))
	}
}

// set gives a member its value, and adds it if it is not there.
func (b *branch) set(name string, value node) {
	if i := b.find(name); i >= 0 {
		b.members[i].value = value
		return
	}
	b.add(member{name: []byte(name), value: value})
}

// add adds a member that is not there.
func (b *branch) add(m member) {
	if m.raw == "" && needsQuoting(m.name) {
		m.raw = string(jsonlex.AppendQuoted(nil, m.name))
	}
	if b.places != nil {
		b.places[string(m.name)] = len(b.members)
	}
	b.members = append(b.members, m)
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
func (n node) clone() node {
	b := n.branch
	if b == nil {
		return n
	}
	c := &branch{list: b.list}
	if b.list {
		c.items = make([]node, len(b.items))
		for i, item := range b.items {
			c.items[i] = item.clone()
		}
	} else {
		c.members = make([]member, 0, len(b.members))
		for _, m := range b.members {
			if !m.gone {
				m.value = m.value.clone()
				c.members = append(c.members, m)
			}
		}
	}
	return node{branch: c}
}

// size returns about how many bytes a value takes that lies within level objects and lists, and no less than it is written
// with, or an error if it is too deep to be looked at.
func (n node) size(level int) (int, error) {
	b := n.branch
	if b == nil {
		return len(n.text()), nil
	}
	if level >= maxLevels {
		return 0, errResultDepth
	}
	total := 2
	for _, item := range b.items {
		size, err := item.size(level + 1)
		if err != nil {
			return 0, err
		}
		total += size + 1
	}
	for i := range b.members {
		m := &b.members[i]
		if m.gone {
			continue
		}
		size, err := m.value.size(level + 1)
		if err != nil {
			return 0, err
		}
		total += max(len(m.name), len(m.raw)) + 4 + size
	}
	return total, nil
}

// appendTo appends the value, which lies within level objects and lists. Nothing else is written with white space.
func (n node) appendTo(dst []byte, level int) ([]byte, error) {
	b := n.branch
	if b == nil {
		if level+n.from.depth > maxLevels && level+depthOf(n.text()) > maxLevels {
			return nil, errResultDepth
		}
		if n.from.spaces {
			return jsonlex.AppendCompact(dst, n.text()), nil
		}
		return append(dst, n.text()...), nil
	}
	if level >= maxLevels {
		return nil, errResultDepth
	}
	var err error
	if b.list {
		dst = append(dst, '[')
		for i, item := range b.items {
			if i > 0 {
				dst = append(dst, ',')
			}
			if dst, err = item.appendTo(dst, level+1); err != nil {
				return nil, err
			}
		}
		return append(dst, ']'), nil
	}
	dst = append(dst, '{')
	first := true
	for i := range b.members {
		m := &b.members[i]
		if m.gone {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		if dst, err = m.value.appendTo(append(m.appendName(dst), ':'), level+1); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

var errResultDepth = describe(errBeyond, "the result is too large: it nests deeper than %d", maxLevels)

func (m *member) appendName(dst []byte) []byte {
	if m.raw != "" {
		return append(dst, m.raw...)
	}
	return append(append(append(dst, '"'), m.name...), '"')
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
