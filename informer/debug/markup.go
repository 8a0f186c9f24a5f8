package debug

import (
	"html"
	"strconv"

	"github.com/bowline-go/bowline/internal/shown"
)

// markup writes HTML. Package html/template would also work, but it makes the linker keep every exported method of the
// user's program.
//
// Text from outside this package reaches the page only through text and the values of attributes, which escape it. The
// type constant keeps it out of everything else: a string literal converts to a constant implicitly, a variable does
// not.
type markup struct{ b []byte }

// constant is HTML from the source of this package.
type constant string

func (m *markup) raw(c constant) *markup {
	m.b = append(m.b, c...)
	return m
}

// text writes s as text, on one line and without characters that change how others are shown.
func (m *markup) text(s string) *markup { return m.escaped(clean(s)) }

// lines writes s as text, with its line breaks. s must come from this package: JSON without control characters.
func (m *markup) lines(s string) *markup { return m.escaped(s) }

func (m *markup) escaped(s string) *markup {
	m.b = append(m.b, html.EscapeString(s)...)
	return m
}

func (m *markup) number(n int) *markup {
	m.b = append(m.b, grouped(n)...)
	return m
}

// attr writes an attribute, with a space before it.
func (m *markup) attr(name constant, value string) *markup {
	return m.raw(" ").raw(name).raw(`="`).escaped(clean(value)).raw(`"`)
}

// link writes a link to an address of the page.
func (m *markup) link(address, text string) *markup {
	return m.raw("<a").attr("href", address).raw(">").text(text).raw("</a>")
}

// mostShown bounds a text from outside this package, in bytes.
const mostShown = 2000

// clean makes a text from outside this package fit to be shown. Most texts are returned unchanged.
func clean(s string) string {
	if len(s) > mostShown {
		return shown.Clean(s, mostShown)
	}
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == ' ' && (i == 0 || s[i-1] == ' ' || i == len(s)-1) {
			return shown.Clean(s, mostShown)
		}
	}
	return s
}

// grouped returns a number with a thin space between groups of three digits.
func grouped(n int) string {
	s := strconv.Itoa(n)
	start := len(s)
	first := 0
	if n < 0 {
		first = 1
	}
	for start -= 3; start > first; start -= 3 {
		s = s[:start] + "\u202f" + s[start:]
	}
	return s
}
