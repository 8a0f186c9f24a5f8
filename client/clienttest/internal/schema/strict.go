package schema

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// FieldErrors returns a strict server's errors about the members of a JSON document, in the document's order, without
// repetition: duplicate members, and members that the shape is known not to allow. It does not look into members that
// are not allowed. It returns nothing for a document that is not JSON, which is reported elsewhere.
func FieldErrors(doc []byte, of *Shape) []string {
	if !json.Valid(doc) {
		return nil
	}
	w := fieldWalk{scanner: scanner{rest: doc}, said: map[string]bool{}}
	w.value(of)
	return w.found
}

// Duplicates is FieldErrors without a shape.
func Duplicates(doc []byte) []string { return FieldErrors(doc, nil) }

type fieldWalk struct {
	scanner
	path  []step // of the value
	found []string
	said  map[string]bool
}

// step is a member of an object, or an element of a list.
type step struct {
	name    string
	index   int
	element bool
}

func (s step) String() string {
	if s.element {
		return "[" + strconv.Itoa(s.index) + "]"
	}
	return "." + s.name
}

// say records an error about the last member of the path.
func (w *fieldWalk) say(what string) {
	const limit = 100 // as many as a real server reports
	if len(w.found) == limit {
		return
	}
	var path strings.Builder
	for _, s := range w.path {
		path.WriteString(s.String())
	}
	if text := fmt.Sprintf("%s field %q", what, strings.TrimPrefix(path.String(), ".")); !w.said[text] {
		w.said[text] = true
		w.found = append(w.found, text)
	}
}

func (w *fieldWalk) value(of *Shape) {
	if of != nil && of.members == nil && of.elements == nil && !of.open {
		w.skip() // the reader of the document stops here too
		return
	}
	depth := len(w.path)
	switch w.next() {
	case '{':
		seen := map[string]bool{}
		for w.enter(); w.more('}'); {
			key := w.text()
			w.path = append(w.path[:depth], step{name: key})
			member, known := of.member(key)
			switch {
			case !known:
				w.say("unknown")
				w.skip()
				continue
			case seen[key]:
				w.say("duplicate")
			}
			seen[key] = true
			w.value(member)
		}
	case '[':
		var item *Shape
		if of != nil {
			item = of.elements
		}
		i := 0
		for w.enter(); w.more(']'); i++ {
			w.path = append(w.path[:depth], step{index: i, element: true})
			w.value(item)
		}
	default:
		w.skip()
	}
}
