package shown

import (
	"fmt"
	"io"
)

// Redacted stands for a secret.
const Redacted = "[redacted]"

// Redact returns Redacted in place of s; "" if s is empty.
func Redact(s string) string {
	if s == "" {
		return ""
	}
	return Redacted
}

// Format implements fmt.Formatter for a type whose String and GoString show no secret. Package fmt does not call these two for some
// verbs, such as %d, and would print the fields.
func Format(f fmt.State, verb rune, v interface {
	fmt.Stringer
	fmt.GoStringer
},
) {
	s := v.String()
	if verb == 'v' && f.Flag('#') {
		s = v.GoString()
	}
	_, _ = io.WriteString(f, s)
}
