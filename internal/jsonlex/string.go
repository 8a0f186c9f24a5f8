package jsonlex

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// StringEnd returns the position after the string whose opening quote is at i, and whether the string is plain: it
// reads as its bytes do, because it has no escapes and is valid UTF-8.
func StringEnd(text []byte, i int) (end int, plain bool) {
	plain = true
	for i++; ; {
		if i+8 <= len(text) {
			eight := binary.LittleEndian.Uint64(text[i:])
			marks := specials(eight, eight)
			if marks == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(marks) / 8
		} else {
			for i < len(text) && !isSpecial(text[i]) && text[i] < utf8.RuneSelf {
				i++
			}
			if i >= len(text) {
				return ^len(text), false
			}
		}
		switch c := text[i]; {
		case c == '"':
			return i + 1, plain
		case c == '\\':
			if _, i = escape(text, i); i < 0 {
				return i, false
			}
			plain = false
		case c < ' ':
			return ^i, false
		default:
			return wideEnd(text, i, plain)
		}
	}
}

// wideEnd continues StringEnd at the first byte that is not ASCII. It does not stop at each further such byte, but
// validates them all at the end of the string.
func wideEnd(text []byte, i int, asIs bool) (end int, plain bool) {
	for start := i; ; {
		if i+8 <= len(text) {
			marks := specials(binary.LittleEndian.Uint64(text[i:]), 0)
			if marks == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(marks) / 8
		} else {
			for i < len(text) && !isSpecial(text[i]) {
				i++
			}
			if i >= len(text) {
				return ^len(text), false
			}
		}
		switch text[i] {
		case '"':
			return i + 1, asIs && utf8.Valid(text[start:i])
		case '\\':
			if _, i = escape(text, i); i < 0 {
				return i, false
			}
			asIs = false
		default:
			return ^i, false
		}
	}
}

// isSpecial reports whether specials(c, 0) marks c.
func isSpecial(c byte) bool { return c < ' ' || c == '"' || c == '\\' }
