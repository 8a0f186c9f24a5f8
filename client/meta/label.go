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

// ValidLabelKey checks that key is a label key (or annotation key) as the server defines it: a name of 1 to 63
// characters out of letters, digits, "-", "_" and ".", that starts and ends with a letter or digit; before it, where
// there is one, a prefix that is a DNS subdomain of at most 253 characters, and "/".
func ValidLabelKey(key string) error {
	name := key
	if prefix, rest, found := strings.Cut(key, "/"); found {
		name = rest
		switch {
		case prefix == "" || len(prefix) > labelPrefixMax || !isSubdomain(prefix):
			return fmt.Errorf("label key %q: what is before the slash must be a DNS subdomain of 1 to %d lower-case "+
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

// ValidLabelValue checks that value is a label value as the server defines it: empty, or at most 63 characters out of
// letters, digits, "-", "_" and ".", that starts and ends with a letter or digit.
func ValidLabelValue(value string) error {
	if value != "" && (len(value) > labelNameMax || !isLabelName(value)) {
		return fmt.Errorf("label value %q must be empty or at most %d letters, digits, '-', '_' and '.', the first and "+
			"the last a letter or digit", clip(value), labelNameMax)
	}
	return nil
}

// isLabelName reports whether a string that is not empty has the characters of a label's name or value.
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

// isSubdomain reports whether s is dot-separated labels of RFC 1123 in lower case. The server does not limit the length
// of one label here.
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
