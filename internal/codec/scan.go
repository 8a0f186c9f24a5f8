package codec

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// The functions of this file find where the parts of a JSON text end, and check them on the way. Text that is not Unicode is
// JSON all the same, as for encoding/json: the replacement character stands for it.

// broken is the position behind something that is not JSON.
const broken = -1

// afterSpace returns the first position from i on that is not white space.
func afterSpace(data []byte, i int) int {
	for i < len(data) && (data[i] == ' ' || data[i] == '\n' || data[i] == '\r' || data[i] == '\t') {
		i++
	}
	return i
}

// afterColon returns where the value begins, if what follows at i is a colon.
func afterColon(data []byte, i int) int {
	if i+1 < len(data) && data[i] == ':' && data[i+1] > ' ' { // no space, as servers write it
		return i + 1
	}
	return afterSpacedColon(data, i)
}

func afterSpacedColon(data []byte, i int) int {
	i = afterSpace(data, i)
	if i >= len(data) || data[i] != ':' {
		return broken
	}
	i = afterSpace(data, i+1)
	if i >= len(data) {
		return broken
	}
	return i
}

// afterComma returns where the next member or element begins, if what follows at i is a comma, or where the object or array
// has ended, if it is shut.
func afterComma(data []byte, i int, shut byte) (next int, ended bool) {
	if i+1 < len(data) && data[i] == ',' && data[i+1] > ' ' {
		return i + 1, false
	}
	return afterSpacedComma(data, i, shut)
}

func afterSpacedComma(data []byte, i int, shut byte) (next int, ended bool) {
	i = afterSpace(data, i)
	if i >= len(data) {
		return broken, false
	}
	if data[i] == shut {
		return i + 1, true
	}
	if data[i] != ',' {
		return broken, false
	}
	i = afterSpace(data, i+1)
	if i >= len(data) {
		return broken, false
	}
	return i, false
}

// afterOpen is afterComma for the first member or element: i is behind the brace or bracket.
func afterOpen(data []byte, i int, shut byte) (next int, ended bool) {
	i = afterSpace(data, i)
	if i >= len(data) {
		return broken, false
	}
	if data[i] == shut {
		return i + 1, true
	}
	return i, false
}

// afterLiteral returns the position behind the literal, if it is at i.
func afterLiteral(data []byte, i int, literal string) int {
	if end := i + len(literal); end <= len(data) && string(data[i:end]) == literal {
		return end
	}
	return broken
}

// stringEnd returns the position of the closing quote of a string whose first character is at i, and whether it reads otherwise
// than its bytes: because there are escapes before it, or bytes that are not Unicode. It looks at eight bytes at a time.
func stringEnd(data []byte, i int) (end int, escaped bool) {
	for {
		if i+8 <= len(data) {
			found := special(binary.LittleEndian.Uint64(data[i:]))
			if found == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(found) / 8
		} else if i >= len(data) {
			return broken, false
		}
		switch c := data[i]; {
		case c == '"':
			return i, escaped
		case c == '\\':
			if _, i = escape(data, i); i < 0 {
				return broken, false
			}
			escaped = true
		case c < ' ':
			return broken, false
		case c < utf8.RuneSelf: // only in the last bytes of the document
			i++
		default:
			_, n := utf8.DecodeRune(data[i:])
			escaped = escaped || n == 1
			i += n
		}
	}
}

// special has the highest bit of a byte set where that byte of x is a quote, a backslash, a control character or not ASCII.
// What is set above the first such byte may be wrong, so only the lowest bit counts.
func special(x uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	control := x - ones*' '
	quote := (x ^ ones*'"') - ones
	backslash := (x ^ ones*'\\') - ones
	return ((control|quote|backslash)&^x | x) & highs
}

// escape returns the character that the escape at i stands for, and the position behind it.
func escape(data []byte, i int) (r rune, next int) {
	if i+1 >= len(data) {
		return 0, broken
	}
	switch c := data[i+1]; c {
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
		r := hex4(data, i+2)
		if r < 0 || !utf16.IsSurrogate(r) {
			return r, positive(r, i+6)
		}
		if i+8 <= len(data) && data[i+6] == '\\' && data[i+7] == 'u' {
			if r := utf16.DecodeRune(r, hex4(data, i+8)); r != utf8.RuneError {
				return r, i + 12
			}
		}
		return utf8.RuneError, i + 6 // half of a pair
	}
	return 0, broken
}

// positive is next, unless r says that there is none.
func positive(r rune, next int) int {
	if r < 0 {
		return broken
	}
	return next
}

// hex4 reads four hexadecimal digits; a negative result says that they are not.
func hex4(data []byte, i int) (r rune) {
	if i+4 > len(data) {
		return -1
	}
	for _, c := range data[i : i+4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// appendUnquoted appends what a string without its quotes reads. The string was checked by stringEnd.
func appendUnquoted(dst, quoted []byte) []byte {
	for i := 0; i < len(quoted); {
		c := quoted[i]
		if c != '\\' && c < utf8.RuneSelf {
			dst = append(dst, c)
			i++
			continue
		}
		if c != '\\' {
			r, n := utf8.DecodeRune(quoted[i:])
			dst = utf8.AppendRune(dst, r)
			i += n
			continue
		}
		var r rune
		if r, i = escape(quoted, i); i < 0 {
			return dst // not after stringEnd
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

// numberEnd returns the position behind the number at i.
func numberEnd(data []byte, i int) int {
	if i < len(data) && data[i] == '-' {
		i++
	}
	start := i
	if i = digitsEnd(data, i); i == start || data[start] == '0' && i > start+1 {
		return broken
	}
	if i < len(data) && data[i] == '.' {
		start = i + 1
		if i = digitsEnd(data, start); i == start {
			return broken
		}
	}
	if i < len(data) && data[i]|' ' == 'e' {
		i++
		if i < len(data) && (data[i] == '-' || data[i] == '+') {
			i++
		}
		start = i
		if i = digitsEnd(data, start); i == start {
			return broken
		}
	}
	return i
}

func digitsEnd(data []byte, i int) int {
	for i < len(data) && data[i]-'0' <= 9 {
		i++
	}
	return i
}

// integer reads an integer of up to 19 digits, without fraction and exponent.
func integer(data []byte, i int) (v uint64, negative bool, next int) {
	if data[i] == '-' {
		negative = true
		i++
	}
	start := i
	for i < len(data) && data[i]-'0' <= 9 {
		v = v*10 + uint64(data[i]-'0')
		i++
	}
	if n := i - start; n == 0 || n > 19 || n > 1 && data[start] == '0' {
		return 0, false, broken
	}
	if i < len(data) && (data[i] == '.' || data[i]|' ' == 'e') {
		return 0, false, broken
	}
	return v, negative, i
}
