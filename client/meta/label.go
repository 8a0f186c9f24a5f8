package meta

import (
	"fmt"
	"strings"
)

// The limits of label keys and values, from the Kubernetes documentation ("Labels and Selectors", "Syntax and character
// set").
const (
	labelNameMax   = 63
	labelPrefixMax = 253
)

// ValidLabelKey returns an error unless key is a valid label key (or annotation key) by the server's rules. The name
// has 1 to 63 letters, digits, "-", "_" and ".", and starts and ends with a letter or digit. An optional prefix before
// it is a DNS subdomain of at most 253 characters, followed by "/".
func ValidLabelKey(key string) error {
	name := key
	if prefix, rest, found := strings.Cut(key, "/"); found {
		name = rest
		switch {
		case prefix == "" || len(prefix) > labelPrefixMax || !isSubdomain(prefix):
			return fmt.Errorf("label key %q: the prefix must be a DNS subdomain of 1 to %d lower-case "+
				"letters, digits, '-' and '.'", clip(key), labelPrefixMax)
		case strings.Contains(rest, "/"):
			return fmt.Errorf("label key %q must have at most one slash", clip(key))
		}
	}
	if name == "" || len(name) > labelNameMax || !isLabelName(name) {
		return fmt.Errorf("label key %q: the name must be 1 to %d letters, digits, '-', '_' and '.', the first and the "+
			"last a letter or digit", clip(key), labelNameMax)
	}
	return nil
}

// ValidLabelValue returns an error unless value is a valid label value by the server's rules: empty, or at most 63
// letters, digits, "-", "_" and ".", starting and ending with a letter or digit.
func ValidLabelValue(value string) error {
	if value != "" && (len(value) > labelNameMax || !isLabelName(value)) {
		return fmt.Errorf("label value %q must be empty or at most %d letters, digits, '-', '_' and '.', the first and "+
			"the last a letter or digit", clip(value), labelNameMax)
	}
	return nil
}

// isLabelName reports whether a non-empty string has the characters of a label's name or value.
func isLabelName(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case isAlphanumeric(c):
		case c != '-' && c != '_' && c != '.':
			return false
		case i == 0 || i == len(s)-1:
			return false
		}
	}
	return true
}

// isSubdomain reports whether s is a dot-separated sequence of lower-case labels of RFC 1123. The server does not limit
// the length of one label here.
func isSubdomain(s string) bool {
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for i := range len(label) {
			if c := label[i]; c != '-' && (!isAlphanumeric(c) || 'A' <= c && c <= 'Z') {
				return false
			}
		}
	}
	return true
}

func isAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
