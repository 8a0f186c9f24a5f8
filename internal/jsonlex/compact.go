package jsonlex

// AppendCompact appends a text without the white space between its tokens. The text must be JSON.
func AppendCompact(dst, text []byte) []byte {
	from := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			i = ClosingQuote(text, i+1)
		case c <= ' ':
			dst = append(dst, text[from:i]...)
			from = i + 1
		}
	}
	return append(dst, text[from:]...)
}
