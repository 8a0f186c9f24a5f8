// Package directive detects YAML documents that the YAML library would take too long to parse.
//
// The library compares each %TAG directive with all earlier ones, and each tag of a document with all directives: a
// megabyte of directives takes many seconds, and the parser cannot be interrupted. No kubeconfig, no output of a
// credential plugin and no manifest needs a %TAG directive.
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
	// Line is the line of the directive, counted from 1.
	Line int
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("line %d has a YAML directive other than %%YAML, which is not allowed", e.Line)
}

// unknown is the end of the library's error for a directive that is neither %YAML nor %TAG.
const unknown = "found unknown directive name"

// tags has the beginning of a %TAG directive in each encoding that the library reads. In spoiled, its name is one that
// the library does not know.
var tags = []struct{ name, spoiled []byte }{
	{[]byte("%TAG"), []byte("%XAG")},
	{[]byte("%\x00T\x00A\x00G\x00"), []byte("%\x00X\x00A\x00G\x00")}, // UTF-16, little-endian
	{[]byte("\x00%\x00T\x00A\x00G"), []byte("\x00%\x00X\x00A\x00G")},
}

// Check returns an *Error if the library would find a %TAG directive in data. Otherwise it returns nil, even if data
// is not YAML.
//
// Only the parser knows whether a line that begins with % is a directive: within a quoted or a multi-line plain text
// it is content. So Check replaces every "%TAG" with an unknown name, and lets the library parse the result: the
// library stops at the first unknown directive, and a replacement within content does no harm. A text without "%TAG",
// as nearly all are, costs only a search; any other text is parsed one more time.
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
			return nil // the end, or an error that the caller's own parsing finds too
		}
		line := 1 // the library names no line for the first one
		_, _ = fmt.Sscanf(where, "yaml: line %d:", &line)
		return &Error{Line: line}
	}
}

// decode parses the next document.
func decode(d *yaml.Decoder) (err error) {
	defer func() {
		if recover() != nil { // the library panics in states that it considers impossible
			err = errPanic
		}
	}()
	return d.Decode(new(yaml.Node))
}

var errPanic = errors.New("the YAML parser panicked")
