// Package govalue reads Go values together with the JSON that they encode to: it finds what the tags of their types
// say about each value in the JSON.
package govalue

import (
	"encoding/json"
	"fmt"

	"github.com/bowline-go/bowline/internal/jsonlex"
	"github.com/bowline-go/bowline/internal/patch/tree"
)

// Read encodes v and reads the result, which must be an object, without its white space. what names v in errors.
func Read(what string, v any) (*tree.Node, error) {
	text, isJSON := v.(json.RawMessage)
	if _, isBytes := v.([]byte); isBytes {
		return nil, fmt.Errorf("%s is []byte, which does not encode to a JSON object; use json.RawMessage", what)
	}
	if !isJSON {
		var err error
		if text, err = json.Marshal(v); err != nil {
			return nil, fmt.Errorf("encode %s: %w", what, err)
		}
	}
	s, err := tree.Read(what, text)
	if err == nil && s.Spaces {
		s, err = tree.Read(what, jsonlex.AppendCompact(make([]byte, 0, len(text)), text))
	}
	if err != nil {
		return nil, err
	}
	root := s.Root()
	if root.Kind() != '{' {
		return nil, fmt.Errorf("%s is %s, which does not encode to a JSON object", what, TypeName(v))
	}
	return &root, nil
}

// TypeName returns the name of v's type for an error. Go 1.27 names json.RawMessage after the type that it is an alias
// of.
func TypeName(v any) string {
	if _, is := v.(json.RawMessage); is {
		return "json.RawMessage"
	}
	return fmt.Sprintf("%T", v)
}
