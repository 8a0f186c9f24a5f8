package tree

import "strings"

var nameEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// EscapeName returns a name in the form of a JSON pointer (RFC 6901).
func EscapeName(name string) string { return nameEscapes.Replace(name) }
