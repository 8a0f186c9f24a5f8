package prototables

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// message is a message of a .proto file.
type message struct {
	pkg    string // such as "k8s.io.api.core.v1"
	name   string
	fields []field
}

// field is a field of a message.
type field struct {
	number        int
	name          string
	typ           string // a type of protobuf, or the name of a message with its package
	repeated, ofs bool   // ofs says that it is a map
}

// The files have one declaration in a line, and a message does not contain another.
var (
	comment     = regexp.MustCompile(`(?s)/\*.*?\*/`)
	packageLine = regexp.MustCompile(`^package ([\w.]+);`)
	messageLine = regexp.MustCompile(`^message (\w+) \{`)
	fieldLine   = regexp.MustCompile(`^  (?:(optional|repeated) ([\w.]+)|map<string, ([\w.]+)>) (\w+) = (\d+);`)
)

// readProto returns the messages of a .proto file.
func readProto(file string) ([]*message, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var all []*message
	pkg := ""
	for line := range strings.Lines(comment.ReplaceAllString(string(text), "")) {
		line = strings.TrimRight(line, "\n")
		if m := packageLine.FindStringSubmatch(line); m != nil {
			pkg = m[1]
		} else if m := messageLine.FindStringSubmatch(line); m != nil {
			all = append(all, &message{pkg: pkg, name: m[1]})
		} else if m := fieldLine.FindStringSubmatch(line); m != nil {
			in := all[len(all)-1]
			f := field{name: m[4], typ: m[2] + m[3], repeated: m[1] == "repeated", ofs: m[3] != ""}
			if f.number, err = strconv.Atoi(m[5]); err != nil {
				return nil, err
			}
			switch full, isFull := strings.CutPrefix(f.typ, "."); {
			case isFull:
				f.typ = full
			case f.typ[0] >= 'A' && f.typ[0] <= 'Z':
				f.typ = pkg + "." + f.typ
			}
			in.fields = append(in.fields, f)
		} else if !known(line) {
			return nil, fmt.Errorf("%s: cannot read %q", file, line)
		}
	}
	return all, nil
}

// known reports whether a line is one of those that say nothing about fields.
func known(line string) bool {
	for _, start := range []string{"//", "syntax ", "import ", "option "} {
		if strings.HasPrefix(strings.TrimSpace(line), start) {
			return true
		}
	}
	return line == "" || line == "}"
}
