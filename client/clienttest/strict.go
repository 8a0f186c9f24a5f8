package clienttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// duplicates returns the paths of the members of a JSON document that are there twice, each once, as a strict server names
// them. A document that is no JSON has none: something else reports that.
func duplicates(doc []byte) []string {
	if !json.Valid(doc) {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var found []string
	known := map[string]bool{}
	var value func(path string)
	value = func(path string) {
		token, _ := d.Token() // the document is valid
		switch token {
		case json.Delim('{'):
			seen := map[string]bool{}
			for d.More() {
				name, _ := d.Token()
				key := name.(string)
				inner := strings.TrimPrefix(path+"."+key, ".")
				if seen[key] && !known[inner] {
					known[inner] = true
					found = append(found, inner)
				}
				seen[key] = true
				value(inner)
			}
			_, _ = d.Token()
		case json.Delim('['):
			for i := 0; d.More(); i++ {
				value(fmt.Sprintf("%s[%d]", path, i))
			}
			_, _ = d.Token()
		}
	}
	value("")
	return found
}

// strict does what the fieldValidation of a write says about members that are there twice: it returns them as one error, or
// as warnings in the answer, or not at all. The server knows no types, and so not which members are unknown.
func (c *call) strict(w http.ResponseWriter, body []byte) error {
	directive := c.query.Get("fieldValidation")
	if directive == "Ignore" {
		return nil
	}
	var all []string
	for _, path := range duplicates(body) {
		all = append(all, fmt.Sprintf("duplicate field %q", path))
	}
	if len(all) == 0 {
		return nil
	}
	if directive == "Strict" {
		return fmt.Errorf("strict decoding error: %s", strings.Join(all, ", "))
	}
	for _, text := range all {
		w.Header().Add("Warning", fmt.Sprintf("299 - %q", text))
	}
	return nil
}
