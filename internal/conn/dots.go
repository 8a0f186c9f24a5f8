package conn

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// maxEscapes is how many times a path may be escaped. To look deeper would take time that grows with the square of its
// length.
const maxEscapes = 8

// CheckDots returns an error if something on the way might see a segment ".." in an escaped path, be it that it
// unescapes the path more than once, takes a backslash for a slash, or takes a segment to end at a semicolon.
func CheckDots(path string) error {
	for range maxEscapes {
		for segment := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '/' || r == '\\' }) {
			if name, _, _ := strings.Cut(segment, ";"); name == ".." {
				return errors.New(`the path must not have a segment ".."`)
			}
		}
		plain := unescape(path)
		if plain == path {
			return nil
		}
		path = plain
	}
	return fmt.Errorf("the path must not be escaped more than %d times", maxEscapes)
}

// unescape resolves the escapes of a path, and leaves what is none as it is: not everything refuses that.
func unescape(path string) string {
	b := make([]byte, 0, len(path))
	for i := 0; i < len(path); i++ {
		c := path[i]
		if c == '%' && i+2 < len(path) {
			if n, err := strconv.ParseUint(path[i+1:i+3], 16, 8); err == nil {
				c, i = byte(n), i+2
			}
		}
		b = append(b, c)
	}
	return string(b)
}
