package tree

import "strings"

var nameEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// EscapeName returns a name as a JSON pointer contains it (RFC 6901).
func EscapeName(name string) string { return nameEscapes.Replace(name) }
