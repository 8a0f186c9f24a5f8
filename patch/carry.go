package patch

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
)

// Carry makes to live the change that leads from before to after, and returns the result. before is what a program saw of
// live, and after what it made of it; both may lack what the program has no field for. Whatever live has that neither of
// them names survives.
//
// Members that after no longer has are removed. An element of a list is the one that it was before if it is unchanged, or
// else has the same name (its member "name", or where it has none "key", or else "type"), or else, among elements without
// one in a list that kept its length, stands at the same place; what live has of it survives. Any other element is written
// as after has it. Members stay where they are in live, and new ones follow them. It is an error if one of the documents is not
// a JSON object.
func Carry(live, before, after []byte) ([]byte, error) {
	var docs [3]node
	for i, doc := range [3]struct {
		what string
		body []byte
	}{{"the live object", live}, {"the object before the change", before}, {"the object after the change", after}} {
		s, err := read(doc.what, doc.body)
		if err != nil {
			return nil, fmt.Errorf("patch: %w", err)
		}
		if docs[i] = s.root(); docs[i].kind() != '{' {
			return nil, errors.New("patch: " + doc.what + " is not a JSON object")
		}
	}
	carry(&docs[0], &docs[1], &docs[2])
	out, err := docs[0].appendTo(make([]byte, 0, len(live)+len(after)), 0)
	if err != nil {
		return nil, fmt.Errorf("patch: %w", err)
	}
	return out, nil
}

// carry changes live, or returns what is to replace it. What is not replaced stays, also if it is not there at all, as nil: a
// program often writes the zero value of what it has not read. Objects are looked at once, however deep they are.
func carry(live, before, after *node) (_ node, replaced bool) {
	if unchanged(before, after) {
		return node{}, false
	}
	if kind := after.kind(); live != nil && live.kind() == kind && before.kind() == kind {
		if kind == '{' {
			carryMembers(live.open(), before.open(), after.open())
			return node{}, false
		}
		if kind == '[' && len(live.open().items) == len(before.open().items) {
			return carryList(live.branch.items, before.branch.items, after.open().items)
		}
	}
	return after.written(), !alike(before, after)
}

func carryMembers(live, before, after *branch) {
	for i := range before.members {
		if m := &before.members[i]; !m.gone && after.findFrom(i, string(m.name)) < 0 {
			if at := live.find(string(m.name)); at >= 0 {
				live.remove(at)
			}
		}
	}
	for i := range after.members {
		m := &after.members[i]
		if m.gone {
			continue
		}
		value, replaced := m.value.written(), true
		if was := before.findFrom(i, string(m.name)); was >= 0 {
			var there *node
			if at := live.find(string(m.name)); at >= 0 {
				there = &live.members[at].value
			}
			value, replaced = carry(there, &before.members[was].value, &m.value)
		}
		if replaced {
			live.put(m, value)
		}
	}
}

// carryList makes a list of after's elements, each with what live has of the element of before that it was.
func carryList(live, before, after []node) (_ node, replaced bool) {
	out := make([]node, len(after))
	replaced = len(before) != len(after)
	for i, j := range pair(before, after) {
		if j < 0 {
			out[i], replaced = after[i].written(), true
			continue
		}
		value, isNew := carry(&live[j], &before[j], &after[i])
		if !isNew {
			value = live[j]
		}
		out[i], replaced = value, replaced || isNew || i != j
	}
	return listOf(out), replaced
}

// pair says of each element of after which element of before it was, or -1.
func pair(before, after []node) []int {
	p := pairing{before: before, after: after, from: make([]int, len(after)), used: make([]bool, len(before))}
	for i := range p.from {
		p.from[i] = -1
	}
	p.inPlace()
	p.moved()
	p.byName()
	if len(before) == len(after) {
		for i := range after {
			if p.from[i] < 0 && !p.used[i] && nameOf(&after[i]) == "" && nameOf(&before[i]) == "" {
				p.take(i, i)
			}
		}
	}
	return p.from
}

// pairing is a pair that is being made: from is its result so far, and used tells which elements of before are in it.
type pairing struct {
	before, after []node
	from          []int
	used          []bool
}

func (p *pairing) take(i, j int) { p.from[i], p.used[j] = j, true }

// inPlace takes what is unchanged at the start, at the end, and, if no element came or went, in between.
func (p *pairing) inPlace() {
	b, a := len(p.before), len(p.after)
	start := 0
	for start < min(a, b) && alike(&p.before[start], &p.after[start]) {
		p.take(start, start)
		start++
	}
	for b > start && a > start && alike(&p.before[b-1], &p.after[a-1]) {
		b, a = b-1, a-1
		p.take(a, b)
	}
	if a != b {
		return
	}
	for i := start; i < a; i++ {
		if alike(&p.before[i], &p.after[i]) {
			p.take(i, i)
		}
	}
}

// moved takes what is unchanged at another place; of equal elements the first was the first.
func (p *pairing) moved() {
	left := 0
	for _, j := range p.from {
		if j < 0 {
			left++
		}
	}
	if left == 1 && len(p.before) == len(p.after) {
		return // the only one that is left was looked at in its place
	}
	text := func(v *node) string { return string(v.appendSorted(nil)) }
	places := p.left(text)
	for i := range p.after {
		if p.from[i] >= 0 || len(places) == 0 {
			continue
		}
		key := text(&p.after[i])
		if at := places[key]; len(at) > 0 {
			p.take(i, at[0])
			places[key] = at[1:]
		}
	}
}

// byName takes what has the same name. Where several have it, as the mounts of one volume, it is the one at the same place
// if no element came or went, and otherwise the one that has most in common, among the first hundred.
func (p *pairing) byName() {
	places := p.left(nameOf)
	for i := range p.after {
		v := &p.after[i]
		name := nameOf(v)
		at := places[name]
		if p.from[i] >= 0 || name == "" || len(at) == 0 {
			continue
		}
		best, ok := slices.BinarySearch(at, i)
		if !ok || len(p.before) != len(p.after) {
			best = 0
			for k, most := 0, -1; k < min(len(at), 100); k++ {
				if n := common(&p.before[at[k]], v); n > most {
					best, most = k, n
				}
			}
		}
		p.take(i, at[best])
		places[name] = slices.Delete(at, best, best+1)
	}
}

// left returns the places of the elements of before that are not taken, by what key says of them, unless that is empty. It
// is nil if none of after's is left either.
func (p *pairing) left(key func(*node) string) map[string][]int {
	if !slices.Contains(p.from, -1) {
		return nil
	}
	places := make(map[string][]int)
	for j := range p.before {
		if p.used[j] {
			continue
		}
		if k := key(&p.before[j]); k != "" {
			places[k] = append(places[k], j)
		}
	}
	return places
}

// nameOf returns what tells an element from the others in most of the API's lists of objects, or nothing.
func nameOf(v *node) string {
	for _, member := range [...]string{"name", "key", "type"} {
		if name, ok := v.lookup(member); ok && name.kind() == '"' {
			return member + " " + string(name.from.string(name.at))
		}
	}
	return ""
}

// common counts the members that two objects agree on.
func common(a, b *node) int {
	n := 0
	if a.kind() != '{' || b.kind() != '{' {
		return n
	}
	other := b.open()
	for m := range a.open().each {
		if i := other.find(string(m.name)); i >= 0 && alike(&m.value, &other.members[i].value) {
			n++
		}
	}
	return n
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
			dst = append(m.value.appendSorted(append(appendQuoted(dst, m.name), ':')), ',')
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
		return appendQuoted(dst, n.from.string(n.at))
	}
	return append(dst, n.text()...)
}
