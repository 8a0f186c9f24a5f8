package values

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/meta"
)

// Check returns what is wrong with an object, ordered by field. old is the object that it replaces, nil if it is new:
// Check does not report a value again that was already wrong and has not changed.
func (s *Schema) Check(obj, old jsontree.Object) []meta.StatusCause {
	v, was := Native(obj), Native(old)
	causes := s.value(v, "", before{was, old != nil}).causes("")
	return sorted(causes, s.embedded(v, ""), s.wrongLists(v, was, old != nil))
}

// CheckStatus is Check for an update of the status.
func (s *Schema) CheckStatus(obj, old jsontree.Object) []meta.StatusCause {
	v, was := Native(obj), Native(old)
	var causes []meta.StatusCause
	if part, found := obj["status"]; found && s.Properties["status"] != nil {
		causes = s.Properties["status"].value(Native(part), "", before{was, true}.member("status")).causes("status")
	}
	return sorted(causes, s.wrongLists(v, was, true))
}

func sorted(causes ...[]meta.StatusCause) []meta.StatusCause {
	all := slices.Concat(causes...)
	slices.SortStableFunc(all, func(a, b meta.StatusCause) int { return cmp.Compare(a.Field, b.Field) })
	return all
}

// value checks a value at a path.
func (s *Schema) value(v any, path string, old before) (r result) {
	defer func() {
		// The kind of an object is that of the request, whatever version is stored.
		typeMeta := path == ".kind" || path == ".apiVersion"
		if len(r.problems) > 0 && !typeMeta && old.unchanged(s, v) {
			r.problems, r.seen = nil, nil
		}
	}()
	if len(s.types) > 0 || s.Format != "" || v == nil {
		r.merge(s.checkType(v, path))
		if v != nil {
			r.matched++
		}
	}
	if v == nil {
		r.merge(s.checkEnum(v, path))
		return r
	}
	r.merge(s.choices(v, path))
	r.matched++
	switch v := v.(type) {
	case string:
		r.merge(s.checkText(v, path))
	case int64, float64:
		r.merge(s.checkNumber(v, path))
		r.matched++
	case []any:
		r.merge(s.list(v, path, old))
		r.matched++
	}
	r.merge(s.checkEnum(v, path))
	r.matched++
	if m, ok := v.(jsontree.Object); ok {
		r.merge(s.object(m, path, old))
		r.matched++
	}
	r.matched++
	return r
}

func invalid(path string, value any, format string, args ...any) problem {
	return problem{reason: "FieldValueInvalid", path: path, value: value, why: fmt.Sprintf(format, args...)}
}

// in returns a path as it stands in the text of an error.
func in(path string) string { return strings.TrimPrefix(path, ".") + " in body" }

// wrongType is the problem of a value that is not of a type. The server shows the type in place of the value.
func wrongType(path, want, is string) result {
	return result{problems: []problem{{
		reason: "FieldValueTypeInvalid", path: path, value: is, why: fmt.Sprintf("%s must be of type %s: %q", in(path), want, is),
	}}}
}

// checkType checks the type of a value, which may be nil.
func (s *Schema) checkType(v any, path string) result {
	right := result{matched: 1}
	if v == nil {
		if len(s.types) > 0 && !s.Nullable {
			return wrongType(path, strings.Join(s.types, ","), "null")
		}
		return right
	}
	is, format := "", ""
	whole := false // a floating-point number without a fraction
	switch v := v.(type) {
	case bool:
		is = "boolean"
	case string:
		is = "string"
	case int64:
		is, format = "integer", "int64"
	case float64:
		is, format, whole = "number", "float64", isWhole(v)
	case []any:
		is = "array"
	default:
		is = "object"
	}
	of := func(typ string) bool { return slices.Contains(s.types, typ) }
	fits := of(is) || whole && of("integer") || is == "integer" && of("number")
	text := is == "string" || is == "array"
	switch {
	case s.Format != "" && !text && !fits && format != s.Format:
		return wrongType(path, s.Format, format)
	case s.Format != "" && text && !of("number") && !of("integer"):
		return right // the format decides
	case !fits:
		return wrongType(path, strings.Join(s.types, ","), is)
	}
	return right
}

