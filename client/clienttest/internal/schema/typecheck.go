package schema

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/quantity"
)

// Fits returns why a document cannot be read as an object of the shape, or nil.
func (s *Shape) Fits(doc []byte) error {
	v, err := jsontree.Parse(doc)
	if _, isObject := v.(jsontree.Object); err != nil || !isObject {
		return err // an invalid document is reported elsewhere
	}
	return s.Misfit(v)
}

// Misfit returns the error of encoding/json for a value that cannot be read as the shape says, or nil. Null fits every
// type.
func (s *Shape) Misfit(v any) error { return s.misfit(v, "", nil) }

// field is a field on the way from the whole object to a value, without indices and the keys of maps.
type field struct {
	before *field
	name   string
}

func (f *field) String() string {
	if f == nil {
		return ""
	}
	return strings.TrimPrefix(f.before.String()+"."+f.name, ".")
}

// misfit is Misfit for the value at a field. in is the struct that has the field.
func (s *Shape) misfit(v any, in string, path *field) error {
	if s == nil || v == nil {
		return nil
	}
	bad := func(what string) error {
		return fmt.Errorf("json: cannot unmarshal %s into Go struct field %s.%s of type %s", what, in, path, s.goType())
	}
	switch v := v.(type) {
	case jsontree.Object:
		switch {
		case s.isQuantity():
			return errors.New("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")
		case !s.takes("object"):
			return bad("object")
		case s.members == nil:
			for _, k := range jsontree.Names(v) {
				if err := s.elements.misfit(v[k], in, path); err != nil {
					return err
				}
			}
			return nil
		}
		for _, k := range jsontree.Names(v) {
			if err := s.members[k].misfit(v[k], s.name[strings.LastIndex(s.name, ".")+1:], &field{path, k}); err != nil {
				return err
			}
		}
	case []any:
		if !s.takes("array") || s.isQuantity() {
			return bad("array")
		}
		for _, e := range v {
			if err := s.elements.misfit(e, in, path); err != nil {
				return err
			}
		}
	case json.Number:
		if s.isQuantity() {
			_, err := quantity.Parse(v.String())
			return err
		}
		switch s.typ {
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
		if !s.takes("string") {
			return bad("string")
		}
		if s.format == "byte" {
			if _, err := base64.StdEncoding.DecodeString(v); errors.As(err, new(base64.CorruptInputError)) {
				return err
			}
		}
		if s.isQuantity() {
			if quantity.IsShort(v) {
				return nil
			}
			_, err := quantity.Parse(v)
			return err
		}
		if layout := s.layout(); layout != "" {
			if _, err := time.Parse(layout, v); err != nil {
				return err
			}
		}
	case bool:
		if !s.takes("boolean") {
			return bad("bool")
		}
	}
	return nil
}

// goType returns the Go type of a field, as far as the schema shows it. For a string that is always "string", although
// the real server's field may have a named string type.
func (s *Shape) goType() string {
	switch {
	case s == nil:
		return "interface {}"
	case s.name != "":
		parts := strings.Split(s.name, ".")
		return strings.Join(parts[max(0, len(parts)-2):], ".")
	case s.typ == "array":
		return "[]" + s.elements.goType()
	case s.typ == "object":
		return "map[string]" + s.elements.goType()
	case s.typ == "boolean":
		return "bool"
	case s.typ == "integer":
		return cmp.Or(s.format, "int64")
	case s.typ == "number":
		return "float64"
	}
	return "string"
}
