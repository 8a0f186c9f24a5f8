package source

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const width = 120

// comment writes a text as line comments, indented by tabs, in lines of up to 120 columns as far as its words allow.
func comment(b *strings.Builder, tabs int, text string) {
	room := width - 4*tabs - len("// ")
	prefix := strings.Repeat("\t", tabs) + "//"
	blank := true // the text begins, or the last line was empty
	for _, line := range lines(text) {
		if line == "" {
			if !blank {
				b.WriteString(prefix + "\n")
			}
			blank = true
			continue
		}
		blank = false
		for line != "" {
			var now string
			now, line = wrap(line, room)
			b.WriteString(prefix + " " + unmarked(now) + "\n")
		}
	}
}

// unmarked escapes a + at the beginning of a line, which marks an old build constraint, or an instruction to another
// generator. go/format would turn an old build constraint into a new one.
func unmarked(line string) string {
	if rest, ok := strings.CutPrefix(line, "+"); ok {
		return `\x2b` + rest
	}
	return line
}

// lines returns the lines of a text, each without white space around it, with one space between its words, and with
// escapes instead of runes that are not printable. The last line is not empty.
func lines(text string) []string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n", "\u0085", "\n", "\v", "\n", "\f", "\n").Replace(text)
	all := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range all {
		all[i] = strings.Join(strings.FieldsFunc(shown(line), unicode.IsSpace), " ")
	}
	return all
}

// shown escapes the runes that are not printable, such as those that change the direction of a text.
func shown(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b.WriteString(`\x` + strconv.FormatUint(uint64(text[i]), 16))
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case !unicode.IsPrint(r):
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// wrap splits a line at the last space within the room, or at the first one after it.
func wrap(line string, room int) (now, rest string) {
	if len(line) <= room {
		return line, ""
	}
	at := strings.LastIndexByte(line[:room+1], ' ')
	if at <= 0 {
		if at = strings.IndexByte(line, ' '); at < 0 {
			return line, ""
		}
	}
	return line[:at], line[at+1:]
}
