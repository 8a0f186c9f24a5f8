package debug

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// YAML of decoded JSON, for people, in the form that kubectl prints: members by name, strings without quotes where no reader can
// take them for something else, and texts of several lines as blocks. It is YAML 1.1 and 1.2 alike.

// yaml returns a value of encoding/json as YAML. The result has no control characters but line feeds.
func yaml(v any) string {
	var w yamlWriter
	w.value(v, 0, false)
	return w.b.String()
}

// longName is the length from which a name stands on a line of its own: readers take up to 1024 characters before the colon.
const longName = 200

type yamlWriter struct{ b strings.Builder }

// value writes v and a line feed. The caller has written the beginning of the line: nothing, or a name or a dash. inline says that v may not
// begin on the same line if it is a map or a list, because a name precedes it.
func (w *yamlWriter) value(v any, indent int, inline bool) {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			w.line("{}", inline)
			return
		}
		if inline {
			w.b.WriteByte('\n')
		}
		for i, name := range slices.Sorted(maps.Keys(v)) {
			if i > 0 || inline {
				w.indent(indent)
			}
			if len(name) > longName {
				w.b.WriteString("? " + scalar(name) + "\n")
				w.indent(indent)
			} else {
				w.b.WriteString(scalar(name))
			}
			w.b.WriteByte(':')
			inner := indent + 1
			if _, ok := v[name].([]any); ok {
				inner = indent // as kubectl does
			}
			w.value(v[name], inner, true)
		}
	case []any:
		if len(v) == 0 {
			w.line("[]", inline)
			return
		}
		if inline {
			w.b.WriteByte('\n')
		}
		for i, item := range v {
			if i > 0 || inline {
				w.indent(indent)
			}
			w.b.WriteString("- ")
			w.value(item, indent+1, false)
		}
	case string:
		if isBlock(v) {
			w.block(v, indent, inline)
			return
		}
		w.line(scalar(v), inline)
	case nil:
		w.line("null", inline)
	case bool:
		w.line(strconv.FormatBool(v), inline)
	case json.Number:
		w.line(number(v), inline)
	default: // only Options.Redact puts other values into an object
		w.line(scalar(fmt.Sprint(v)), inline)
	}
}

func (w *yamlWriter) line(s string, after bool) {
	if after {
		w.b.WriteByte(' ')
	}
	w.b.WriteString(s)
	w.b.WriteByte('\n')
}

func (w *yamlWriter) indent(n int) {
	for range n {
		w.b.WriteString("  ")
	}
}

// isBlock reports whether a text reads best, and unchanged, as a literal block.
func isBlock(s string) bool {
	if !strings.Contains(s, "\n") || s[0] == ' ' || s[0] == '\n' || s[0] == '\t' || strings.Contains(s, " \n") || strings.HasSuffix(s, " ") {
		return false
	}
	return strings.TrimRight(s, "\n") != "" && isPrintable(strings.ReplaceAll(s, "\n", ""))
}

// block writes a literal block (YAML 1.2, section 8.1.2). The indicator keeps the line feeds at the end as they are.
func (w *yamlWriter) block(s string, indent int, after bool) {
	body := strings.TrimRight(s, "\n")
	head := "|"
	switch end := len(s) - len(body); {
	case end == 0:
		head = "|-"
	case end > 1:
		head = "|+"
	}
	w.line(head, after)
	for line := range strings.SplitSeq(body, "\n") {
		if line != "" {
			w.indent(max(indent, 1))
			w.b.WriteString(line)
		}
		w.b.WriteByte('\n')
	}
	for range max(0, len(s)-len(body)-1) {
		w.b.WriteByte('\n')
	}
}

// scalar returns a string as a scalar on one line: plain if no reader can take it for something else, and otherwise in double
// quotes.
func scalar(s string) string {
	if isPlain(s) {
		return s
	}
	return quoted(s)
}

// isPlain reports whether a string is itself without quotes. It is careful, and quotes more than it must.
func isPlain(s string) bool {
	if s == "" || len(s) > 1024 || !isPrintable(s) {
		return false
	}
	switch strings.ToLower(s) {
	case "null", "true", "false", "yes", "no", "on", "off", "y", "n":
		return false
	}
	first := s[0]
	letter := first >= 'a' && first <= 'z' || first >= 'A' && first <= 'Z' || first == '/' || first == '_' || first >= utf8.RuneSelf
	// Text that begins with a digit may be a number, a time or a number to the base 60.
	if !letter || strings.Contains(s, ": ") || strings.Contains(s, " #") || strings.HasSuffix(s, ":") || strings.HasSuffix(s, " ") {
		return false
	}
	return !strings.Contains(s, "\t")
}

// isPrintable reports whether a string is well-formed and has only characters that are seen, on the line where they stand.
func isPrintable(s string) bool {
	for i, r := range s {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				return false
			}
		}
		if r != ' ' && !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

// quoted returns a string in double quotes (YAML 1.2, section 7.3.1).
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s { // invalid bytes become U+FFFD
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == ' ' || unicode.IsPrint(r):
			b.WriteRune(r)
		case r <= 0xff:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// number returns a number of JSON. YAML 1.1 takes one with an exponent for a string unless it has a point and a sign.
func number(n json.Number) string {
	mantissa, exponent, ok := strings.Cut(strings.ToLower(string(n)), "e")
	if !ok {
		return string(n)
	}
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	if exponent[0] != '-' && exponent[0] != '+' {
		exponent = "+" + exponent
	}
	return mantissa + "e" + exponent
}
