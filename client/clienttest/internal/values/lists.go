package values

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/status"
	"github.com/bowline-go/bowline/client/meta"
)

// each calls f with the values in v, their paths and schemas.
func (s *Schema) each(v any, path string, f func(s *Schema, v any, path string)) {
	switch v := v.(type) {
	case jsontree.Object:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if p := s.Properties[name]; p != nil {
				f(p, v[name], strings.TrimPrefix(path+"."+name, "."))
			} else if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
				f(s.AdditionalProperties.Schema, v[name], fmt.Sprintf("%s[%s]", path, name))
			}
		}
	case []any:
		for i, e := range v {
			if s.Items != nil {
				f(s.Items, e, fmt.Sprintf("%s[%d]", path, i))
			}
		}
	}
}

// wrongLists is lists, but empty if the object replaces one whose lists were wrong too.
func (s *Schema) wrongLists(v, old any, replaces bool) []meta.StatusCause {
	if replaces && len(s.lists(old, "")) > 0 {
		return nil
	}
	return s.lists(v, "")
}

// lists returns a cause for each element that a list of the type set or map has twice.
func (s *Schema) lists(v any, path string) (causes []meta.StatusCause) {
	if list, ok := v.([]any); ok {
		switch s.ListType {
		case "set":
			causes = append(causes, twice(list, path, func(i int) (any, string) { return list[i], distinct(list[i]) })...)
		case "map":
			for i, e := range list {
				if _, ok := e.(jsontree.Object); !ok && e != nil {
					return append(causes, status.InvalidValue(fmt.Sprintf("%s[%d]", path, i), e, "must be an object for an array of list-type map"))
				}
			}
			causes = append(causes, twice(list, path, func(i int) (any, string) {
				key := jsontree.Object{}
				m, _ := list[i].(jsontree.Object)
				for _, k := range s.ListMapKeys {
					if v, found := m[k]; found {
						key[k] = v
					}
				}
				if only, found := key[s.ListMapKeys[0]]; found && len(s.ListMapKeys) == 1 {
					return key, "only " + distinct(only)
				}
				return key, distinct(key)
			})...)
		}
	}
	s.each(v, path, func(s *Schema, v any, path string) { causes = append(causes, s.lists(v, path)...) })
	return causes
}

// twice returns a cause for the second of all elements with one key. The function key returns the key of an element,
// and a text that differs for different keys.
func twice(list []any, path string, key func(i int) (any, string)) (causes []meta.StatusCause) {
	seen := map[string]int{}
	for i := range list {
		k, text := key(i)
		if seen[text]++; seen[text] == 2 {
			causes = append(causes, meta.StatusCause{
				Reason: "FieldValueDuplicate", Field: fmt.Sprintf("%s[%d]", path, i), Message: "Duplicate value: " + status.Shown(k),
			})
		}
	}
	return causes
}

// distinct returns a text that differs for values that the server tells apart. It takes 1 and 1.0 for different
// scalars, and for equal members of objects.
func distinct(v any) string {
	switch v.(type) {
	case []any, jsontree.Object:
		text, _ := json.Marshal(v)
		return string(text)
	}
	return fmt.Sprintf("%T %v", v, v)
}

var isKindName = matches(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)

const kindRule = "may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case " +
	"alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character " +
	"(e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"

// embedded returns what is wrong with the apiVersion and the kind of objects in v.
func (s *Schema) embedded(v any, path string) (causes status.Causes) {
	if m, ok := v.(jsontree.Object); ok && s.EmbeddedResource {
		at := func(name string) string { return strings.TrimPrefix(path+"."+name, ".") }
		for _, name := range []string{"apiVersion", "kind"} {
			value, found := m[name]
			text, isText := value.(string)
			switch {
			case !found:
				causes = append(causes, meta.StatusCause{Reason: "FieldValueRequired", Field: at(name), Message: "Required value"})
			case !isText:
				causes = append(causes, status.InvalidValue(at(name), value, "must be a string"))
			case text == "":
				causes = append(causes, status.InvalidValue(at(name), text, "must not be empty"))
			case name == "apiVersion" && strings.Count(text, "/") > 1:
				causes = append(causes, status.InvalidValue(at(name), text, "unexpected GroupVersion string: "+text))
			case name == "kind" && (len(text) > 63 || !isKindName(strings.ToLower(text))):
				causes = append(causes, status.InvalidValue(at(name), text, kindRule))
			}
		}
	}
	s.each(v, path, func(s *Schema, v any, path string) { causes = append(causes, s.embedded(v, path)...) })
	return causes
}
