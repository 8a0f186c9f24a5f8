package patch

import (
	"encoding/json"
	"unicode/utf8"
)

// unquote returns what a well-formed string of JSON says. What is no Unicode becomes replacement characters.
func unquote(quoted []byte) []byte {
	var text string
	_ = json.Unmarshal(quoted, &text) // it is well-formed
	return []byte(text)
}

// appendQuoted appends text as a string of JSON. What is no Unicode becomes replacement characters.
func appendQuoted(dst []byte, text []byte) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(text); {
		c := text[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRune(text[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(append(dst, text[from:i]...), "\uFFFD"...)
				from = i + 1
			}
			i += size
			continue
		}
		if c < ' ' || c == '"' || c == '\\' {
			dst = append(dst, text[from:i]...)
			if c < ' ' {
				const hex = "0123456789abcdef"
				dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			} else {
				dst = append(dst, '\\', c)
			}
			from = i + 1
		}
		i++
	}
	return append(append(dst, text[from:]...), '"')
}

// appendCompact appends well-formed JSON without the white space between its tokens.
func appendCompact(dst, text []byte) []byte {
	from, inString := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			inString = !inString
		case c == '\\':
			i++ // within a string; what follows is no end of it
		case c <= ' ' && !inString:
			dst = append(dst, text[from:i]...)
			from = i + 1
		}
	}
	return append(dst, text[from:]...)
}
