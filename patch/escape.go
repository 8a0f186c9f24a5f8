package patch

import "strings"

var nameEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// escapeName returns a name as it stands in a JSON pointer (RFC 6901).
func escapeName(name string) string { return nameEscapes.Replace(name) }
