// Package values checks the values of custom resources: types, bounds, lengths, patterns, formats and the rest of what
// an openAPIV3Schema says about them. Its verdicts, reasons and fields are those of a kube-apiserver, quirks included.
package values

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
)

// Schema is the part of an openAPIV3Schema that says which values are valid. It does not change after Parse.
type Schema struct {
	Type                 string             `json:"type"`
	Format               string             `json:"format"`
	Nullable             bool               `json:"nullable"`
	Enum                 []json.RawMessage  `json:"enum"`
	Maximum              *float64           `json:"maximum"`
	ExclusiveMaximum     bool               `json:"exclusiveMaximum"`
	Minimum              *float64           `json:"minimum"`
	ExclusiveMinimum     bool               `json:"exclusiveMinimum"`
	MultipleOf           *float64           `json:"multipleOf"`
	MaxLength            *int64             `json:"maxLength"`
	MinLength            *int64             `json:"minLength"`
	Pattern              string             `json:"pattern"`
	MaxItems             *int64             `json:"maxItems"`
	MinItems             *int64             `json:"minItems"`
	MaxProperties        *int64             `json:"maxProperties"`
	MinProperties        *int64             `json:"minProperties"`
	Required             []string           `json:"required"`
	Properties           map[string]*Schema `json:"properties"`
	AdditionalProperties *Additional        `json:"additionalProperties"`
	Items                *Schema            `json:"items"`
	AllOf                []*Schema          `json:"allOf"`
	AnyOf                []*Schema          `json:"anyOf"`
	OneOf                []*Schema          `json:"oneOf"`
	Not                  *Schema            `json:"not"`
	IntOrString          bool               `json:"x-kubernetes-int-or-string"`
	EmbeddedResource     bool               `json:"x-kubernetes-embedded-resource"`
	ListType             string             `json:"x-kubernetes-list-type"`
	ListMapKeys          []string           `json:"x-kubernetes-list-map-keys"`
	Validations          []json.RawMessage  `json:"x-kubernetes-validations"`

	types   []string // that a value may have; empty for any
	enum    []any
	pattern *regexp.Regexp
}

// Additional is the schema of the members that Properties does not name. Schema is nil if they may have any value.
type Additional struct{ Schema *Schema }

// UnmarshalJSON implements json.Unmarshaler.
func (a *Additional) UnmarshalJSON(b []byte) error {
	var allowed bool
	if json.Unmarshal(b, &allowed) == nil {
		return nil
	}
	return json.Unmarshal(b, &a.Schema)
}

// Parse reads an openAPIV3Schema.
func Parse(schema json.RawMessage) (*Schema, error) {
	var s Schema
	if err := json.Unmarshal(schema, &s); err != nil {
		return nil, err
	}
	return &s, s.prepare("Schema")
}

// prepare completes s, which is at a path of the schema.
func (s *Schema) prepare(at string) error {
	switch {
	case s.IntOrString:
		s.types = []string{"integer", "string"}
	case s.Type != "":
		s.types = []string{s.Type}
	}
	if s.Pattern != "" {
		var err error
		if s.pattern, err = regexp.Compile(s.Pattern); err != nil {
			return fmt.Errorf("%s.pattern: %w", at, err)
		}
	}
	for i, raw := range s.Enum {
		v, err := jsontree.Parse(raw)
		if err != nil {
			return fmt.Errorf("%s.enum[%d]: %w", at, i, err)
		}
		s.enum = append(s.enum, Native(v))
	}
	s.Format = s.knownFormat()
	for _, inner := range s.inner() {
		if inner.schema == nil {
			return fmt.Errorf("%s.%s must be an object", at, inner.name)
		}
		if err := inner.schema.prepare(at + "." + inner.name); err != nil {
			return err
		}
	}
	return nil
}

// knownFormat returns the format, or "" if the server ignores it.
func (s *Schema) knownFormat() string {
	typ := strings.Join(s.types, ",")
	if typ == "integer,string" {
		typ = "string"
	}
	if KnownFormat(typ, s.Format) {
		return s.Format
	}
	return ""
}

// KnownFormat reports whether the server checks a format of values of a type, which may be empty.
func KnownFormat(typ, format string) bool {
	switch typ {
	case "integer":
		return format == "int32" || format == "int64"
	case "number":
		return format == "float" || format == "double"
	case "", "string":
		return isFormat(formatName(format))
	}
	return false
}

// Rules returns the paths of the schemas in s that have CEL rules, which this package does not check.
func (s *Schema) Rules() []string { return s.rules("Schema", nil) }

func (s *Schema) rules(at string, all []string) []string {
	if len(s.Validations) > 0 {
		all = append(all, at)
	}
	for _, inner := range s.inner() {
		all = inner.schema.rules(at+"."+inner.name, all)
	}
	return all
}

type namedSchema struct {
	name   string
	schema *Schema
}

// inner returns the schemas in s.
func (s *Schema) inner() (all []namedSchema) {
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		all = append(all, namedSchema{"properties." + name, s.Properties[name]})
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		all = append(all, namedSchema{"additionalProperties", s.AdditionalProperties.Schema})
	}
	if s.Items != nil {
		all = append(all, namedSchema{"items", s.Items})
	}
	for name, list := range map[string][]*Schema{"allOf": s.AllOf, "anyOf": s.AnyOf, "oneOf": s.OneOf} {
		for i, one := range list {
			all = append(all, namedSchema{fmt.Sprintf("%s[%d]", name, i), one})
		}
	}
	if s.Not != nil {
		all = append(all, namedSchema{"not", s.Not})
	}
	return all
}

// Native returns a value whose numbers are int64, or float64 if they are not integers in JSON.
func Native(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64() // the server refuses numbers that are too large before it checks them
		return f
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = Native(e)
		}
		return list
	case jsontree.Object:
		m := make(jsontree.Object, len(v))
		for k, e := range v {
			m[k] = Native(e)
		}
		return m
	}
	return v
}