// choices checks anyOf, oneOf, allOf and not.
func (s *Schema) choices(v any, path string) (r result) {
	failed := func(format string, args ...any) {
		name := strings.TrimPrefix(path, ".")
		r.add(problem{reason: "FieldValueInvalid", whole: true, why: fmt.Sprintf("%q "+format, append([]any{name}, args...)...)})
	}
	// best returns how many schemas the value fits, the result of the first schema that it fits, and the result that
	// comes closest among the schemas that it does not fit.
	best := func(schemas []*Schema, one bool) (fits int, first, closest result) {
		seen := false
		for _, inner := range schemas {
			got := inner.value(v, path, before{})
			switch {
			case len(got.problems) == 0:
				if fits++; fits == 1 {
					first = got
				}
				if one {
					return fits, first, closest
				}
			case !seen || got.matched > closest.matched:
				seen, closest = true, got
			}
		}
		return fits, first, closest
	}
	if len(s.AnyOf) > 0 {
		fits, first, closest := best(s.AnyOf, true)
		if fits == 0 {
			failed("must validate at least one schema (anyOf)")
			r.merge(closest)
		} else {
			r.merge(first)
		}
	}
	if len(s.OneOf) > 0 {
		switch fits, first, closest := best(s.OneOf, false); fits {
		case 0:
			failed("must validate one and only one schema (oneOf). Found none valid")
			r.merge(closest)
		case 1:
			r.merge(first)
		default:
			failed("must validate one and only one schema (oneOf). Found %d valid alternatives", fits)
		}
	}
	if len(s.AllOf) > 0 {
		fits := 0
		for _, inner := range s.AllOf {
			got := inner.value(v, path, before{})
			if len(got.problems) == 0 {
				fits++
			}
			r.merge(got)
		}
		switch fits {
		case len(s.AllOf):
		case 0:
			failed("must validate all the schemas (allOf). None validated")
		default:
			failed("must validate all the schemas (allOf)")
		}
	}
	if s.Not != nil && len(s.Not.value(v, path, before{}).problems) == 0 {
		failed("must not validate the schema (not)")
	}
	r.matched++
	return r
}

func (s *Schema) checkText(v, path string) (r result) {
	n := int64(utf8.RuneCountInString(v))
	switch {
	case s.MaxLength != nil && n > *s.MaxLength:
		r.add(problem{reason: "FieldValueTooLong", path: path, why: fmt.Sprintf("may not be more than %d %s", *s.MaxLength, plural(*s.MaxLength, "byte"))})
	case s.MinLength != nil && n < *s.MinLength:
		r.add(invalid(path, v, "%s should be at least %d chars long", in(path), *s.MinLength))
	case s.pattern != nil && !s.pattern.MatchString(v):
		r.add(invalid(path, v, "%s should match '%s'", in(path), s.Pattern))
	}
	r.matched++
	has := formats[formatName(s.Format)]
	if has == nil {
		return r
	}
	if !has(v) {
		r.add(problem{reason: "FieldValueTypeInvalid", path: path, value: v, why: fmt.Sprintf("%s must be of type %s: %q", in(path), s.Format, v)})
	}
	r.matched++
	return r
}

func plural(n int64, what string) string {
	if n == 1 {
		return what
	}
	return what + "s"
}

func (s *Schema) list(v []any, path string, old before) (r result) {
	if s.Items != nil {
		element := old.elements(s)
		for i, e := range v {
			r.merge(s.Items.value(e, fmt.Sprintf("%s[%d]", path, i), element(e)))
		}
	}
	n := int64(len(v))
	if s.MinItems != nil && n < *s.MinItems {
		r.add(invalid(path, n, "%s should have at least %d items", in(path), *s.MinItems))
	}
	if s.MaxItems != nil && n > *s.MaxItems {
		r.add(tooMany(path, n, *s.MaxItems))
	}
	r.matched++
	return r
}

func tooMany(path string, n, most int64) problem {
	return problem{
		reason: "FieldValueTooMany", path: path, value: n, why: fmt.Sprintf("must have at most %d %s", most, plural(most, "item")),
	}
}

// checkEnum checks that a value is one of those that the schema lists.
func (s *Schema) checkEnum(v any, path string) (r result) {
	if len(s.enum) == 0 || slices.ContainsFunc(s.enum, func(e any) bool { return isSame(v, e) }) {
		return r
	}
	names := make([]string, len(s.enum))
	for i, e := range s.enum {
		text, ok := e.(string)
		if !ok {
			raw, _ := json.Marshal(e)
			text = string(raw)
		}
		names[i] = strconv.Quote(text)
	}
	r.add(problem{reason: "FieldValueNotSupported", path: path, value: v, why: "supported values: " + strings.Join(names, ", ")})
	return r
}

// isSame reports whether a value is a value of an enum. Numbers are compared in the form of the enum.
func isSame(v, e any) bool {
	switch e := e.(type) {
	case int64:
		if f, ok := v.(float64); ok {
			return int64(f) == e
		}
	case float64:
		if n, ok := v.(int64); ok {
			return float64(n) == e
		}
	}
	return e != nil && reflect.DeepEqual(v, e)
}

func (s *Schema) object(v jsontree.Object, path string, old before) (r result) {
	n := int64(len(v))
	if s.MinProperties != nil && n < *s.MinProperties {
		r.add(invalid(path, n, "%s should have at least %d properties", in(path), *s.MinProperties))
	}
	if s.MaxProperties != nil && n > *s.MaxProperties {
		r.add(tooMany(path, n, *s.MaxProperties))
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if inner := s.member(name); inner != nil {
			r.merge(inner.value(v[name], path+"."+name, old.member(name)))
		}
	}
	for _, name := range s.Required {
		if _, found := v[name]; !found {
			r.add(problem{reason: "FieldValueRequired", path: path + "." + name, why: "required"})
		}
	}
	return r
}
