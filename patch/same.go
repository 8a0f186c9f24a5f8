package patch

import "bytes"

// same reports whether two values are the same value of JSON: numbers by what they amount to, strings by their code points,
// objects whatever the order of their members.
func same(a, b *node) bool { return sameBy(a, b, sameNumber) }

// sameBy is same with what tells whether numbers are the same that are written differently.
func sameBy(a, b *node, number func(a, b []byte) bool) bool {
	return a.branch == nil && b.branch == nil && unchanged(a, b) || sameInside(a, b, number)
}

// shortText is up to how many bytes the texts of parts are compared before the parts of these are: that of everything would be
// compared once for each object and list around it.
const shortText = 4096

// samePart is sameBy for a part of what is not written alike.
func samePart(a, b *node, number func(a, b []byte) bool) bool {
	if a.branch == nil && len(a.text()) <= shortText {
		return sameBy(a, b, number)
	}
	return sameInside(a, b, number)
}

// sameInside is sameBy for what is not written alike, or too long to look.
func sameInside(a, b *node, number func(a, b []byte) bool) bool {
	kind := a.kind()
	if kind != b.kind() {
		return false
	}
	switch kind {
	case '"':
		return bytes.Equal(a.unquoted(), b.unquoted())
	case '0':
		return number(a.text(), b.text())
	case '[':
		if a.branch == nil && b.branch == nil {
			return sameParts(a, b, number)
		}
		return sameItems(a.open(), b.open(), number)
	case '{':
		return sameMembers(a.open(), b.open(), number)
	}
	return true // true, false and null have but one spelling, and their kinds tell them apart
}

// sameParts is sameItems for lists that are not open, and stay so: a long one takes many times its length.
func sameParts(a, b *node, number func(a, b []byte) bool) bool {
	var mine, other node // one for all parts: both are on the heap
	for x, y := a.parts(), b.parts(); ; {
		var left, same bool
		mine, left = x.next()
		if other, same = y.next(); !left || !same {
			return left == same
		}
		if !samePart(&mine, &other, number) {
			return false
		}
	}
}

func sameItems(a, b *branch, number func(a, b []byte) bool) bool {
	if len(a.items) != len(b.items) {
		return false
	}
	for i := range a.items {
		if !samePart(&a.items[i], &b.items[i], number) {
			return false
		}
	}
	return true
}

func sameMembers(a, b *branch, number func(a, b []byte) bool) bool {
	if a.len() != b.len() {
		return false
	}
	for i := range a.members {
		m := &a.members[i]
		if m.gone {
			continue
		}
		j := b.findFrom(i, string(m.name))
		if j < 0 || !samePart(&m.value, &b.members[j].value, number) {
			return false
		}
	}
	return true
}

// len returns the number of members.
func (b *branch) len() int {
	n := 0
	for i := range b.members {
		if !b.members[i].gone {
			n++
		}
	}
	return n
}
