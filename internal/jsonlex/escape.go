package jsonlex

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// escape returns the character that the escape at i stands for, and the position after it.
func escape(text []byte, i int) (r rune, next int) {
	if i+1 >= len(text) {
		return 0, ^len(text)
	}
	switch c := text[i+1]; c {
	case '"', '\\', '/':
		return rune(c), i + 2
	case 'b':
		return '\b', i + 2
	case 'f':
		return '\f', i + 2
	case 'n':
		return '\n', i + 2
	case 'r':
		return '\r', i + 2
	case 't':
		return '\t', i + 2
	case 'u':
		r, next := hex4(text, i+2)
		if next < 0 || !utf16.IsSurrogate(r) {
			return r, next
		}
		if next+1 < len(text) && text[next] == '\\' && text[next+1] == 'u' {
			low, behind := hex4(text, next+2)
			if r := utf16.DecodeRune(r, low); behind >= 0 && r != utf8.RuneError {
				return r, behind
			}
		}
		return utf8.RuneError, next // half of a pair
	}
	return 0, ^(i + 1)
}

// hex4 reads four hexadecimal digits at i, and returns the position after them.
func hex4(text []byte, i int) (r rune, next int) {
	for end := i + 4; i < end; i++ {
		if i >= len(text) {
			return 0, ^len(text)
		}
		c := text[i]
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, ^i
		}
		r = r<<4 | rune(c)
	}
	return r, i
}

// EscapeStart returns the start of the escape that contains the byte at position at. If no escape contains it,
// EscapeStart returns at. The text before at must be the start of a JSON text. So a caller can tell a bad escape from
// any other byte that does not fit.
func EscapeStart(text []byte, at int) int {
	from := max(at-len(`\u000`), 0)
	n := bytes.LastIndexByte(text[from:at], '\\')
	start := from + n
	if n < 0 || IsEscaped(text, start) {
		return at
	}
	if at-start > 1 && text[start+1] != 'u' {
		return at // at is after an escape of two bytes
	}
	return start
}

// IsEscaped reports whether the byte at i, in a string, is escaped: an odd number of backslashes precedes it. If the
// text is cut in a string, i may be its length.
func IsEscaped(text []byte, i int) bool {
	run := i
	for run > 0 && text[run-1] == '\\' {
		run--
	}
	return (i-run)%2 == 1
}
