package codec

import "github.com/bowline-go/bowline/internal/jsonlex"

// Decoding does not record where a document ceases to be JSON. This file finds the place when an error needs it.

// breach says why a document is not JSON.
type breach uint8

const (
	misplaced breach = iota // a byte that is not allowed there
	tooShort                // it ends too early
	tooDeep
)

// brokenAt returns the position of the first byte that is not valid JSON. For a bad escape, that is its backslash.
func brokenAt(data []byte) (at int, why breach) {
	s := jsonlex.Skipper{Text: data, Levels: maxDepth}
	end := s.Skip(jsonlex.SkipSpace(data, 0))
	if end >= 0 {
		end = ^jsonlex.SkipSpace(data, end)
	}
	at = ^end
	switch {
	case s.Deep:
		return at, tooDeep
	case at == len(data):
		return at, tooShort
	}
	if escape := jsonlex.EscapeStart(data, at); escape < at {
		if data[escape+1] == 'u' && escape+len(`\u0000`) > len(data) {
			return len(data), tooShort
		}
		at = escape
	}
	return at, misplaced
}
