package jsonlex

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// IndexQuote is bytes.IndexByte for a quote. It is faster if the quote is near, as in most strings of the API.
func IndexQuote(text []byte) int {
	if len(text) < 16 {
		return bytes.IndexByte(text, '"')
	}
	if found := quotes(binary.LittleEndian.Uint64(text)); found != 0 {
		return bits.TrailingZeros64(found) / 8
	}
	if found := quotes(binary.LittleEndian.Uint64(text[8:])); found != 0 {
		return bits.TrailingZeros64(found)/8 + 8
	}
	if n := bytes.IndexByte(text[16:], '"'); n >= 0 {
		return n + 16
	}
	return -1
}

// ClosingQuote returns the position of the quote that ends a string: the first one from i on that is not escaped. It
// returns -1 if the text ends before it. The caller can then read more of the text and call ClosingQuote again with
// the previous length as i. The text before i must contain the string from its start, or at least the escape that
// reaches to i.
//
// ClosingQuote goes from quote to quote, and looks at the backslashes before each of them, so that its cost is linear.
func ClosingQuote(text []byte, i int) int {
	for {
		n := IndexQuote(text[i:])
		if n < 0 {
			return -1
		}
		if i += n; !IsEscaped(text, i) {
			return i
		}
		i++
	}
}
