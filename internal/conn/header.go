package conn

import "strings"

// HasControl reports whether s has a space or a control character in it. No token has one.
func HasControl[S ~string](s S) bool {
	return strings.ContainsFunc(string(s), func(r rune) bool { return r <= ' ' || r == 0x7f })
}

// BreaksHeader reports whether s cannot be a part of a header's value.
func BreaksHeader[S ~string](s S) bool {
	return strings.ContainsFunc(string(s), func(r rune) bool { return r < ' ' || r == 0x7f })
}
