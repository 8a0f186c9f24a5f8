package patch

import (
	"strings"
	"unicode/utf8"

	"github.com/bowline-go/bowline/internal/jsonlex"
	"github.com/bowline-go/bowline/internal/patch/tree"
)

// Pointer returns the JSON pointer (RFC 6901) that leads through members and elements to a value: Pointer("metadata",
// "annotations", "a/b") is "/metadata/annotations/a~1b". The name of a list's element is its index, and "-" is the
// place after the last element. Without names, the pointer is "", the whole document.
func Pointer(names ...string) string {
	var b strings.Builder
	for _, name := range names {
		b.WriteByte('/')
		b.WriteString(tree.EscapeName(name))
	}
	return b.String()
}

var nameUnescapes = strings.NewReplacer("~0", "~", "~1", "/")

// ParsePointer returns the names that a JSON pointer (RFC 6901) leads through, and none for "", which is the whole
// document. The error is [ErrMalformed] if the pointer does not start with a slash, has a ~ that is not followed by 0
// or 1, or is not UTF-8.
func ParsePointer(pointer string) ([]string, error) {
	if err := checkPointer(pointer); err != nil {
		return nil, err
	}
	var names []string
	for pointer != "" {
		var name string
		name, pointer = cutName(pointer)
		names = append(names, name)
	}
	return names, nil
}

func checkPointer(pointer string) error {
	if pointer == "" {
		return nil
	}
	if pointer[0] != '/' {
		return malformed("pointer %s must be empty or start with a slash", tree.Quote(pointer))
	}
	for i := 0; i < len(pointer); i++ {
		if pointer[i] == '~' && (i+1 == len(pointer) || pointer[i+1] != '0' && pointer[i+1] != '1') {
			return malformed("pointer %s must have 0 or 1 after each ~", tree.Quote(pointer))
		}
	}
	if !utf8.ValidString(pointer) {
		return malformed("pointer %s must be UTF-8", tree.Quote(pointer))
	}
	return nil
}

// cutName returns the first name of a valid pointer that is not empty, and the rest of the pointer.
func cutName(pointer string) (name, rest string) {
	name = pointer[1:]
	if i := strings.IndexByte(name, '/'); i >= 0 {
		name, rest = name[:i], name[i:]
	}
	if strings.IndexByte(name, '~') >= 0 {
		name = nameUnescapes.Replace(name)
	}
	return name, rest
}

// leadsInto reports whether a pointer leads to a place below that of the pointer within.
func leadsInto(pointer, within string) bool {
	return len(pointer) > len(within) && pointer[len(within)] == '/' && strings.HasPrefix(pointer, within)
}

// index returns the index that a name stands for, or, if the index is too large for any list, a number that is too
// large as well. It returns an error for "-", because no element is there.
func index(name string) (int, error) {
	if len(name) > 1 && name[0] == '0' {
		return 0, notFound("index %s must have no leading zeros", tree.Quote(name))
	}
	n := 0
	for i := range len(name) {
		if !jsonlex.IsDigit(name[i]) {
			return 0, notFound("%s is not the index of an element", tree.Quote(name))
		}
		n = min(n*10+int(name[i]-'0'), tree.MaxSize)
	}
	if name == "" {
		return 0, notFound("%s is not the index of an element", tree.Quote(name))
	}
	return n, nil
}
