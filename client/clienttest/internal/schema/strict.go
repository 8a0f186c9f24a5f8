package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// FieldErrors returns what a strict server says about the members of a JSON document, in the order in which they are there
// and each once: that there are two of one name, and, as far as the shape knows what there may be, that there may be none of
// it. What is in a member that may not be is passed over. A document that is no JSON has none: something else reports that.
func FieldErrors(doc []byte, of *Shape) []string {
	if !json.Valid(doc) {
		return nil
	}
	w := fieldWalk{Decoder: json.NewDecoder(bytes.NewReader(doc)), said: map[string]bool{}}
	w.UseNumber()
	w.value(of)
	return w.found
}

// Duplicates is FieldErrors for a document of which nothing is known.
func Duplicates(doc []byte) []string { return FieldErrors(doc, nil) }

type fieldWalk struct {
	*json.Decoder          // of a document that is valid: its errors are none
	path          []string // what leads to the value: names, and indices in brackets
	found         []string
	said          map[string]bool
}

// say notes what is wrong with the last member of the path.
func (w *fieldWalk) say(what string) {
	const limit = 100 // a real server says no more either
	if len(w.found) == limit {
		return
	}
	path := strings.TrimPrefix(strings.Join(w.path, ""), ".")
	if text := fmt.Sprintf("%s field %q", what, path); !w.said[text] {
		w.said[text] = true
		w.found = append(w.found, text)
	}
}

func (w *fieldWalk) skip() {
	for depth := 0; ; {
		token, _ := w.Token()
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return
		}
	}
}

func (w *fieldWalk) value(of *Shape) {
	if of != nil && of.members == nil && of.elements == nil && !of.open {
		w.skip() // what reads it looks no further
		return
	}
	token, _ := w.Token()
	depth := len(w.path)
	switch token {
	case json.Delim('{'):
		seen := map[string]bool{}
		for w.More() {
			name, _ := w.Token()
			key := name.(string)
			w.path = append(w.path[:depth], "."+key)
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
		_, _ = w.Token()
	case json.Delim('['):
		var item *Shape
		if of != nil {
			item = of.elements
		}
		for i := 0; w.More(); i++ {
			w.path = append(w.path[:depth], "["+strconv.Itoa(i)+"]")
			w.value(item)
		}
		_, _ = w.Token()
	}
}
