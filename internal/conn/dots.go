package conn

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// maxEscapes is how many times a path may be escaped. Without this limit, the check could take time that grows with
// the square of the path's length.
const maxEscapes = 8

// CheckDots returns an error if a program on the way to the target might see a segment ".." in an escaped path,
// because it unescapes the path more than once, takes a backslash for a slash, or ends a segment at a semicolon.
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

// unescape resolves the escapes of a path. It leaves invalid escapes as they are, because some programs accept them.
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
