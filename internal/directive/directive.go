// Package directive refuses YAML documents that the YAML library would take too long for.
//
// The library compares each %TAG directive with all that come before it, and each tag of a document with all
// directives: a megabyte of them takes many seconds, and nothing can interrupt it. No kubeconfig, no output of a
// credential plugin and no manifest needs one.
package directive

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Error says that a YAML text has a directive other than %YAML.
type Error struct {
	// Line is where it stands, from 1.
	Line int
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("line %d has a YAML directive other than %%YAML, which is not allowed", e.Line)
}

// unknown is what the library says of a directive that is neither %YAML nor %TAG.
const unknown = "found unknown directive name"

// tags are the beginning of a %TAG directive in the encodings that the library reads, with a letter in its place that
// spoils it.
var tags = []struct{ name, spoiled []byte }{
	{[]byte("%TAG"), []byte("%XAG")},
	{[]byte("%\x00T\x00A\x00G\x00"), []byte("%\x00X\x00A\x00G\x00")}, // UTF-16, the low byte first
	{[]byte("\x00%\x00T\x00A\x00G"), []byte("\x00%\x00X\x00A\x00G")},
}

// Check returns an *Error if the library would find a %TAG directive in data, and nil otherwise, also where data is not
// YAML.
//
// Whether a line that begins with % is a directive depends on all that stands before it: in a quoted text, or a plain
// one of several lines, it is content. Only the library knows. So Check spoils the name of whatever could be a %TAG
// directive, and lets the library parse that: it stops at the first directive that it does not know, and content may be
// what it likes. A text without "%TAG", as nearly all are, costs a search; another one is parsed once more, as the
// caller does.
func Check(data []byte) error {
	found := false
	for _, tag := range tags {
		if bytes.Contains(data, tag.name) {
			data, found = bytes.ReplaceAll(data, tag.name, tag.spoiled), true
		}
	}
	if !found {
		return nil
	}
	for d := yaml.NewDecoder(bytes.NewReader(data)); ; {
		err := decode(d)
		if err == nil {
			continue
		}
		where, is := strings.CutSuffix(err.Error(), unknown)
		if !is {
			return nil // the end, or an error that the caller's own parser finds
		}
		line := 1 // for which the library has no words
		_, _ = fmt.Sscanf(where, "yaml: line %d:", &line)
		return &Error{Line: line}
	}
}

// decode parses the next document.
func decode(d *yaml.Decoder) (err error) {
	defer func() {
		if recover() != nil { // the library panics where it believes that it cannot come
			err = errPanic
		}
	}()
	return d.Decode(new(yaml.Node))
}

var errPanic = errors.New("the library panicked")
