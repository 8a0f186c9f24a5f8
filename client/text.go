package client

import (
	"strings"
	"unicode"
)

// Text that a server chose, before it is shown to people.

// maxText bounds a text, in bytes. It is what the API server allows all the warnings of an answer together.
const maxText = 4096

// show returns text that the server chose as it may be shown: without what can do harm on a terminal or in a log, which are
// control characters, with which escape sequences begin, characters that change the direction of the text, and invalid
// UTF-8; and cut to 4 KiB.
func show(s string) string {
	s = clean(s)
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText], "") + "..."
	}
	return s
}

func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
}
