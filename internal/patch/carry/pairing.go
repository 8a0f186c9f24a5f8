package carry

import (
	"slices"

	"github.com/bowline-go/bowline/internal/patch/tree"
)

// Pairer matches the elements of two versions of a list. It reads each value once: fingerprints find equal elements,
// and run finds equal texts.
type Pairer struct {
	run        tree.TextRun
	prints     *fingerprints
	candidates int // elements with one name that were compared; for a test
}

// NewPairer returns a pairer for the values of some documents, which must not change.
func NewPairer() *Pairer { return &Pairer{prints: newFingerprints()} }

// ByKey returns, for each element of after, the index of the same element of before, or -1. Only elements with the
// same key match; an element without a key matches none. If several elements have the key, the one that is alike is
// chosen, or else the one that has most in common.
func (r *Pairer) ByKey(before, after []tree.Node, key func(*tree.Node) string) []int {
	p := r.pairing(before, after)
	p.name = key
	p.moved()
	p.byName()
	return p.from
}

// pairing returns a pairing that has no pair yet.
func (r *Pairer) pairing(before, after []tree.Node) *pairing {
	p := &pairing{
		Pairer: r, before: before, after: after,
		from: make([]int, len(after)), same: make([]bool, len(after)), used: make([]bool, len(before)),
	}
	for i := range p.from {
		p.from[i] = -1
	}
	return p
}

// pairing is the state of matching two lists.
type pairing struct {
	*Pairer
	before, after []tree.Node
	name          func(*tree.Node) string // of an element; empty if it has none
	inOrder       bool                    // among elements with one name, those at the same place match
	from          []int                   // for each element of after, the index of the same element of before, or -1
	same          []bool                  // which elements of after are unchanged
	used          []bool                  // which elements of before are in from
}

func (p *pairing) take(i, j int) { p.from[i], p.used[j] = j, true }

// takeSame matches a pair if it is unchanged. If the texts of both are equal, it opens neither.
func (p *pairing) takeSame(i, j int) bool {
	if p.from[i] >= 0 || p.used[j] {
		return false
	}
	before, after := &p.before[j], &p.after[i]
	if !p.run.Unchanged(before, after) && !p.prints.alike(before, after) {
		return false
	}
	p.take(i, j)
	p.same[i] = true
	return true
}

// inPlace matches the unchanged elements at the start, at the end, and, if no element came or went, in between.
func (p *pairing) inPlace() {
	b, a := len(p.before), len(p.after)
	start := 0
	for start < min(a, b) && p.takeSame(start, start) {
		start++
	}
	for b > start && a > start && p.takeSame(a-1, b-1) {
		b, a = b-1, a-1
	}
	if a != b {
		return
	}
	for i := start + 1; i < a-1; i++ { // the first and the last of these have been looked at
		p.takeSame(i, i)
	}
}

// moved matches unchanged elements at other places. The first of several equal elements of before matches the first of
// after.
func (p *pairing) moved() {
	if !slices.Contains(p.from, -1) {
		return
	}
	places := make(map[uint64][]int)
	for j := range p.before {
		if !p.used[j] {
			print := p.prints.of(&p.before[j])
			places[print] = append(places[print], j)
		}
	}
	for i := range p.after {
		if p.from[i] >= 0 || len(places) == 0 {
			continue
		}
		print := p.prints.of(&p.after[i])
		if at := places[print]; len(at) > 0 && p.takeSame(i, at[0]) {
			places[print] = at[1:]
		}
	}
}

// byName matches elements with the same name. If several have it, like the mounts of one volume, it matches those at
// the same place if no element came or went, and otherwise those that have most in common, among the first ones.
func (p *pairing) byName() {
	if !slices.Contains(p.from, -1) {
		return
	}
	left := keyElements(len(p.before), func(j int) (string, bool) {
		if p.used[j] {
			return "", false
		}
		name := p.name(&p.before[j])
		return name, name != ""
	})
	for i := range p.after {
		if p.from[i] >= 0 {
			continue
		}
		name := p.name(&p.after[i])
		if name == "" {
			continue
		}
		best := -1
		if p.inOrder && left.has(i, name) {
			best = i
		} else {
			best = p.closest(&p.after[i], left, name)
		}
		if best >= 0 {
			p.take(i, best)
			left.take(best)
		}
	}
}

// closest returns the index of the remaining element with the name that has most in common with v, or -1. It looks at
// a hundred elements, and in long lists at fewer.
func (p *pairing) closest(v *tree.Node, left *keyed, name string) int {
	best, most, look := -1, -1, min(100, max(8, 100_000/len(p.after)))
	for j := range left.of(name) {
		p.candidates++
		if n := p.common(&p.before[j], v); n > most {
			best, most = j, n
		}
		if look--; look == 0 {
			break
		}
	}
	return best
}

// nameOf returns the text that distinguishes an element in most of the API's lists of objects, or "".
func nameOf(v *tree.Node) string {
	for _, member := range [...]string{"name", "key", "type"} {
		if name, ok := v.Lookup(member); ok && name.Kind() == '"' {
			return member + " " + string(name.Unquoted())
		}
	}
	return ""
}

// common counts the members that two objects agree on.
func (p *pairing) common(a, b *tree.Node) int {
	n := 0
	if a.Kind() != '{' || b.Kind() != '{' {
		return n
	}
	mine, other := a.Open(), b.Open()
	for i := range mine.Members {
		m := &mine.Members[i]
		if m.Gone {
			continue
		}
		if at := other.FindFrom(i, string(m.Name)); at >= 0 && p.prints.same(&m.Value, &other.Members[at].Value) {
			n++
		}
	}
	return n
}
