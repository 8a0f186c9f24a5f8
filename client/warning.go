package client

import (
	"context"
	"mime"
	"net/http"
	"strings"
	"sync"
)

// Warning is a message of the server to the people behind a client, such as "this API version is deprecated".
type Warning struct {
	// Agent is who warns, "-" for the API server.
	Agent string
	// Text is the message, without control characters, and cut to 4 KiB.
	Text string
}

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

func (c *Client) warn(ctx context.Context, h http.Header) {
	if c.hooks.Warning == nil {
		return
	}
	for _, line := range h.Values("Warning") {
		for _, w := range parseWarnings(line) {
			if w.Text != "" && c.warnings.first(w.Text) {
				c.hooks.Warning(ctx, w)
			}
		}
	}
}

// parseWarnings reads the warnings with code 299 from one Warning header line (RFC 7234, section 5.5):
//
//	299 agent "text" ["date"], ...
//
// A malformed one ends the line; what was read before it counts.
func parseWarnings(line string) []Warning {
	var out []Warning
	for rest := line; ; {
		rest = strings.TrimLeft(rest, " \t,")
		code, r, ok := strings.Cut(rest, " ")
		if !ok || len(code) != 3 {
			return out
		}
		agent, r, ok := strings.Cut(r, " ")
		if !ok || agent == "" {
			return out
		}
		text, r, ok := cutQuoted(r)
		if !ok {
			return out
		}
		if code == "299" {
			out = append(out, Warning{Agent: show(agent), Text: show(decodeWords(text))})
		}
		r = strings.TrimLeft(r, " \t")
		if strings.HasPrefix(r, `"`) { // the date
			if _, r, ok = cutQuoted(r); !ok {
				return out
			}
		}
		r = strings.TrimLeft(r, " \t")
		if r == "" || r[0] != ',' {
			return out
		}
		rest = r
	}
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
