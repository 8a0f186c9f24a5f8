package clienttest

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// mismatch returns why a value cannot be read as what the shape says, in the words of encoding/json, or nil. in is the struct
// that has the field, and path the way to it from the whole object, without indices and the keys of maps. Null is anything.
func (s *shape) mismatch(v any, in, path string) error {
	if s == nil || v == nil {
		return nil
	}
	bad := func(what string) error {
		return fmt.Errorf("json: cannot unmarshal %s into Go struct field %s.%s of type %s", what, in, path, s.goType())
	}
	switch v := v.(type) {
	case members:
		switch {
		case s.json != "" && s.json != "object":
			return bad("object")
		case s.members == nil:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				if err := s.elements.mismatch(v[k], in, path); err != nil {
					return err
				}
			}
			return nil
		}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if err := s.members[k].mismatch(v[k], s.name[strings.LastIndex(s.name, ".")+1:], strings.TrimPrefix(path+"."+k, ".")); err != nil {
				return err
			}
		}
	case []any:
		if s.json != "" && s.json != "array" {
			return bad("array")
		}
		for _, e := range v {
			if err := s.elements.mismatch(e, in, path); err != nil {
				return err
			}
		}
	case json.Number:
		switch s.json {
		case "", "number":
		case "integer":
			bits := 64
			if s.format == "int32" {
				bits = 32
			}
			if _, err := strconv.ParseInt(v.String(), 10, bits); err != nil {
				return bad("number " + v.String())
			}
		default:
			return bad("number")
		}
	case string:
		if s.json != "" && s.json != "string" {
			return bad("string")
		}
		var corrupt base64.CorruptInputError
		if _, err := base64.StdEncoding.DecodeString(v); s.format == "byte" && errors.As(err, &corrupt) {
			return err
		}
	case bool:
		if s.json != "" && s.json != "boolean" {
			return bad("bool")
		}
	}
	return nil
}

// goType is what the type of a field is called in Go, where that follows from the schema: strings may have a type of their own.
func (s *shape) goType() string {
	switch {
	case s == nil:
		return "interface {}"
	case s.name != "":
		parts := strings.Split(s.name, ".")
		return strings.Join(parts[max(0, len(parts)-2):], ".")
	case s.json == "array":
		return "[]" + s.elements.goType()
	case s.json == "object":
		return "map[string]" + s.elements.goType()
	case s.json == "boolean":
		return "bool"
	case s.json == "integer":
		if s.format == "" {
			return "int64"
		}
		return s.format
	case s.json == "number":
		return "float64"
	}
	return "string"
}
