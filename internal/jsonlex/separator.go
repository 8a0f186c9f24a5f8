package jsonlex

// AfterColon returns where the value of a member begins: i is after its name.
func AfterColon(text []byte, i int) int {
	if i+1 < len(text) && text[i] == ':' && text[i+1] > ' ' { // servers write no space here
		return i + 1
	}
	return afterSpacedColon(text, i)
}

func afterSpacedColon(text []byte, i int) int {
	if i = SkipSpace(text, i); i >= len(text) || text[i] != ':' {
		return ^i
	}
	return orEnd(text, SkipSpace(text, i+1))
}

// AfterComma returns where the next member or element begins: i is after the one before it. If the next token is the
// closing bracket shut, the object or array has ended, and AfterComma returns the position after the bracket.
func AfterComma(text []byte, i int, shut byte) (next int, ended bool) {
	if i+1 < len(text) && text[i] == ',' && text[i+1] > ' ' {
		return i + 1, false
	}
	return afterSpacedComma(text, i, shut)
}

func afterSpacedComma(text []byte, i int, shut byte) (next int, ended bool) {
	switch i = SkipSpace(text, i); {
	case i >= len(text):
		return ^i, false
	case text[i] == shut:
		return i + 1, true
	case text[i] != ',':
		return ^i, false
	}
	return orEnd(text, SkipSpace(text, i+1)), false
}

// AfterOpen is AfterComma for the first member or element: i is after the brace or bracket.
func AfterOpen(text []byte, i int, shut byte) (next int, ended bool) {
	if i = SkipSpace(text, i); i >= len(text) {
		return ^i, false
	}
	if text[i] == shut {
		return i + 1, true
	}
	return i, false
}

// orEnd returns i, or ^i if the text has ended there.
func orEnd(text []byte, i int) int {
	if i >= len(text) {
		return ^i
	}
	return i
}
