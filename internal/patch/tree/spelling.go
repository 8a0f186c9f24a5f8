package tree

import (
	"bytes"
	"encoding/json"

	"github.com/bowline-go/bowline/internal/jsonlex"
)

// AppendSpelled appends well-formed JSON with its strings spelt as encoding/json spells them. By RFC 6902, a test
// compares values. API servers compare the texts of strings instead, and write "<" as "\u003c", so to them the two
// differ.
func AppendSpelled(dst, text []byte) []byte {
	for {
		start := bytes.IndexByte(text, '"')
		if start < 0 {
			return append(dst, text...)
		}
		dst, text = append(dst, text[:start]...), text[start:]
		end := jsonlex.ClosingQuote(text, 1) + 1
		quoted := text[:end]
		if bytes.ContainsFunc(quoted, spelledOtherwise) {
			quoted, _ = json.Marshal(jsonlex.Unquote(quoted[1 : end-1])) // a string can be encoded
		}
		dst, text = append(dst, quoted...), text[end:]
	}
}

// spelledOtherwise reports whether c may have another spelling in a string of JSON.
func spelledOtherwise(c rune) bool {
	return c == '\\' || c == '<' || c == '>' || c == '&' || c == '\u2028' || c == '\u2029' || c == '\uFFFD'
}
