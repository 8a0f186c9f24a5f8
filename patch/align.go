package patch

import (
	"bytes"

	"github.com/bowline-go/bowline/internal/patch/tree"
)

// align pairs elements of a with elements of b, and returns the pairs of their indices. From one pair to the next, both
// indices grow. First it pairs elements that are the same, and then those without a name that have the same place
// between two such pairs.
func align(a, b []tree.Node, run *tree.TextRun) [][2]int {
	// The caller appends one more pair.
	x := aligner{itemsA: a, itemsB: b, run: run, pairs: make([][2]int, 0, min(len(a), len(b))+1)}
	start, endA, endB := 0, len(a), len(b)
	for start < endA && start < endB && x.same(start, start) {
		x.pair(start, start)
		start++
	}
	for endA > start && endB > start && x.same(endA-1, endB-1) {
		endA, endB = endA-1, endB-1
	}
	x.start, x.a, x.b = start, identities(a[start:endA]), identities(b[start:endB])
	if n, m := endA-start, endB-start; n == 0 || m <= manyPairs/n {
		x.most(start, endA, endB)
	} else {
		x.byPlace(start, start, endA, endB)
	}
	for i := endA; i < len(a); i++ {
		x.pair(i, endB+i-endA)
	}
	return x.pairs
}

type aligner struct {
	itemsA, itemsB []tree.Node
	run            *tree.TextRun
	start          int        // the first of the elements that are compared with many others
	a, b           []identity // the identities of those elements
	pairs          [][2]int
}

func (x *aligner) pair(i, j int) { x.pairs = append(x.pairs, [2]int{i, j}) }

func (x *aligner) same(i, j int) bool {
	a, b := x.identities(i, j)
	if a.member == "" && b.member == "" {
		return x.run.Unchanged(&x.itemsA[i], &x.itemsB[j])
	}
	return a.member == b.member && bytes.Equal(a.text, b.text)
}

func (x *aligner) identities(i, j int) (a, b identity) {
	if x.a == nil {
		return identityOf(&x.itemsA[i]), identityOf(&x.itemsB[j])
	}
	return x.a[i-x.start], x.b[j-x.start]
}

// most finds a longest common subsequence, so that it pairs as many of the elements from start on as possible.
func (x *aligner) most(start, endA, endB int) {
	n, m := endA-start, endB-start
	if n == 0 || m == 0 {
		return
	}
	// longest[i*(m+1)+j] is how many pairs the elements of a from start+i on and those of b from start+j on can have.
	longest := make([]int32, (n+1)*(m+1))
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			at := i*(m+1) + j
			if x.same(start+i, start+j) {
				longest[at] = longest[at+m+2] + 1
			} else {
				longest[at] = max(longest[at+m+1], longest[at+1])
			}
		}
	}
	i, j := start, start
	doneA, doneB := i, j // the start of the gap that is not paired yet
	for i < endA && j < endB {
		at := (i-start)*(m+1) + j - start
		switch {
		case x.same(i, j):
			x.byPlace(doneA, doneB, i, j)
			x.pair(i, j)
			i, j = i+1, j+1
			doneA, doneB = i, j
		case longest[at+m+1] >= longest[at+1]:
			i++
		default:
			j++
		}
	}
	x.byPlace(doneA, doneB, endA, endB)
}

// byPlace pairs elements by their index, if they are the same or neither has a name.
func (x *aligner) byPlace(i, j, endA, endB int) {
	for ; i < endA && j < endB; i, j = i+1, j+1 {
		if a, b := x.identities(i, j); x.same(i, j) || a.member == "" && b.member == "" {
			x.pair(i, j)
		}
	}
}

// identity distinguishes an element from the others of its list: by its name if it is an object with a name, and
// otherwise by its whole text.
type identity struct {
	member string // the member that has the name
	text   []byte
}

func identities(items []tree.Node) []identity {
	all := make([]identity, len(items))
	for i := range items {
		all[i] = identityOf(&items[i])
	}
	return all
}

func identityOf(n *tree.Node) identity {
	if n.Kind() == '{' {
		b := n.Open()
		for _, name := range [...]string{"name", "key", "type"} {
			if i := b.Find(name); i >= 0 && b.Members[i].Value.Kind() == '"' {
				v := b.Members[i].Value
				return identity{name, v.Unquoted()}
			}
		}
	}
	return identity{"", n.Text()}
}
