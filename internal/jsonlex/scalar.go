package jsonlex

// ScalarEnd returns the position after the string, number or literal at i.
func ScalarEnd(text []byte, i int) int {
	if i < len(text) {
		switch text[i] {
		case '"':
			end, _ := StringEnd(text, i)
			return end
		case 't':
			return LiteralEnd(text, i, "true")
		case 'f':
			return LiteralEnd(text, i, "false")
		case 'n':
			return LiteralEnd(text, i, "null")
		}
	}
	return NumberEnd(text, i)
}

// LiteralEnd returns the position after the literal at i; literal is "true", "false" or "null".
func LiteralEnd(text []byte, i int, literal string) int {
	if end := i + len(literal); end <= len(text) && string(text[i:end]) == literal {
		return end
	}
	return misspelt(text, i, literal)
}

// misspelt returns ^at for the first byte that differs from the literal.
func misspelt(text []byte, i int, literal string) int {
	for n := 0; i < len(text) && text[i] == literal[n]; n++ {
		i++
	}
	return ^i
}

// IsScalar reports whether c may be in a number or a literal.
func IsScalar(c byte) bool {
	return IsDigit(c) || (c|0x20)-'a' < 26 || c == '-' || c == '.' || c == '+'
}
