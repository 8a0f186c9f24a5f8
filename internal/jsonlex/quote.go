package jsonlex

import "unicode/utf8"

// AppendQuoted appends text as a string of JSON. It escapes only the characters that JSON requires, and writes the
// replacement character for bytes that are not UTF-8.
func AppendQuoted[T ~[]byte | ~string](dst []byte, text T) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(text); {
		c := text[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(string(text[i:min(i+utf8.UTFMax, len(text))]))
			if r == utf8.RuneError && n == 1 {
				dst = append(append(dst, text[from:i]...), "\uFFFD"...)
				from = i + 1
			}
			i += n
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
