// Package exception reads lists of known differences, each with its reason, and compares them with the differences that
// a test has found.
//
// A list is text. An entry is a line that begins in the first column, and the lines below it, which are indented, are
// the reason. Empty lines and lines that begin with # are comments.
//
//	the name of a test, or of a difference
//		why it is right that this differs
//
// A list is checked both ways: everything that differs must be in it, and everything in it must differ. So a list
// never says more than is true.
package exception

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// List is a list of exceptions: the reasons by name.
type List map[string]string

// Parse reads a list. The error names the line of an entry that has no reason, of one that is there twice, and of a
// reason without an entry.
func Parse(text string) (List, error) {
	l := List{}
	name, at := "", 0
	finish := func() error {
		if name != "" && l[name] == "" {
			return fmt.Errorf("line %d: %q must have a reason, indented, on the lines below it", at, name)
		}
		return nil
	}
	for i, line := range strings.Split(text, "\n") {
		number, words := i+1, strings.TrimSpace(line)
		switch {
		case words == "" || line[0] == '#':
		case line[0] != ' ' && line[0] != '\t':
			if err := finish(); err != nil {
				return nil, err
			}
			if _, found := l[words]; found {
				return nil, fmt.Errorf("line %d: %q is in the list twice", number, words)
			}
			name, at = words, number
			l[name] = ""
		case name == "":
			return nil, fmt.Errorf("line %d: a reason must stand below the name of an exception", number)
		default:
			l[name] = strings.TrimSpace(l[name] + " " + words)
		}
	}
	return l, finish()
}

// Check compares the list with what was tried: whether each name differs. It returns a sentence for each mistake, in
// the order of the names: a name that differs and is not in the list, a name in the list that does not differ, and a
// name in the list that was not tried.
func (l List) Check(differs map[string]bool) []string {
	var wrong []string
	for _, name := range slices.Sorted(maps.Keys(differs)) {
		switch _, listed := l[name]; {
		case differs[name] && !listed:
			wrong = append(wrong, fmt.Sprintf("%q is not in the list of exceptions", name))
		case !differs[name] && listed:
			wrong = append(wrong, fmt.Sprintf("%q is in the list of exceptions, and is none any more", name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l)) {
		if _, tried := differs[name]; !tried {
			wrong = append(wrong, fmt.Sprintf("%q is in the list of exceptions, and was not tried", name))
		}
	}
	return wrong
}
