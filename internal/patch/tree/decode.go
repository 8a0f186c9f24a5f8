package tree

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Decode reads a JSON document as nil, bool, json.Number, string, []any and map[string]any.
func Decode(what string, doc []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("patch: %s is not JSON: %w", what, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("patch: %s has more than one JSON value", what)
	}
	return v, nil
}
