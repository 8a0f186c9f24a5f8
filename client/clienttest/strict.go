package clienttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
)

// fieldErrors returns what a strict server says about the members of a JSON document, in the order in which they are there
// and each once: that there are two of one name, and, as far as the shape knows what there may be, that there may be none of
// it. What is in a member that may not be is passed over. A document that is no JSON has none: something else reports that.
func fieldErrors(doc []byte, of *shape) []string {
	if !json.Valid(doc) {
		return nil
	}
	w := fieldWalk{Decoder: json.NewDecoder(bytes.NewReader(doc)), said: map[string]bool{}}
	w.UseNumber()
	w.value(of)
	return w.found
}

// duplicates is fieldErrors for a document of which nothing is known.
func duplicates(doc []byte) []string { return fieldErrors(doc, nil) }

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

func (w *fieldWalk) value(of *shape) {
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
		var item *shape
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

// member returns the shape of a member, and whether there may be one of that name.
func (s *shape) member(name string) (_ *shape, known bool) {
	if s == nil {
		return nil, true
	}
	if m, known := s.members[name]; known {
		return m, true // of which nothing may be known
	}
	if s.members == nil {
		return s.elements, true
	}
	return nil, s.open
}

// knows reports whether a value has no members but those that there may be.
func (s *shape) knows(v any) bool {
	if s == nil {
		return true
	}
	switch v := v.(type) {
	case jsontree.Object:
		for k, e := range v {
			if member, known := s.member(k); !known || !member.knows(e) {
				return false
			}
		}
	case []any:
		for _, e := range v {
			if !s.elements.knows(e) {
				return false
			}
		}
	}
	return true
}

// prune drops what an object cannot have.
func (s *shape) prune(v any) {
	if s == nil {
		return
	}
	switch v := v.(type) {
	case jsontree.Object:
		for k, e := range v {
			member, known := s.member(k)
			if !known || e == nil && member != nil && member.notNull {
				delete(v, k)
			} else {
				member.prune(e)
			}
		}
	case []any:
		for _, e := range v {
			s.elements.prune(e)
		}
	}
}

// unknown returns what a strict server says about the members of an object that is read from doc, beside that there are two
// of one name where those of a patch have been counted already, and drops from d those that its kind does not have.
func (c *call) unknown(doc []byte, d *draft, of *shape) []string {
	found := c.unknownIn(doc, of)
	if slices.ContainsFunc(found, func(text string) bool { return strings.HasPrefix(text, `unknown field "metadata.`) }) {
		d.readMetadata(doc)
	}
	of.prune(d.content)
	return found
}

func (c *call) unknownIn(doc []byte, of *shape) []string {
	if c.res.builtin {
		return fieldErrors(doc, of)
	}
	// A real server first reads the metadata, and then drops the rest. It has sorted all that.
	v, err := jsontree.Parse(doc)
	whole, isObject := v.(jsontree.Object)
	if err != nil || !isObject {
		return nil
	}
	metadata := &shape{elements: &shape{}, members: map[string]*shape{"metadata": builtinSchemas().metadata()}, open: true}
	found := fieldErrors(jsontree.Append(nil, jsontree.Object{"metadata": whole["metadata"]}), metadata)
	delete(whole, "metadata")
	rest := fieldErrors(jsontree.Append(nil, whole), of)
	slices.Sort(rest)
	return slices.Concat(found, rest)
}

// fields returns what a strict server says about the members of an object in the body of a request, and drops from d those
// that its kind does not have.
func (c *call) fields(body []byte, d *draft) []string {
	found := c.unknown(body, d, c.res.shape())
	if !c.res.builtin {
		found = slices.Concat(duplicates(body), found)
	}
	return found
}

// reportPayload is report for an object that was sent as it is. It also says which members YAML has twice.
func (c *call) reportPayload(w http.ResponseWriter, b *payload, wrong []string) error {
	if len(b.twice) > 0 && c.query.Get("fieldValidation") == "Strict" {
		twice := "yaml: unmarshal errors:\n  " + strings.Join(b.twice, "\n  ")
		return c.report(w, slices.Concat([]string{twice}, wrong))
	}
	return c.report(w, slices.Concat(b.twice, wrong))
}

// report does what the fieldValidation of a write says about members: it returns all that is wrong as one error, or as
// warnings in the answer, or not at all.
func (c *call) report(w http.ResponseWriter, wrong []string) error {
	switch directive := c.query.Get("fieldValidation"); {
	case directive == "Ignore" || len(wrong) == 0:
	case directive == "Strict":
		return fmt.Errorf("strict decoding error: %s", strings.Join(wrong, ", "))
	default:
		for _, text := range wrong {
			w.Header().Add("Warning", fmt.Sprintf("299 - %q", text))
		}
	}
	return nil
}

// reportTwice does what the fieldValidation of an apply says about members that are there twice. Those that the schema does not
// have are refused whatever it says.
func (c *call) reportTwice(w http.ResponseWriter, twice []string) error {
	switch directive := c.query.Get("fieldValidation"); {
	case directive == "Ignore" || len(twice) == 0:
	case directive == "Strict":
		return status.BadRequest("error strict decoding patch: error converting YAML to JSON: yaml: unmarshal errors:\n  %s",
			strings.Join(twice, "\n  "))
	default:
		for _, text := range twice {
			w.Header().Add("Warning", fmt.Sprintf("299 - %q", text))
		}
	}
	return nil
}
