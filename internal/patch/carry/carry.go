// Package carry applies the change between two documents to a third one, which has more members. Its [Pairer] matches
// the elements of two versions of a list.
package carry

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/bowline-go/bowline/internal/jsonlex"
	"github.com/bowline-go/bowline/internal/patch/tree"
)

// Change applies the change from before to after to live, and returns the result. before is the part of live that a
// program saw, and after is what the program made of it. Both may lack fields of live, because the program's
// type does not have them. Members of live that neither of them names stay.
//
// Change removes members that after no longer has. Members stay in their place in live, and new ones follow them. It
// is an error if one of the documents is not a JSON object.
//
// In a list, an element of after counts as the same as an element of before by the first of these rules that finds a
// match:
//
//   - Both are equal.
//   - Both have the same name: the member "name", or else "key", or else "type".
//   - Neither has a name, the list kept its length, and both have the same index.
//
// Such an element keeps its other members in live. Any other element is written as after has it.
func Change(live, before, after []byte) ([]byte, error) {
	var docs [3]tree.Node
	for i, doc := range [3]struct {
		what string
		body []byte
	}{{"the live object", live}, {"the object before the change", before}, {"the object after the change", after}} {
		s, err := tree.Read(doc.what, doc.body)
		if err != nil {
			return nil, fmt.Errorf("patch: %w", err)
		}
		if docs[i] = s.Root(); docs[i].Kind() != '{' {
			return nil, errors.New("patch: " + doc.what + " is not a JSON object")
		}
	}
	newCarrier().carry(&docs[0], &docs[1], &docs[2])
	size, err := docs[0].Size(0)
	if err != nil {
		return nil, fmt.Errorf("patch: %w", err)
	}
	out, err := docs[0].AppendTo(make([]byte, 0, size), 0)
	if err != nil {
		return nil, fmt.Errorf("patch: %w", err)
	}
	return out, nil
}

// carrier makes one change. It goes through before and after once.
type carrier struct{ *Pairer }

func newCarrier() *carrier { return &carrier{NewPairer()} }

// carry changes live, or returns its replacement. If replaced is false, the caller keeps live, and adds nothing if
// live is absent (nil): a program often writes the zero value of a field that it has not read. Each object is visited
// once, however deep it is.
func (c *carrier) carry(live, before, after *tree.Node) (_ tree.Node, replaced bool) {
	if c.run.Unchanged(before, after) {
		return tree.Node{}, false
	}
	if kind := after.Kind(); live != nil && live.Kind() == kind && before.Kind() == kind {
		if kind == '{' {
			if ascendInStep(before, after) {
				c.inStep(live, before, after)
			} else {
				c.members(live.Open(), before.Open(), after.Open())
			}
			return tree.Node{}, false
		}
		if kind == '[' && len(live.Open().Items) == len(before.Open().Items) {
			return c.list(live.Branch.Items, before.Branch.Items, after.Open().Items)
		}
	}
	return after.Written(), !c.prints.alike(before, after)
}

// ascendInStep reports whether two objects have the same members, sorted by name, as an encoded map does.
func ascendInStep(a, b *tree.Node) bool {
	if a.Branch != nil || b.Branch != nil {
		return false // they are already open
	}
	last := []byte(nil)
	for x, y := a.Parts(), b.Parts(); ; {
		name, left := x.Next()
		other, right := y.Next()
		if !left || !right {
			return left == right
		}
		text := name.Text()
		if !bytes.Equal(text, other.Text()) || !jsonlex.IsPlain(text) {
			return false
		}
		if text = text[1 : len(text)-1]; last != nil && bytes.Compare(last, text) >= 0 {
			return false
		}
		last = text
		x.Next()
		y.Next()
	}
}

// inStep does the same as members, for objects that ascend in step. It does not open them, because an open map of many
// short members takes several times its size.
func (c *carrier) inStep(live, before, after *tree.Node) {
	var was, is tree.Node // declared once for all members, because both escape to the heap
	x, y := before.Parts(), after.Parts()
	for i := 0; ; i++ {
		name, ok := y.Next()
		if !ok {
			return
		}
		x.Next()
		was, _ = x.Next()
		is, _ = y.Next()
		if c.run.Unchanged(&was, &is) {
			continue
		}
		text, object := name.Text(), live.Open()
		m := tree.Member{Name: text[1 : len(text)-1], Value: is}
		var there *tree.Node
		if at := object.FindFrom(i, string(m.Name)); at >= 0 {
			there = &object.Members[at].Value
		}
		if value, replaced := c.carry(there, &was, &is); replaced {
			object.Put(&m, value)
		}
	}
}

func (c *carrier) members(live, before, after *tree.Branch) {
	for i := range before.Members {
		if m := &before.Members[i]; !m.Gone && after.FindFrom(i, string(m.Name)) < 0 {
			if at := live.Find(string(m.Name)); at >= 0 {
				live.Remove(at)
			}
		}
	}
	for i := range after.Members {
		m := &after.Members[i]
		if m.Gone {
			continue
		}
		value, replaced := m.Value.Written(), true
		if was := before.FindFrom(i, string(m.Name)); was >= 0 {
			var there *tree.Node
			if at := live.FindFrom(i, string(m.Name)); at >= 0 {
				there = &live.Members[at].Value
			}
			value, replaced = c.carry(there, &before.Members[was].Value, &m.Value)
		}
		if replaced {
			live.Put(m, value)
		}
	}
}

// list makes a list of after's elements. An element that was in before keeps its other members in live.
func (c *carrier) list(live, before, after []tree.Node) (_ tree.Node, replaced bool) {
	out := make([]tree.Node, len(after))
	replaced = len(before) != len(after)
	run := c.run
	p := c.pair(before, after)
	c.run = run // pair replaced what run knew: how far the texts of the two lists agree
	for i, j := range p.from {
		if j < 0 {
			out[i], replaced = after[i].Written(), true
			continue
		}
		out[i], replaced = live[j], replaced || i != j
		if p.same[i] {
			continue
		}
		if value, isNew := c.carry(&live[j], &before[j], &after[i]); isNew {
			out[i], replaced = value, true
		} else {
			out[i] = live[j]
		}
	}
	return tree.ListOf(out), replaced
}

// pair finds, for each element of after, the same element of before.
func (c *carrier) pair(before, after []tree.Node) *pairing {
	p := c.pairing(before, after)
	p.name, p.inOrder = nameOf, len(before) == len(after)
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
	return p
}
