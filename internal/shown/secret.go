package shown

import (
	"fmt"
	"io"
	"log/slog"
)

// Redacted is shown in place of a secret.
const Redacted = "[redacted]"

// Secret is a text that is not shown when it is printed, logged or encoded. The documentation of client.Secret has the
// exceptions.
type Secret string

// String returns "[redacted]", or "" if s is empty.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return Redacted
}

// Format prints String for every verb, because package fmt does not call String for some, such as %d and %#v.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText encodes String, for JSON and other formats. Decoding a Secret keeps the text as it stands.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue returns String, for handlers of log/slog that encode values in their own way.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
