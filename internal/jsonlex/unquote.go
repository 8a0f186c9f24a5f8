package jsonlex

import (
	"bytes"
	"unicode/utf8"
)

// IsPlain reports whether the content of a string equals its bytes. The string must have been checked; inner may
// include its quotes.
func IsPlain(inner []byte) bool { return bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) }

// Unquote returns the content of a string. inner is the string without its quotes, and was checked with [StringEnd].
func Unquote(inner []byte) string {
	if IsPlain(inner) {
		return string(inner)
	}
	return string(AppendUnquoted(make([]byte, 0, len(inner)), inner))
}

// AppendUnquoted appends the content of a string. inner is the string without its quotes, and was checked with
// [StringEnd].
func AppendUnquoted(dst, inner []byte) []byte {
	for i := 0; i < len(inner); {
		from := i
		for i < len(inner) && inner[i] != '\\' && inner[i] < utf8.RuneSelf {
			i++
		}
		if dst = append(dst, inner[from:i]...); i == len(inner) {
			return dst
		}
		if inner[i] != '\\' {
			r, n := utf8.DecodeRune(inner[i:])
			dst = utf8.AppendRune(dst, r)
			i += n
			continue
		}
		var r rune
		if r, i = escape(inner, i); i < 0 {
			return dst // cannot happen after StringEnd
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}
