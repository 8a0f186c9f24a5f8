package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/meta"
)

const (
	refPrefix     = "#/components/schemas/"
	kindExtension = "x-kubernetes-group-version-kind"
)

// parser reads the schemas of one document.
type parser struct {
	left int
	refs bool // whether references are allowed
}

// schema reads a schema and those within it.
func (p *parser) schema(at string, v any, depth int) (*Schema, error) {
	if p.left--; p.left < 0 {
		return nil, fmt.Errorf("%s: a document must have at most %d schemas", at, MaxSchemas)
	}
	if depth > MaxDepth {
		return nil, fmt.Errorf("%s: schemas must nest at most %d deep", clipPath(at), MaxDepth)
	}
	o, err := asObject(at, v)
	if err != nil {
		return nil, err
	}
	s := &Schema{
		Description: o.text("description", &err), Type: o.text("type", &err), Format: o.text("format", &err),
		Nullable: o.flag("nullable", &err), Default: o.members["default"], Enum: o.list("enum", &err),
		Pattern: o.text("pattern", &err), MinLength: o.count("minLength", &err), MinItems: o.count("minItems", &err),
		Minimum: o.number("minimum", &err), Maximum: o.number("maximum", &err),
		ExclusiveMinimum: o.flag("exclusiveMinimum", &err), ExclusiveMaximum: o.flag("exclusiveMaximum", &err),
		PreserveUnknown: o.flag("x-kubernetes-preserve-unknown-fields", &err),
		Embedded:        o.flag("x-kubernetes-embedded-resource", &err),
		IntOrString:     o.flag("x-kubernetes-int-or-string", &err) || o.members["format"] == "int-or-string",
		ListType:        o.text("x-kubernetes-list-type", &err), MapType: o.text("x-kubernetes-map-type", &err),
		ListKeys:      o.texts("x-kubernetes-list-map-keys", &err),
		PatchStrategy: o.text("x-kubernetes-patch-strategy", &err), PatchMergeKey: o.text("x-kubernetes-patch-merge-key", &err),
	}
	for _, read := range []func(*Schema, object) error{p.reference, readRequired, readRules, readUnions, readExclusions, readKinds} {
		if err == nil {
			err = read(s, o)
		}
	}
	if err == nil {
		err = p.inner(s, o, depth)
	}
	if err == nil {
		err = s.check(at)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// clipPath shortens a path for an error.
func clipPath(at string) string {
	const most = 300
	if len(at) > most {
		return at[:most] + "..."
	}
	return at
}

// reference reads a $ref. The $ref may be wrapped in an allOf, which allows a default beside it.
func (p *parser) reference(s *Schema, o object) error {
	var err error
	ref := o.text("$ref", &err)
	if all, _ := o.members["allOf"].([]any); ref == "" && err == nil && len(all) == 1 && s.Type == "" && o.members["properties"] == nil {
		if inner, isObject := all[0].(map[string]any); isObject {
			ref = object{o.at + ".allOf[0]", inner}.text("$ref", &err)
		}
	}
	if ref == "" || err != nil {
		return err
	}
	name, ok := strings.CutPrefix(ref, refPrefix)
	switch {
	case !p.refs:
		return fmt.Errorf("%s.$ref must not be set in a CustomResourceDefinition", o.at)
	case !ok || name == "":
		return fmt.Errorf("%s.$ref must begin with %s, got %s", o.at, refPrefix, quote(ref))
	}
	s.Ref = name
	return nil
}

// inner reads the schemas within s.
func (p *parser) inner(s *Schema, o object, depth int) error {
	properties, err := o.child("properties")
	if err != nil {
		return err
	}
	if len(properties.members) > 0 {
		s.Properties = make(map[string]*Schema, len(properties.members))
	}
	for _, name := range slices.Sorted(maps.Keys(properties.members)) {
		if s.Properties[name], err = p.schema(properties.path(name), properties.members[name], depth+1); err != nil {
			return err
		}
	}
	if items := o.members["items"]; items != nil {
		if s.Items, err = p.schema(o.path("items"), items, depth+1); err != nil {
			return err
		}
	}
	switch additional := o.members["additionalProperties"].(type) {
	case nil:
	case bool:
		if additional {
			s.Additional = &Schema{}
		}
	default:
		s.Additional, err = p.schema(o.path("additionalProperties"), additional, depth+1)
	}
	return err
}

// check refuses schemas that contradict themselves, and infers a missing type.
func (s *Schema) check(at string) error {
	switch {
	case !slices.Contains([]string{"", "object", "array", "string", "integer", "number", "boolean"}, s.Type):
		return fmt.Errorf("%s.type must be object, array, string, integer, number or boolean, got %s", at, quote(s.Type))
	case len(s.Properties) > 0 && s.Additional != nil:
		return fmt.Errorf("%s.additionalProperties must not be set beside properties", at)
	case (len(s.Properties) > 0 || s.Additional != nil) && (s.Items != nil || s.Type != "" && s.Type != "object"):
		return fmt.Errorf("%s.properties and additionalProperties must not be set unless the type is object", at)
	case s.Items != nil && s.Type != "" && s.Type != "array":
		return fmt.Errorf("%s.items must not be set unless the type is array", at)
	case s.IntOrString && s.Type != "" && !(s.Type == "string" && s.Format == "int-or-string"):
		return fmt.Errorf("%s.type must not be set beside x-kubernetes-int-or-string", at)
	case s.Embedded && s.Type != "" && s.Type != "object":
		return fmt.Errorf("%s.type must be object beside x-kubernetes-embedded-resource, got %s", at, quote(s.Type))
	case s.Minimum != nil && s.Maximum != nil && *s.Minimum > *s.Maximum:
		return fmt.Errorf("%s.minimum must be at most maximum, %v, got %v", at, *s.Maximum, *s.Minimum)
	case !slices.Contains([]string{"", "atomic", "set", "map"}, s.ListType):
		return fmt.Errorf("%s.x-kubernetes-list-type must be atomic, set or map, got %s", at, quote(s.ListType))
	case !slices.Contains([]string{"", "atomic", "granular"}, s.MapType):
		return fmt.Errorf("%s.x-kubernetes-map-type must be atomic or granular, got %s", at, quote(s.MapType))
	case s.ListType == "map" && len(s.ListKeys) == 0:
		return fmt.Errorf("%s.x-kubernetes-list-map-keys must name a key, because x-kubernetes-list-type is map", at)
	}
	switch { // infer a missing type
	case s.Type == "" && (len(s.Properties) > 0 || s.Additional != nil || s.Embedded):
		s.Type = "object"
	case s.Type == "" && s.Items != nil:
		s.Type = "array"
	}
	if !s.fits(s.Default) {
		return fmt.Errorf("%s.default must be %s, got %s", at, s.Type, kindOf(s.Default))
	}
	for i, v := range s.Enum {
		if !s.fits(v) {
			return fmt.Errorf("%s.enum[%d] must be %s, got %s", at, i, s.Type, kindOf(v))
		}
	}
	return nil
}

// fits reports whether a value fits the type. Null fits every type.
func (s *Schema) fits(v any) bool {
	kind := kindOf(v)
	return v == nil || s.Type == "" || s.Ref != "" || kind == s.Type || kind == "integer" && s.Type == "number"
}

func readRequired(s *Schema, o object) (err error) {
	for _, name := range o.texts("required", &err) {
		if s.Required == nil {
			s.Required = make(map[string]bool)
		}
		s.Required[name] = true
	}
	return err
}

func readRules(s *Schema, o object) (err error) {
	for i, v := range o.list("x-kubernetes-validations", &err) {
		rule, wrong := asObject(fmt.Sprintf("%s[%d]", o.path("x-kubernetes-validations"), i), v)
		err = errors.Join(err, wrong)
		if err != nil {
			return err
		}
		text := rule.text("message", &err)
		if text == "" {
			text = rule.text("rule", &err)
		}
		s.Rules = append(s.Rules, text)
	}
	return err
}

// readUnions reads the unions of a built-in kind: each has a discriminator, or members of which at most one is set.
func readUnions(s *Schema, o object) (err error) {
	for i, v := range o.list("x-kubernetes-unions", &err) {
		union, wrong := asObject(fmt.Sprintf("%s[%d]", o.path("x-kubernetes-unions"), i), v)
		if err == nil {
			err = wrong
		}
		if err != nil {
			return err
		}
		fields, wrong := union.child("fields-to-discriminateBy")
		if wrong != nil {
			return wrong
		}
		if len(fields.members) > 0 {
			s.Groups = append(s.Groups, Group{
				Discriminator: union.text("discriminator", &err), Members: slices.Sorted(maps.Keys(fields.members)),
			})
		}
	}
	return err
}

// readExclusions finds a group in oneOf: alternatives that each require one member. Exactly is false if there is any
// other alternative, such as one that excludes all of these members.
func readExclusions(s *Schema, o object) (err error) {
	seen := make(map[string]bool)
	exactly := true
	for _, v := range o.list("oneOf", &err) {
		alternative, _ := v.(map[string]any)
		names, _ := alternative["required"].([]any)
		if len(names) != 1 {
			exactly = false // "none of them", or something else
			continue
		}
		if name, isText := names[0].(string); isText {
			seen[name] = true
		}
	}
	if len(seen) > 1 {
		s.Groups = append(s.Groups, Group{Exactly: exactly, Members: slices.Sorted(maps.Keys(seen))})
	}
	return err
}

// readKinds reads the kinds that have this schema in an OpenAPI document.
func readKinds(s *Schema, o object) (err error) {
	for i, v := range o.list(kindExtension, &err) {
		kind, wrong := asObject(fmt.Sprintf("%s[%d]", o.path(kindExtension), i), v)
		if err == nil {
			err = wrong
		}
		if err != nil {
			return err
		}
		s.kinds = append(s.kinds, kind.gvk(&err))
	}
	return err
}

func (o object) gvk(err *error) meta.GVK {
	return meta.GVK{Group: o.text("group", err), Version: o.text("version", err), Kind: o.text("kind", err)}
}

// JSON returns a value of a document as JSON, for a comment.
func JSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil { // a json.Number of a document always encodes
		return ""
	}
	return string(text)
}
