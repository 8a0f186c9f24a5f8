package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/fieldset"
)

// Check returns the errors of a configuration, in the real server's words: members that the schema does not have,
// values of the wrong type, and elements that their list cannot distinguish.
func (s *Shape) Check(v any, path string) []string {
	if s == nil || v == nil {
		return nil
	}
	wrong := func(format string, args ...any) []string {
		return []string{path + ": " + fmt.Sprintf(format, args...)}
	}
	switch v := v.(type) {
	case jsontree.Object:
		if !s.takes("object") {
			return wrong("%s", s.mismatch(v))
		}
		var all []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			inner, named := s.Field(name)
			if !named && inner == nil && s.members != nil && !s.open && !s.lax {
				return append(all, path+"."+name+": field not declared in schema")
			}
			all = append(all, inner.Check(v[name], path+"."+name)...)
		}
		return all
	case []any:
		if !s.takes("array") {
			return wrong("%s", s.mismatch(v))
		}
		var all []string
		seen := map[string]bool{}
		for i, e := range v {
			at := fieldset.Path([]string{fieldset.Index(i)})
			if !s.AtomicList() {
				key, ok := s.KeyOf(e)
				if !ok {
					return append(all, wrong("element %d: %s", i, s.noKey(e))...)
				}
				at = fieldset.Path([]string{key})
				if seen[key] {
					all = append(all, wrong("duplicate entries for key %s", at)...)
				}
				seen[key] = true
			}
			all = append(all, s.Item().Check(e, path+at)...)
		}
		return all
	}
	fits := true
	switch v.(type) {
	case string:
		fits = s.takes("string")
	case json.Number:
		fits = s.takes("integer") || s.takes("number") || s.anyScalar()
	case bool:
		fits = s.takes("boolean") || s.anyScalar()
	}
	if !fits {
		return wrong("%s", s.mismatch(v))
	}
	return nil
}

// takes reports whether a value may have a type.
func (s *Shape) takes(typ string) bool { return s.typ == "" || s.typ == typ }

// anyScalar reports whether a string may also be a number or a boolean, as a string with a format may.
func (s *Shape) anyScalar() bool { return s.typ == "string" && s.format != "" && s.format != "byte" }

// mismatch returns the error for a value of another type than the schema's.
func (s *Shape) mismatch(v any) string {
	switch s.typ {
	case "object":
		return fmt.Sprintf("expected map, got &{%s}", goText(v))
	case "array":
		return fmt.Sprintf("expected list, got &{%s}", goText(v))
	case "boolean":
		return fmt.Sprintf("expected boolean, got &{%s}", goText(v))
	case "string":
		return fmt.Sprintf("expected string, got &value.valueUnstructured{Value:%s}", goSyntax(v))
	}
	return "expected numeric (int or float), got " + goType(v)
}

// noKey returns why an element of a list that is not atomic has no key.
func (s *Shape) noKey(e any) string {
	if s.list == listSet {
		switch e.(type) {
		case jsontree.Object:
			return "associative list without keys has an element that's a map type"
		case []any:
			return "not supported: associative list with lists as elements"
		}
		return "associative list without keys has an element that's an explicit null"
	}
	switch e.(type) {
	case nil:
		return "associative list with keys may not have a null element"
	case jsontree.Object:
		return fmt.Sprintf("associative list with keys has an element that omits all key fields %q "+
			"(and doesn't have default values for any key fields)", s.keys)
	}
	return "associative list with keys may not have non-map elements"
}

// goType, goText and goSyntax show a value as Go's fmt verbs do in the real server's errors.
func goType(v any) string { return fmt.Sprintf("%T", jsontree.GoValue(v)) }

func goText(v any) string { return fmt.Sprint(jsontree.GoValue(v)) }

func goSyntax(v any) string { return fmt.Sprintf("%#v", jsontree.GoValue(v)) }

// Nulls returns the errors about null members of a custom resource: the schema must allow them.
func (s *Shape) Nulls(v any, path string) []meta.StatusCause {
	var causes []meta.StatusCause
	inside := func(s *Shape, v any, path string) {
		if v == nil && s != nil && s.typ != "" && s.notNull {
			cause := status.InvalidValue(path, "null", fmt.Sprintf("%s in body must be of type %s: %q", path, s.typ, "null"))
			cause.Reason = "FieldValueTypeInvalid"
			causes = append(causes, cause)
		}
		causes = append(causes, s.Nulls(v, path)...)
	}
	switch v := v.(type) {
	case jsontree.Object:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			m, _ := s.Field(name)
			inside(m, v[name], strings.TrimPrefix(path+"."+name, "."))
		}
	case []any:
		for i, e := range v {
			inside(s.Item(), e, fmt.Sprintf("%s[%d]", path, i))
		}
	}
	return causes
}
