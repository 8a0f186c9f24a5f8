package tree

import "bytes"

// Same reports whether two JSON values are equal: numbers by their value, strings by their code points, objects
// whatever the order of their members.
func Same(a, b *Node) bool { return sameBy(a, b, sameNumber) }

// sameBy is Same with a function that compares numbers with different texts.
func sameBy(a, b *Node, number func(a, b []byte) bool) bool {
	return a.Branch == nil && b.Branch == nil && Unchanged(a, b) || sameInside(a, b, number)
}

// shortText is the maximal size of parts whose texts are compared before their own parts are. If the text of every
// part were compared, each byte would be compared once for each object and list around it.
const shortText = 4096

// samePart is sameBy for a part of values whose texts differ.
func samePart(a, b *Node, number func(a, b []byte) bool) bool {
	if a.Branch == nil && len(a.Text()) <= shortText {
		return sameBy(a, b, number)
	}
	return sameInside(a, b, number)
}

// sameInside is sameBy for values whose texts differ, or are too long to compare.
func sameInside(a, b *Node, number func(a, b []byte) bool) bool {
	kind := a.Kind()
	if kind != b.Kind() {
		return false
	}
	switch kind {
	case '"':
		return bytes.Equal(a.Unquoted(), b.Unquoted())
	case '0':
		return number(a.Text(), b.Text())
	case '[':
		if a.Branch == nil && b.Branch == nil {
			return sameParts(a, b, number)
		}
		return sameItems(a.Open(), b.Open(), number)
	case '{':
		return sameMembers(a.Open(), b.Open(), number)
	}
	return true // true, false and null have one spelling each, and different kinds
}

// sameParts is sameItems for lists that are not open. It does not open them, because a long open list takes many times
// its length.
func sameParts(a, b *Node, number func(a, b []byte) bool) bool {
	var mine, other Node // declared once for all parts, because both escape to the heap
	for x, y := a.Parts(), b.Parts(); ; {
		var left, same bool
		mine, left = x.Next()
		if other, same = y.Next(); !left || !same {
			return left == same
		}
		if !samePart(&mine, &other, number) {
			return false
		}
	}
}

func sameItems(a, b *Branch, number func(a, b []byte) bool) bool {
	if len(a.Items) != len(b.Items) {
		return false
	}
	for i := range a.Items {
		if !samePart(&a.Items[i], &b.Items[i], number) {
			return false
		}
	}
	return true
}

func sameMembers(a, b *Branch, number func(a, b []byte) bool) bool {
	if a.Len() != b.Len() {
		return false
	}
	for i := range a.Members {
		m := &a.Members[i]
		if m.Gone {
			continue
		}
		j := b.FindFrom(i, string(m.Name))
		if j < 0 || !samePart(&m.Value, &b.Members[j].Value, number) {
			return false
		}
	}
	return true
}

// Len returns the number of members.
func (b *Branch) Len() int {
	n := 0
	for i := range b.Members {
		if !b.Members[i].Gone {
			n++
		}
	}
	return n
}
