package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/meta"
)

// jsonSchema is the part of an OpenAPI schema that a shape needs.
type jsonSchema struct {
	Ref                  string                 `json:"$ref"`
	Properties           map[string]*jsonSchema `json:"properties"`
	Items                *jsonSchema            `json:"items"`
	AdditionalProperties additional             `json:"additionalProperties"`
	Required             []string               `json:"required"`
	Type                 string                 `json:"type"`
	Format               string                 `json:"format"`
	Nullable             bool                   `json:"nullable"`
	Default              json.RawMessage        `json:"default"`
	ListType             string                 `json:"x-kubernetes-list-type"`
	ListMapKeys          []string               `json:"x-kubernetes-list-map-keys"`
	MapType              string                 `json:"x-kubernetes-map-type"`
	PreserveUnknown      bool                   `json:"x-kubernetes-preserve-unknown-fields"`
	EmbeddedResource     bool                   `json:"x-kubernetes-embedded-resource"`
	IntOrString          bool                   `json:"x-kubernetes-int-or-string"`
	preserved            bool                   // it, or a schema around it, preserves unknown members
}

// preserve sets preserved in a schema and all schemas in it.
func (j *jsonSchema) preserve(around bool) {
	if j == nil {
		return
	}
	j.preserved = around || j.PreserveUnknown
	for _, p := range j.Properties {
		p.preserve(j.preserved)
	}
	j.Items.preserve(j.preserved)
	j.AdditionalProperties.schema.preserve(j.preserved)
}

// holdsMany reports whether the values are lists or maps.
func (j *jsonSchema) holdsMany() bool {
	return j.Type == "array" || j.AdditionalProperties.schema != nil || j.AdditionalProperties.any
}

// additional is the schema of members that are not named, or says whether there may be any.
type additional struct {
	schema *jsonSchema
	any    bool
}

// UnmarshalJSON implements json.Unmarshaler.
func (a *additional) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &a.any) == nil {
		return nil
	}
	return json.Unmarshal(b, &a.schema)
}

// Declared reads the openAPIV3Schema of a custom resource. Without one the shape is nil.
func Declared(schema json.RawMessage) (*Shape, error) {
	if len(schema) == 0 {
		return nil, nil
	}
	var j jsonSchema
	if err := json.Unmarshal(schema, &j); err != nil {
		return nil, fmt.Errorf("the Schema must be the openAPIV3Schema of a CustomResourceDefinition: %w", err)
	}
	if j.Type != "object" {
		return nil, fmt.Errorf("the Schema must be of type object, got %q", j.Type)
	}
	if err := j.check("Schema"); err != nil {
		return nil, err
	}
	j.preserve(false)
	metadata := Builtin().Metadata()
	s := (&Table{closed: true, objects: metadata}).shape(&j)
	s.identify(metadata)
	return s, nil
}

// check refuses schemas that a CustomResourceDefinition cannot have and that this server would otherwise ignore
// silently.
func (j *jsonSchema) check(at string) error {
	switch {
	case j == nil:
		return fmt.Errorf("%s must be an object", at)
	case j.Ref != "":
		return fmt.Errorf("%s.$ref must not be set", at)
	case len(j.Properties) > 0 && (j.AdditionalProperties.schema != nil || j.AdditionalProperties.any):
		return fmt.Errorf("%s.additionalProperties must not be set beside properties", at)
	case !slices.Contains([]string{"", "atomic", "set", "map"}, j.ListType):
		return fmt.Errorf("%s.x-kubernetes-list-type must be atomic, set or map, got %q", at, j.ListType)
	case (j.ListType == "map") != (len(j.ListMapKeys) > 0):
		return fmt.Errorf("%s.x-kubernetes-list-map-keys must be set if, and only if, x-kubernetes-list-type is map", at)
	case !slices.Contains([]string{"", "atomic", "granular"}, j.MapType):
		return fmt.Errorf("%s.x-kubernetes-map-type must be atomic or granular, got %q", at, j.MapType)
	}
	for _, name := range slices.Sorted(maps.Keys(j.Properties)) {
		if err := j.Properties[name].check(at + "." + name); err != nil {
			return err
		}
	}
	if j.Items != nil {
		if err := j.Items.check(at + ".items"); err != nil {
			return err
		}
	}
	if j.AdditionalProperties.schema != nil {
		return j.AdditionalProperties.schema.check(at + ".additionalProperties")
	}
	return nil
}

// Collect adds a schema, and all schemas that it refers to, to those in a document. The empty name means no schema.
func (t *Table) Collect(name string, into map[string]json.RawMessage) {
	if name == "" || into[name] != nil {
		return
	}
	into[name] = t.texts[name]
	t.schema(name).refs(func(name string) { t.Collect(name, into) })
}

// CollectKind is Collect for the schema of a kind, if there is one.
func (t *Table) CollectKind(k meta.GVK, into map[string]json.RawMessage) {
	t.Collect(t.kinds[k], into)
}

// refs calls visit with the name of every schema that j refers to.
func (j *jsonSchema) refs(visit func(name string)) {
	if j == nil {
		return
	}
	if j.Ref != "" {
		visit(strings.TrimPrefix(j.Ref, RefPrefix))
	}
	for _, p := range j.Properties {
		p.refs(visit)
	}
	j.Items.refs(visit)
	j.AdditionalProperties.schema.refs(visit)
}
