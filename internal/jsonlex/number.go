package jsonlex

// NumberEnd returns the position after the number at i.
func NumberEnd(text []byte, i int) int {
	if i < len(text) && text[i] == '-' {
		i++
	}
	if i < len(text) && text[i] == '0' {
		i++
	} else if end := DigitsEnd(text, i); end > i {
		i = end
	} else {
		return ^i
	}
	if i < len(text) && text[i] == '.' {
		start := i + 1
		if i = DigitsEnd(text, start); i == start {
			return ^i
		}
	}
	if i < len(text) && text[i]|' ' == 'e' {
		i++
		if i < len(text) && (text[i] == '-' || text[i] == '+') {
			i++
		}
		start := i
		if i = DigitsEnd(text, start); i == start {
			return ^i
		}
	}
	return i
}

// DigitsEnd returns the first position from i on that is not a decimal digit.
func DigitsEnd(text []byte, i int) int {
	for i < len(text) && IsDigit(text[i]) {
		i++
	}
	return i
}

// IsDigit reports whether c is a decimal digit.
func IsDigit(c byte) bool { return c-'0' <= 9 }
