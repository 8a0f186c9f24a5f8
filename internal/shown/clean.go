package shown

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxRead is how many bytes of a text Clean looks at, or twice its limit if that is more.
const maxRead = 16 << 10

// Clean makes text from a server fit for an error's text, a log and a terminal: one line of at most limit bytes of
// valid UTF-8, without control characters, terminal escape sequences and characters that change the direction of the
// text. A run of white space becomes one space, and a run of invalid bytes one U+FFFD. A text that is cut ends in
// "...".
func Clean(s string, limit int) string {
	const ellipsis = "..."
	whole := true
	if most := max(maxRead, 2*limit); len(s) > most {
		s, whole = s[:most], false
	}
	var b strings.Builder
	space, invalid := false, false
	for len(s) > 0 && b.Len() <= limit {
		r, size := utf8.DecodeRuneInString(s)
		bad := r == utf8.RuneError && size == 1
		switch {
		case r == escape || r == controlSequence:
			size = escapeLen(s, size)
		case unicode.IsSpace(r):
			space = true
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == byteOrderMark || bad && invalid:
		default:
			if space && b.Len() > 0 {
				b.WriteByte(' ')
			}
			space = false
			b.WriteRune(r)
		}
		invalid = bad
		s = s[size:]
	}
	out := b.String()
	if len(out) <= limit && whole {
		return out
	}
	end := min(len(out), limit-len(ellipsis))
	for end > 0 && end < len(out) && !utf8.RuneStart(out[end]) {
		end--
	}
	return out[:end] + ellipsis
}

const (
	escape          = '\x1b'
	controlSequence = '\u009b' // the same as ESC [
	byteOrderMark   = '\ufeff'
)

// escapeLen returns the length of the escape sequence at the start of s, whose first character has size bytes. A
// sequence that does not end is only as long as its introducer, so that it hides nothing. The forms are those of
// ECMA-48.
func escapeLen(s string, size int) int {
	rest, length := s[size:], size
	if s[0] == escape {
		if rest == "" {
			return length
		}
		introducer := rest[0]
		switch introducer {
		case ']', 'P', 'X', '^', '_': // a string, which ends in BEL or ESC \
			length++
			if end := strings.IndexAny(rest, "\a\x1b"); end >= 0 {
				if rest[end] == '\a' {
					return length + end
				}
				if strings.HasPrefix(rest[end:], "\x1b\\") {
					return length + end + 1
				}
			}
			return length
		case '[':
			rest = rest[1:]
			length++
		default: // two characters, or three with one of ' ' to '/' between
			for i := range len(rest) {
				if c := rest[i]; c >= 0x30 && c <= 0x7e {
					return length + i + 1
				} else if c < 0x20 || c > 0x7e {
					break
				}
			}
			return length
		}
	}
	for i := range len(rest) { // parameters, then the character that ends them
		if c := rest[i]; c >= 0x40 && c <= 0x7e {
			return length + i + 1
		} else if c < 0x20 || c > 0x7e {
			break
		}
	}
	return length
}
