package conn

import (
	"iter"
	"mime"
	"net/http"
	"strings"

	"github.com/bowline-go/bowline/internal/shown"
)

// Warning is a message in a header Warning.
type Warning struct {
	Agent, Text string
}

// Warnings yields the warnings with code 299 from the Warning headers of an answer (RFC 7234, section 5.5):
//
//	299 agent "text" ["date"], ...
//
// If a line is malformed from some point on, Warnings yields the text from there as one warning without an agent, after
// the warnings before it.
func Warnings(h http.Header) iter.Seq[Warning] {
	return func(yield func(Warning) bool) {
		for _, rest := range h.Values("Warning") {
			for ok := true; ok; {
				if rest = strings.Trim(rest, " \t,"); rest == "" {
					break
				}
				var w Warning
				w, rest, ok = cutWarning(rest)
				if ok && w != (Warning{}) && !yield(w) {
					return
				}
				if ok = ok && (rest == "" || rest[0] == ','); !ok && !yield(Warning{Text: shown.Text(rest)}) {
					return
				}
			}
		}
	}
}

// cutWarning reads one warning from the start of s, and returns the rest, or s itself if there is none. The warning is
// the zero Warning if it has another code.
func cutWarning(s string) (w Warning, rest string, ok bool) {
	code, r, ok := strings.Cut(s, " ")
	if !ok || len(code) != 3 {
		return Warning{}, s, false
	}
	agent, r, ok := strings.Cut(r, " ")
	if !ok || agent == "" {
		return Warning{}, s, false
	}
	text, r, ok := cutQuoted(r)
	if !ok {
		return Warning{}, s, false
	}
	if code == "299" {
		w = Warning{Agent: shown.Text(agent), Text: shown.Text(decodeWords(text))}
	}
	r = strings.TrimLeft(r, " \t")
	if strings.HasPrefix(r, `"`) { // the date
		if _, after, ok := cutQuoted(r); ok {
			r = after
		}
	}
	return w, strings.TrimLeft(r, " \t"), true
}

// cutQuoted reads a quoted-string (RFC 7230, section 3.2.6) from the start of s.
func cutQuoted(s string) (text, rest string, ok bool) {
	s = strings.TrimLeft(s, " \t")
	if s == "" || s[0] != '"' {
		return "", s, false
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return b.String(), s[i+1:], true
		case '\\':
			if i++; i == len(s) {
				return "", s, false
			}
		}
		b.WriteByte(s[i])
	}
	return "", s, false
}

// decodeWords decodes RFC 2047 encoded words; it keeps text that is not correctly encoded.
func decodeWords(s string) string {
	if decoded, err := new(mime.WordDecoder).DecodeHeader(s); err == nil {
		return decoded
	}
	return s
}
