package source

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"

	"github.com/bowline-go/bowline/client/typegen/internal/schema"
)

// This file decides how a field tells an absent value from a zero; doc.go has the rules.

// absence has the facts about a field that decide this.
type absence struct {
	s        *schema.Schema // of the value; references are resolved
	use      *schema.Schema // of the property, which may be a reference with a default beside it
	required bool
	top      bool // spec or status of a kind
	hint     Hint
	lookup   func(*schema.Schema) *schema.Schema
}

// Hint has facts about a field of a built-in kind that its schema does not have.
type Hint struct {
	Known bool
	// Omits says that the server omits a zero value.
	Omits bool
}

// mark sets the pointer and the option of a field.
func (a absence) mark(f *goField) {
	omit := "omitempty"
	if f.typ.form == structure || f.typ.form == value || f.typ.form == moment {
		omit = "omitzero"
	}
	bare := a.required && (a.use.Default == nil || a.zeroDefault())
	switch {
	case f.typ.form == moment && bare:
	case f.typ.form == moment:
		f.option = omit
	case f.typ.form == nilable:
		a.markNilable(f, bare)
	case bare && (a.use.Nullable || a.s.Nullable) && a.use.Default == nil:
		f.pointer = true
	case a.hint.Omits:
		f.option = omit
	case bare, a.hint.Known && a.use.Default != nil && a.zeroDefault(), f.typ.form == structure && a.zeroDefault():
	case a.use.Default == nil && !a.hint.Known && a.zeroRefused(a.s, 0):
		f.option = omit
	case a.top && f.typ.form == structure:
		f.option = omit
	default:
		f.pointer, f.option = true, "omitempty"
	}
}

func (a absence) markNilable(f *goField, bare bool) {
	switch {
	case bare:
	case a.hint.Known || a.s.MinItems > 0 && a.s.Type == "array" && a.use.Default == nil:
		f.option = "omitempty"
	default:
		f.option = "omitzero"
	}
}

// zeroDefault reports whether the field has a default that is the zero value.
func (a absence) zeroDefault() bool {
	switch v := a.use.Default.(type) {
	case string:
		return v == ""
	case bool:
		return !v
	case json.Number:
		f, err := v.Float64()
		return err == nil && f == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// zeroRefused reports whether the schema refuses the zero value of its Go type.
func (a absence) zeroRefused(s *schema.Schema, depth int) bool {
	s = a.lookup(s)
	if depth > schema.MaxDepth {
		return false
	}
	switch {
	case s.IntOrString:
		return false
	case s.Type == "string":
		return textRefused(s)
	case s.Type == "integer" || s.Type == "number":
		return numberRefused(s)
	case s.Type == "boolean":
		return len(s.Enum) > 0 && !slices.Contains(s.Enum, any(false))
	case s.Type == "object":
		for _, name := range slices.Sorted(maps.Keys(s.Required)) {
			if p := s.Properties[name]; p != nil && p.Default == nil && !p.Nullable && a.zeroRefused(p, depth+1) {
				return true
			}
		}
	}
	return false
}

// strict are the formats for which a server refuses the empty string.
var strict = []string{"ipv4", "ipv6", "cidr", "mac", "uuid", "uuid3", "uuid4", "uuid5", "date", "date-time", "datetime"}

func textRefused(s *schema.Schema) bool {
	if s.MinLength > 0 || len(s.Enum) > 0 && !slices.Contains(s.Enum, any("")) || slices.Contains(strict, s.Format) {
		return true
	}
	const longest = 10_000
	if s.Pattern == "" || len(s.Pattern) > longest {
		return false
	}
	pattern, err := regexp.Compile(s.Pattern)
	return err == nil && !pattern.MatchString("")
}

func numberRefused(s *schema.Schema) bool {
	switch {
	case s.Minimum != nil && (*s.Minimum > 0 || *s.Minimum == 0 && s.ExclusiveMinimum):
		return true
	case s.Maximum != nil && (*s.Maximum < 0 || *s.Maximum == 0 && s.ExclusiveMaximum):
		return true
	}
	return len(s.Enum) > 0 && !slices.ContainsFunc(s.Enum, func(v any) bool {
		n, isNumber := v.(json.Number)
		f, err := n.Float64()
		return isNumber && err == nil && f == 0
	})
}
