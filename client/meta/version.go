package meta

import (
	"cmp"
	"strings"
)

// CompareVersions orders two resource versions of one resource: negative if a is older than b, zero if they are equal,
// positive if a is newer. ok is false, and order 0, if either cannot be ordered: it is empty, has a character that is
// not a digit, or starts with a zero ("0" itself is the API's word for any version, not a version).
//
// Versions are compared as decimals of any length, by length and then by text (KEP-5504). A resource version is opaque
// everywhere else, so a caller must handle ok == false safely.
func CompareVersions(a, b string) (order int, ok bool) {
	if !orderable(a) || !orderable(b) {
		return 0, false
	}
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)), true
}

func orderable(version string) bool {
	if version == "" || version[0] == '0' {
		return false
	}
	for i := range len(version) {
		if version[i] < '0' || version[i] > '9' {
			return false
		}
	}
	return true
}
