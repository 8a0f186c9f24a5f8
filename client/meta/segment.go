package meta

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ValidSegment returns an error unless value can be one segment of a request's path, so that it cannot direct the
// request elsewhere. It must not be empty, "." or "..", or contain "/", "%", a control character or invalid UTF-8.
// Names that merely look odd pass, such as RBAC's "system:node". The server checks the further rules that a kind has
// for its names.
//
// field names the value in the error, as in "namespace" or "name".
func ValidSegment(field, value string) error {
	switch value {
	case "":
		return fmt.Errorf("%s must not be empty", field)
	case ".", "..":
		return fmt.Errorf("%s must not be %q, which means another path", field, value)
	}
	if strings.ContainsAny(value, "/%") {
		return fmt.Errorf(`%s must be one path segment, without "/" and "%%", got %q`, field, clip(value))
	}
	if !utf8.ValidString(value) || strings.ContainsFunc(value, unicode.IsControl) {
		return fmt.Errorf("%s must be UTF-8 text without control characters, got %q", field, clip(value))
	}
	return nil
}

// clip shortens a caller's string for an error message.
func clip(s string) string {
	const limit = 128
	if len(s) <= limit {
		return s
	}
	end := limit
	for end > limit-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "..."
}
