package jsonlex_test

import (
	"bytes"
	"strings"
	"testing"
)

// longest is up to which length a text is cut everywhere. Longer ones are checked as they are.
const longest = 256

// FuzzValue compares where values end, where they are broken and how they are compacted with what encoding/json says.
func FuzzValue(f *testing.F) {
	for _, text := range texts {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		checkValue(t, text)
		if len(text) > longest {
			return
		}
		for cut := range text {
			checkValue(t, text[:cut])
		}
		checkValue(t, bytes.Join([][]byte{[]byte(`{"a": [`), text, []byte(`, "b"]}`)}, nil))
	})
}

// FuzzString compares where strings end and what they read with what encoding/json says, in every place of eight bytes, and cut
// everywhere.
func FuzzString(f *testing.F) {
	for _, text := range texts {
		f.Add([]byte(strings.Trim(text, `"`)))
	}
	f.Fuzz(func(t *testing.T, inner []byte) {
		text := append(append([]byte{'"'}, inner...), '"')
		checkString(t, text)
		if len(text) > longest {
			return
		}
		for cut := 1; cut < len(text); cut++ {
			checkString(t, text[:cut])
		}
	})
}

// FuzzNumber compares where numbers end with what encoding/json says.
func FuzzNumber(f *testing.F) {
	for _, text := range texts {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		checkNumber(t, text)
		for cut := range min(len(text), longest) {
			checkNumber(t, text[:cut])
		}
	})
}

// FuzzQuoted checks that what is written as a string reads the same.
func FuzzQuoted(f *testing.F) {
	for _, text := range texts {
		f.Add(text)
	}
	f.Fuzz(checkQuoted)
}
