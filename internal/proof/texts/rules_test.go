package texts

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A rule is a property of every text. broken says how a text lacks it, or is empty.
type rule struct {
	name   string
	broken func(t text, named map[string]bool) string
}

var rules = []rule{
	{"a text begins in lower case, or with a name", lowerCase},
	{"a text is a part of a line: it has no end mark, line end or space at its end", noEnd},
	{"a text says what failed without the words for failing", plainWords},
	{"a cause comes last, after a colon, and only advice follows it", causeLast},
	{"a cause is wrapped", causeWrapped},
	{"a text says what is allowed, not that something is invalid", saysAllowed},
}

// whole reports whether a text is a whole error or line, and not a part of one.
func (t text) whole() bool { return t.kind != method && t.kind != part && t.kind != helped }

// names that are no identifiers of the module.
var properNames = []string{"Kubernetes"}

func lowerCase(t text, named map[string]bool) string {
	first, _ := utf8.DecodeRuneInString(t.text)
	if !unicode.IsUpper(first) {
		return ""
	}
	word := regexp.MustCompile(`^[A-Za-z0-9]+`).FindString(t.text)
	inner := strings.ContainsFunc(word[1:], unicode.IsUpper) // such as JSON, OpenAPI and MaxObject
	if inner || named[word] || slices.Contains(properNames, word) {
		return ""
	}
	return "it begins with " + word + ", which no declaration has"
}

func noEnd(t text, _ map[string]bool) string {
	if !t.whole() && t.kind != helped {
		return ""
	}
	trimmed := strings.TrimRight(t.text, ".! \n\t")
	if trimmed != t.text && !strings.HasSuffix(t.text, "...") {
		return "it ends in " + t.text[len(trimmed):]
	}
	return ""
}

var idle = regexp.MustCompile(`(?i)\b(failed to|unable to|could not|couldn't|can't|cannot be done|error (while|when|during|in)|an error|trying to|successfully|please|sorry|oops|unexpected error|something went wrong)\b`)

func plainWords(t text, _ map[string]bool) string {
	if found := idle.FindString(t.text); found != "" {
		return "it has the words " + found
	}
	return ""
}

// causePlace is where a cause stands: alone or after a colon. Advice or another fact may follow it, after a semicolon or
// a comma.
var causePlace = regexp.MustCompile(`(^|:[ \n])%w($|[;,] )`)

func causeLast(t text, _ map[string]bool) string {
	if t.kind != made || !strings.Contains(t.text, "%w") {
		return ""
	}
	// A sentinel or an earlier error may begin the text, and what is known of it follows: "%w: %q is closed".
	begins := strings.HasPrefix(t.text, "%w") && len(t.text) > 2 && strings.ContainsRune(":;, (", rune(t.text[2]))
	if begins || causePlace.MatchString(t.text) {
		return ""
	}
	return "its %w stands elsewhere"
}

func causeWrapped(t text, _ map[string]bool) string {
	if t.call != "fmt.Errorf" {
		return ""
	}
	for _, a := range t.args {
		name := ""
		switch a := a.(type) {
		case *ast.Ident:
			name = a.Name
		case *ast.SelectorExpr:
			name = a.Sel.Name
		}
		if (name == "err" || name == "Err") && !strings.Contains(t.text, "%w") {
			return "it has an error, and no %w"
		}
	}
	return ""
}

var denies = regexp.MustCompile(`(?i)\b(invalid|illegal|bad|wrong|malformed|unsupported)\b`)

func saysAllowed(t text, _ map[string]bool) string {
	if found := denies.FindString(t.text); found != "" {
		return "it says " + found
	}
	return ""
}

// namesOf are the names that the packages declare: of packages, functions, types, fields, constants and variables.
func namesOf(m module) map[string]bool {
	names := make(map[string]bool)
	for _, files := range m.packages {
		for _, f := range files {
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncDecl:
					names[n.Name.Name] = true
				case *ast.TypeSpec:
					names[n.Name.Name] = true
				case *ast.ValueSpec:
					for _, name := range n.Names {
						names[name.Name] = true
					}
				case *ast.Field:
					for _, name := range n.Names {
						names[name.Name] = true
					}
				}
				return true
			})
		}
	}
	return names
}
