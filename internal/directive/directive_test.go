package directive_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"unicode/utf16"

	"go.yaml.in/yaml/v3"

	"github.com/bowline-go/bowline/internal/directive"
)

var texts = []struct {
	name, text string
	line       int // of the directive; 0 for none
}{
	{"nothing", "", 0},
	{"no directive", "a: b\n", 0},
	{"the one that is allowed", "%YAML 1.2\n---\na: b\n", 0},
	{"a tag directive first", "%TAG ! x\n---\na: b\n", 1},
	{"a tag directive after the other", "%YAML 1.1\n%TAG !a! x\n---\na: b\n", 2},
	{"after comments and blank lines", "# a\n\n%TAG !a! x\n---\na: b\n", 3},
	{"with lines as Windows ends them", "# a\r\n\r\n%TAG !a! x\r\n---\r\na: b\r\n", 3},
	{"with lines as old Macs ended them", "# a\r\r%TAG !a! x\r---\ra: b\r", 3},
	{"after a byte order mark", "\ufeff%TAG !a! x\n---\na: b\n", 1},
	{"in the second document", "a: b\n...\n%TAG !a! x\n---\nc: d\n", 3},
	{"in the third document", "a: b\n---\nc: d\n...\n# e\n%TAG !a! x\n---\nf: g\n", 6},
	{"after a document without an end", "a: b\n%TAG !a! x\n---\nc: d\n", 2},
	{"without a document", "%TAG !a! x\n", 1},
	{"in a block scalar", "a: |\n  %TAG !a! x\n  b\n", 0},
	{"in a block scalar after a document start", "--- |\n %TAG !a! x\n", 0},
	{"in a quoted text", "a: \"b\n%TAG !a! x\"\n", 0},
	{"in a text in single quotes", "'b\n%TAG !a! x'\n", 0},
	{"in a plain text of several lines", "b\n%TAG !a! x\n", 0},
	{"as a value", "a: x%TAG y\n", 0},
	{"in a comment", "# %TAG !a! x\na: b\n", 0},
	{"in quotes, and then one that is meant", "\"b\n%TAG !a! x\"\n...\n%TAG !a! x\n---\n", 4},
	{"after something that is no YAML", "@a\n%TAG !a! x\n", 0},
	{"another name", "%TAGS x\n---\na: b\n", 1},
}

func TestADirectiveIsFoundWhereTheLibraryFindsIt(t *testing.T) {
	for _, test := range texts {
		t.Run(test.name, func(t *testing.T) {
			little, big := []byte("\xff\xfe"), []byte("\xfe\xff")
			for _, unit := range utf16.Encode([]rune(strings.TrimPrefix(test.text, "\ufeff"))) {
				little, big = binary.LittleEndian.AppendUint16(little, unit), binary.BigEndian.AppendUint16(big, unit)
			}
			for _, data := range [][]byte{[]byte(test.text), little, big} {
				kept := bytes.Clone(data)
				err := directive.Check(data)
				found := (*directive.Error)(nil)
				if errors.As(err, &found) != (test.line > 0) || found != nil && found.Line != test.line {
					t.Errorf("%q gives %v, want line %d", data, err, test.line)
				}
				if !bytes.Equal(kept, data) {
					t.Errorf("%q has become %q", kept, data)
				}
			}
		})
	}
}

// No tag of a text that passes can be one of a directive's: the library resolves none.
func FuzzCheck(f *testing.F) {
	for _, test := range texts {
		f.Add([]byte(test.text + "--- !a!b c\n"))
	}
	f.Add([]byte("%TAG !a! tag:found,1:\n--- !a!b c\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 4<<10 || directive.Check(data) != nil || !bytes.Contains(data, []byte("%TAG")) {
			return
		}
		defer func() { _ = recover() }() // the library may panic
		var n yaml.Node
		if yaml.Unmarshal(data, &n) == nil {
			check(t, &n)
		}
	})
}

func check(t *testing.T, n *yaml.Node) {
	if strings.HasPrefix(n.Tag, "tag:found,1:") {
		t.Errorf("a tag is %q", n.Tag)
	}
	for _, child := range n.Content {
		check(t, child)
	}
}
