package client

import (
	"context"
	"fmt"
	"iter"
	"mime"
	"net/http"
	"strings"
	"sync"

	"github.com/bowline-go/bowline/internal/shown"
)

// Warning is a message of the server to the people behind a client, such as "this API version is deprecated".
type Warning struct {
	// Agent is who warns, "-" for the API server.
	Agent string
	// Text is the message, without control characters, and cut to 4 KiB.
	Text string
	// Malformed says that the header is not well-formed: Agent is empty, and Text is the rest of it.
	Malformed bool
	// LeftOut is not 0 in the last warning of an answer that has too many: it is the number of those that are not reported,
	// where one that is there twice, or has been reported before, does not count again. Text says the same then.
	LeftOut int
}

// maxAnswerWarnings bounds how many warnings of one answer are reported. An API server adds a few, of 4 KiB in all.
const maxAnswerWarnings = 100

// maxWarnings bounds how many distinct texts are remembered; a server that makes up more is heard again from the start.
const maxWarnings = 1000

// warnings remembers which texts have been reported. Its mutex guards seen.
type warnings struct {
	mu   sync.Mutex
	seen map[string]bool
}

func (w *warnings) first(text string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen[text] {
		return false
	}
	if w.seen == nil || len(w.seen) >= maxWarnings {
		w.seen = make(map[string]bool)
	}
	w.seen[text] = true
	return true
}

// has reports whether a text has been reported.
func (w *warnings) has(text string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen[text]
}

func (c *Client) warn(ctx context.Context, h http.Header) {
	if c.hooks.Warning == nil {
		return
	}
	told, left := 0, map[string]bool{}
	for _, line := range h.Values("Warning") {
		for w := range parseWarnings(line) {
			switch {
			case w.Text == "":
			case told == maxAnswerWarnings:
				if !c.warnings.has(w.Text) {
					left[w.Text] = true // of which there are few enough: the headers of an answer are bounded
				}
			case c.warnings.first(w.Text):
				told++
				c.hooks.Warning(ctx, w)
			}
		}
	}
	if n := len(left); n > 0 {
		c.hooks.Warning(ctx, Warning{Agent: "-", Text: fmt.Sprintf("%d further warnings of the same answer are left out", n), LeftOut: n})
	}
}

// parseWarnings yields the warnings with code 299 from one Warning header line (RFC 7234, section 5.5):
//
//	299 agent "text" ["date"], ...
//
// What is malformed is one warning, with the rest of the line; what was read before it counts.
func parseWarnings(line string) iter.Seq[Warning] {
	return func(yield func(Warning) bool) {
		for rest := line; ; {
			rest = strings.Trim(rest, " \t,")
			if rest == "" {
				return
			}
			w, r, ok := cutWarning(rest)
			if ok && w != (Warning{}) && !yield(w) {
				return
			}
			if rest = r; !ok || rest != "" && rest[0] != ',' {
				yield(Warning{Text: shown.Text(rest), Malformed: true})
				return
			}
		}
	}
}

// cutWarning reads one warning from the start of s, and returns what follows; s itself if there is none. The warning is the zero
// Warning if its code is another.
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

// decodeWords decodes RFC 2047 encoded words; text that is not well encoded stays as it is.
func decodeWords(s string) string {
	if decoded, err := new(mime.WordDecoder).DecodeHeader(s); err == nil {
		return decoded
	}
	return s
}
