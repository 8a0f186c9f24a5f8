package crd

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// Schema is the schema of a value. It has every member of a schema that a server accepts in a definition.
type Schema struct {
	Description string `json:"description,omitempty"`
	Title       string `json:"title,omitempty"`
	// Type is "object", "array", "string", "integer", "number" or "boolean"; empty for any value and for an integer or a
	// string.
	Type       string             `json:"type,omitempty"`
	Format     string             `json:"format,omitempty"`
	Nullable   bool               `json:"nullable,omitempty"`
	Default    json.RawMessage    `json:"default,omitempty"`
	Enum       []json.RawMessage  `json:"enum,omitempty"`
	Example    json.RawMessage    `json:"example,omitempty"`
	Properties map[string]*Schema `json:"properties,omitempty"`
	Required   []string           `json:"required,omitempty"`
	// AdditionalProperties is the schema of the values of a map, and Items is the schema of the elements of a list.
	AdditionalProperties *SchemaOrBool `json:"additionalProperties,omitempty"`
	Items                *Schema       `json:"items,omitempty"`

	Minimum          *json.Number `json:"minimum,omitempty"`
	Maximum          *json.Number `json:"maximum,omitempty"`
	ExclusiveMinimum bool         `json:"exclusiveMinimum,omitempty"`
	ExclusiveMaximum bool         `json:"exclusiveMaximum,omitempty"`
	MultipleOf       *json.Number `json:"multipleOf,omitempty"`
	MinLength        *int64       `json:"minLength,omitempty"`
	MaxLength        *int64       `json:"maxLength,omitempty"`
	Pattern          string       `json:"pattern,omitempty"`
	MinItems         *int64       `json:"minItems,omitempty"`
	MaxItems         *int64       `json:"maxItems,omitempty"`
	MinProperties    *int64       `json:"minProperties,omitempty"`
	MaxProperties    *int64       `json:"maxProperties,omitempty"`

	AllOf []*Schema `json:"allOf,omitempty"`
	AnyOf []*Schema `json:"anyOf,omitempty"`
	OneOf []*Schema `json:"oneOf,omitempty"`
	Not   *Schema   `json:"not,omitempty"`

	ExternalDocs *ExternalDocs `json:"externalDocs,omitempty"`

	PreserveUnknownFields bool     `json:"x-kubernetes-preserve-unknown-fields,omitempty"`
	EmbeddedResource      bool     `json:"x-kubernetes-embedded-resource,omitempty"`
	IntOrString           bool     `json:"x-kubernetes-int-or-string,omitempty"`
	ListMapKeys           []string `json:"x-kubernetes-list-map-keys,omitempty"`
	ListType              string   `json:"x-kubernetes-list-type,omitempty"`
	MapType               string   `json:"x-kubernetes-map-type,omitempty"`
	Rules                 []Rule   `json:"x-kubernetes-validations,omitempty"`
}

// ExternalDocs is a link to a document about a schema.
type ExternalDocs struct {
	Description string `json:"description,omitempty"`
	URL         string `json:"url,omitempty"`
}

// Rule is a rule in CEL, in which self is the value and oldSelf the value before the write.
type Rule struct {
	Rule string `json:"rule"`
	// Message is the error's text if the rule is false. MessageExpression is a CEL expression for that text. Without
	// both, the text is the rule.
	Message           string `json:"message,omitempty"`
	MessageExpression string `json:"messageExpression,omitempty"`
	// Reason is "FieldValueInvalid", the default, "FieldValueForbidden", "FieldValueRequired" or "FieldValueDuplicate".
	Reason string `json:"reason,omitempty"`
	// FieldPath is the member that the error is about, such as ".min". Empty means the value itself.
	FieldPath       string `json:"fieldPath,omitempty"`
	OptionalOldSelf *bool  `json:"optionalOldSelf,omitempty"`
}

// SchemaOrBool is a schema, or a boolean if Schema is nil: true for any value.
type SchemaOrBool struct {
	Schema *Schema
	Allows bool
}

// MarshalJSON implements json.Marshaler.
func (s SchemaOrBool) MarshalJSON() ([]byte, error) {
	if s.Schema == nil {
		return json.Marshal(s.Allows)
	}
	return json.Marshal(s.Schema)
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *SchemaOrBool) UnmarshalJSON(b []byte) error {
	*s = SchemaOrBool{Allows: true}
	if b = bytes.TrimSpace(b); len(b) > 0 && (b[0] == 't' || b[0] == 'f') {
		return json.Unmarshal(b, &s.Allows)
	}
	return json.Unmarshal(b, &s.Schema)
}

// anything reports whether the schema accepts and keeps every value.
func (s *Schema) anything() bool { return s.Type == "" && s.PreserveUnknownFields }

// values returns the schema of the values of a map; nil if s is not a map with a schema.
func (s *Schema) values() *Schema {
	if s.AdditionalProperties == nil {
		return nil
	}
	return s.AdditionalProperties.Schema
}

// members returns the names of the properties in order.
func (s *Schema) members() []string { return slices.Sorted(maps.Keys(s.Properties)) }
