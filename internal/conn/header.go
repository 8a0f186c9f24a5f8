package conn

import "strings"

// HasControl reports whether s has a space or a control character in it. No token has one.
func HasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f })
}

// BreaksHeader reports whether s cannot be a part of a header's value.
func BreaksHeader(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}
