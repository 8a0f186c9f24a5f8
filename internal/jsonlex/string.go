package jsonlex

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// StringEnd returns the position behind the string whose opening quote is at i, and whether the string is plain: it reads as
// its bytes do, because it has no escapes and is valid UTF-8.
func StringEnd(text []byte, i int) (end int, plain bool) {
	plain = true
	for i++; ; {
		if i+8 <= len(text) {
			found := specials(binary.LittleEndian.Uint64(text[i:]))
			if found == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(found) / 8
		} else {
			for i < len(text) && isOrdinary(text[i]) {
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
			_, n := utf8.DecodeRune(text[i:])
			plain = plain && n > 1
			i += n
		}
	}
}
