package definitions

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/meta"
)

const mostSelectable = 8

// selectable checks the selectable fields of a version with a schema. At is the place of the version.
func (c *checker) selectable(fields []view, s view, at string) {
	if why := s.unsupported(); why != "" {
		c.invalid(at+".schema.openAPIV3Schema", "", why)
		s = nil // a real server panics when it follows a path
	}
	at += ".selectableFields"
	seen := map[string]bool{}
	for i, f := range fields {
		at, path := fmt.Sprintf("%s[%d].jsonPath", at, i), f.text("jsonPath")
		if path == "" {
			c.required(at, "")
			continue
		}
		found, err := follow(s, path, false)
		if err != nil {
			c.invalid(at, path, "is an invalid path: "+err.Error())
			continue
		}
		if found.names[0] == "metadata" {
			c.invalid(at, path, "must not point to fields in metadata")
		}
		if !slices.Contains([]string{"string", "boolean", "integer"}, found.schema.text("type")) {
			c.invalid(at, path, "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.")
		}
		key := strings.Join(found.names, ".")
		if seen[key] {
			c.causes = append(c.causes, meta.StatusCause{
				Reason: "FieldValueDuplicate", Field: at, Message: fmt.Sprintf("Duplicate value: %q", path),
			})
		}
		seen[key] = true
	}
	if len(seen) > mostSelectable {
		c.causes = append(c.causes, meta.StatusCause{
			Reason: "FieldValueTooMany", Field: at,
			Message: fmt.Sprintf("Too many: %d: must have at most %d items", len(seen), mostSelectable),
		})
	}
}

// target is where a path leads.
type target struct {
	names  []string
	schema view
}

var (
	errNoField = errors.New("does not refer to a valid field")
	errEnd     = errors.New("unexpected end of JSON path")
)

// follow follows a path such as .spec.color or, if that is allowed, .spec['color'].
func follow(s view, path string, brackets bool) (target, error) {
	t := target{schema: s}
	step := func(name string) error {
		properties := t.schema.in("properties")
		_, found := properties[name]
		switch {
		case len(properties) > 0 && !found, len(properties) == 0 && !t.schema.has("additionalProperties"):
			return errNoField
		case found:
			t.schema = properties.in(name)
		default:
			t.schema = t.schema.in("additionalProperties")
			name = "[" + name + "]"
		}
		t.names = append(t.names, name)
		return nil
	}
	rest := path
	for rest != "" {
		var token string
		token, rest = nextToken(rest)
		switch {
		case token != "[" && token != ".":
			return t, fmt.Errorf("expected [ or . but got: %s", token)
		case token == "[" && !brackets:
			return t, errors.New("array notation is not allowed")
		case rest == "":
			return t, errEnd
		}
		inBrackets := token == "["
		name, after := nextToken(rest)
		rest = after
		if inBrackets {
			if len(name) < 2 || name[0] != '\'' || name[len(name)-1] != '\'' {
				return t, fmt.Errorf("expected single quoted string but got %s", name)
			}
			var err error
			if name, err = unquote(name[1 : len(name)-1]); err != nil {
				return t, err
			}
		}
		if err := step(name); err != nil {
			return t, err
		}
		if inBrackets {
			if rest == "" {
				return t, errEnd
			}
			if token, rest = nextToken(rest); token != "]" {
				return t, fmt.Errorf("expected ] but got %s", token)
			}
		}
	}
	return t, nil
}

// nextToken splits a path, which is not empty, after its first token: a dot, a bracket, a quoted string, or a name.
func nextToken(path string) (token, rest string) {
	if path[0] == '\'' {
		for i := 1; i < len(path); i++ {
			if path[i] == '\'' && path[i-1] != '\\' {
				return path[:i+1], path[i+1:]
			}
		}
		return path, ""
	}
	n := strings.IndexAny(path, ".[]")
	switch {
	case n < 0:
		n = len(path)
	case n == 0:
		n = 1
	}
	return path[:n], path[n:]
}

var escape = regexp.MustCompile(`\\.`)

// unquote resolves the escapes in a quoted string.
func unquote(s string) (text string, err error) {
	const escapes, meanings = `abfnrtv'\`, "\a\b\f\n\r\t\v'\\"
	text = escape.ReplaceAllStringFunc(s, func(e string) string {
		i := strings.IndexByte(escapes, e[1])
		if i < 0 {
			err = fmt.Errorf("invalid string literal: invalid escape char %s", e)
			return ""
		}
		return meanings[i : i+1]
	})
	return text, err
}
