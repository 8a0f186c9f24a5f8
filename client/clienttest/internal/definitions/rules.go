package definitions

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/meta"
)

// checkSchema checks the schema of a version.
func (c *checker) checkSchema(version view, at string, status bool) {
	s := schemaOf(version)
	if s == nil {
		return
	}
	at += ".openAPIV3Schema"
	r := &report{}
	if status {
		r.rootBesideStatus(s, at)
	}
	if s.flag("nullable") {
		r.forbidden(at+".nullable", "nullable cannot be true at the root")
	}
	unstructured := s.unsupported()
	if unstructured == "" {
		if wrong := structural(s, at); len(wrong) > 0 {
			r.causes = append(r.causes, wrong...)
		} else {
			r.defaults(s, at)
		}
	}
	r.rules(s, at, where{root: true})
	if len(r.causes) == 0 && unstructured != "" {
		r.invalid(at, "", unstructured)
	}
	c.causes = append(c.causes, r.causes...)
}

// besideStatus are the members that the root of a schema may have if the status is a subresource.
const besideStatus = "[Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength " +
	"Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields " +
	"XValidations]"

// rootBesideStatus checks the root of a schema whose status is a subresource.
func (r *report) rootBesideStatus(s view, at string) {
	first := slices.ContainsFunc([]string{"id", "$schema", "$ref"}, s.isSet)
	other := slices.ContainsFunc([]string{
		"nullable", "default", "enum", "maxProperties", "minProperties", "allOf", "oneOf", "anyOf", "not",
		"additionalProperties", "patternProperties", "dependencies", "additionalItems", "definitions",
		"x-kubernetes-embedded-resource", "x-kubernetes-int-or-string", "x-kubernetes-list-map-keys",
		"x-kubernetes-list-type", "x-kubernetes-map-type",
	}, s.isSet)
	switch typ := s.text("type"); {
	case !first && typ != "" && typ != "object":
		r.invalid(at+".type", typ, `only "object" is allowed as the type at the root of the schema if the status subresource is enabled`)
	case first || other:
		r.invalid(at, jsontree.Object(s), "only "+besideStatus+" fields are allowed at the root of the schema if the status subresource is enabled")
	}
}

// where says what surrounds a schema.
type where struct {
	root, inMetadata bool
	noDefault        string // why it may not have a default
}

var types = []string{"array", "boolean", "integer", "number", "object", "string"}

// rules checks the rules for any schema, structural or not.
func (r *report) rules(s view, at string, w where) {
	r.members(s, at, w)
	if s.flag("uniqueItems") {
		r.forbidden(at+".uniqueItems", "uniqueItems cannot be set to true since the runtime complexity becomes quadratic")
	}
	properties := s.properties("properties")
	additional := s.in("additionalProperties")
	if len(properties) > 0 && (additional != nil || s["additionalProperties"] == false) {
		r.forbidden(at+".additionalProperties", "additionalProperties and properties are mutual exclusive")
	}
	inside := where{inMetadata: w.inMetadata, noDefault: w.noDefault}
	if additional != nil {
		of := inside
		if w.inMetadata {
			of.noDefault = "inside additionalProperties applying to object metadata"
		}
		r.rules(additional, at+".additionalProperties", of)
	}
	for _, p := range properties {
		of := inside
		if (w.root || s.flag("x-kubernetes-embedded-resource")) && isMetadata(p.name) {
			of.inMetadata = true
			if w.root {
				of.noDefault = "in top-level " + p.name
			}
		}
		r.rules(p.schema, fmt.Sprintf("%s.properties[%s]", at, p.name), of)
	}
	for _, in := range s.choices(at, "not", "allOf", "oneOf", "anyOf") {
		r.rules(in.schema, in.at, inside)
	}
	for _, p := range s.properties("definitions") {
		r.rules(p.schema, fmt.Sprintf("%s.definitions[%s]", at, p.name), inside)
	}
	for _, in := range s.choices(at, "items") {
		r.rules(in.schema, in.at, inside)
	}
	for _, p := range s.properties("dependencies") {
		if p.schema != nil {
			r.rules(p.schema, fmt.Sprintf("%s.dependencies[%s]", at, p.name), inside)
		}
	}
	if s["x-kubernetes-preserve-unknown-fields"] == false {
		r.invalid(at+".x-kubernetes-preserve-unknown-fields", false, "must be true or undefined")
	}
	r.collections(s, at)
	for i, rule := range s.list("x-kubernetes-validations") {
		r.validation(s, rule, fmt.Sprintf("%s.x-kubernetes-validations[%d]", at, i))
	}
}

func isMetadata(property string) bool {
	return property == "apiVersion" || property == "kind" || property == "metadata"
}

// members checks that a schema has no member that it cannot have.
func (r *report) members(s view, at string, w where) {
	typ := s.text("type")
	if typ != "" && !slices.Contains(types, typ) {
		r.unsupported(at+".type", typ, types...)
	}
	if s.has("default") && w.noDefault != "" {
		r.forbidden(at+".default", "must not be set "+w.noDefault)
	}
	refuse := func(member string, refused bool) {
		if refused {
			r.forbidden(at+"."+member, member+" is not supported")
		}
	}
	refuse("id", s.isSet("id"))
	refuse("additionalItems", s.has("additionalItems"))
	refuse("patternProperties", len(s.in("patternProperties")) > 0)
	refuse("definitions", len(s.in("definitions")) > 0)
	refuse("dependencies", s.has("dependencies"))
	refuse("$ref", s.has("$ref"))
	if typ == "null" {
		r.forbidden(at+".type", "type cannot be set to null, use nullable as an alternative")
	}
	if len(s.list("items")) > 0 {
		r.forbidden(at+".items", "items must be a schema object and not an array")
	}
	if w.inMetadata && s.flag("x-kubernetes-embedded-resource") {
		r.forbidden(at+".x-kubernetes-embedded-resource", "must not be used inside of resource meta")
	}
}

// collections checks what a schema says about the elements of a list or a map.
func (r *report) collections(s view, at string) {
	const listField, mapField, keysField = ".x-kubernetes-list-type", ".x-kubernetes-map-type", ".x-kubernetes-list-map-keys"
	typ, items := s.text("type"), s.in("items")
	listType, isList := s["x-kubernetes-list-type"].(string)
	mapType, isMap := s["x-kubernetes-map-type"].(string)
	keys := s.texts("x-kubernetes-list-map-keys")
	if isMap && typ != "object" {
		r.mustBe(at+".type", typ, "must be object if x-kubernetes-map-type is specified")
	}
	if isMap && mapType != "atomic" && mapType != "granular" {
		r.unsupported(at+mapField, mapType, "atomic", "granular")
	}
	const atomic = "must be atomic as item of a list with x-kubernetes-list-type=set"
	switch {
	case isList && typ != "array":
		r.mustBe(at+".type", typ, "must be array if x-kubernetes-list-type is specified")
	case listType == "set" && items.text("type") == "array":
		if of, found := items["x-kubernetes-list-type"].(string); found && of != "atomic" {
			r.invalid(at+".items"+listField, asJSON(of), atomic)
		}
	case listType == "set" && items.text("type") == "object":
		if items.text("x-kubernetes-map-type") != "atomic" {
			r.invalid(at+".items"+mapField, items["x-kubernetes-list-type"], atomic) // the server shows the other field
		}
	}
	if isList && !slices.Contains([]string{"atomic", "set", "map"}, listType) {
		r.unsupported(at+listField, listType, "atomic", "set", "map")
	}
	if len(keys) > 0 && listType != "map" {
		const why = "must be map if x-kubernetes-list-map-keys is non-empty"
		if isList {
			r.invalid(at+listField, listType, why)
		} else {
			r.required(at+listField, why)
		}
	}
	if listType == "map" {
		if len(keys) == 0 {
			r.required(at+keysField, "must not be empty if x-kubernetes-list-type is map")
		}
		r.mapItems(s, keys, at)
	}
	if items != nil && (listType == "set" || listType == "map") {
		r.notNull(items, listType, keys, at+".items")
	}
}

// mapItems checks the elements of a list that is a map.
func (r *report) mapItems(s view, keys []string, at string) {
	items := s.in("items")
	switch {
	case !s.has("items"):
		r.required(at+".items", "must have a schema if x-kubernetes-list-type is map")
		return
	case items == nil:
		r.invalid(at+".items", s["items"], "must only have a single schema if x-kubernetes-list-type is map")
		return
	case items.text("type") != "object":
		r.invalid(at+".items.type", items.text("type"), "must be object if parent array's x-kubernetes-list-type is map")
		return
	}
	wrong := func(why string) { r.invalid(at+".x-kubernetes-list-map-keys", s["x-kubernetes-list-map-keys"], why) }
	for i, key := range keys {
		property, found := items.property(key)
		if typ := property.text("type"); typ == "array" || typ == "object" {
			// The server shows the type of the element.
			r.invalid(fmt.Sprintf("%s.items.properties[%s].type", at, key), "object",
				"must be a scalar type if parent array's x-kubernetes-list-type is map")
		}
		if !found {
			wrong("entries must all be names of item properties")
		}
		if slices.Contains(keys[:i], key) {
			wrong("must not contain duplicate entries")
		}
	}
}

// notNull checks that the elements of a list of this x-kubernetes-list-type cannot be null, and that their keys can be
// neither null nor absent.
func (r *report) notNull(items view, listType string, keys []string, at string) {
	if items.flag("nullable") {
		r.forbidden(at+".nullable", "cannot be nullable when x-kubernetes-list-type is "+listType)
	}
	if listType != "map" {
		return
	}
	for _, key := range keys {
		property, found := items.property(key)
		at := fmt.Sprintf("%s.properties[%s]", at, key)
		if found && !property.has("default") && !slices.Contains(items.texts("required"), key) {
			r.required(at+".default", "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property")
		}
		if property.flag("nullable") {
			r.forbidden(at+".nullable", "this property is in x-kubernetes-list-map-keys, so it cannot be nullable")
		}
	}
}

// validation checks one of the x-kubernetes-validations of s. It does not compile the expressions.
func (r *report) validation(s, rule view, at string) {
	const newlines = "\r\n"
	expression, message := strings.TrimSpace(rule.text("rule")), strings.TrimSpace(rule.text("message"))
	switch {
	case expression == "":
		r.required(at+".rule", "rule is not specified")
	case rule.text("message") != "" && message == "":
		r.invalid(at+".message", rule.text("message"), "must be non-empty if specified")
	case strings.ContainsAny(message, newlines):
		r.invalid(at+".message", rule.text("message"), "must not contain line breaks")
	case strings.ContainsAny(expression, newlines) && message == "":
		r.required(at+".message", "message must be specified if rule contains line breaks")
	}
	if m := rule.text("messageExpression"); m != "" && strings.TrimSpace(m) == "" {
		r.required(at+".messageExpression", "messageExpression must be non-empty if specified")
	}
	reasons := []string{"FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"}
	if reason, found := rule["reason"].(string); found && !slices.Contains(reasons, reason) {
		r.unsupported(at+".reason", reason, reasons...)
	}
	path := rule.text("fieldPath")
	if path == "" {
		return
	}
	if strings.TrimSpace(path) == "" {
		r.invalid(at+".fieldPath", path, "must be non-empty if specified")
	}
	if strings.ContainsAny(path, newlines) {
		r.invalid(at+".fieldPath", path, "must not contain line breaks")
	}
	if s.unsupported() == "" {
		if _, err := follow(s, path, true); err != nil {
			r.invalid(at+".fieldPath", path, "must be a valid path")
		}
	}
}

// inOrder sorts causes as the server sorts those about the structure of a schema.
func inOrder(causes []meta.StatusCause) []meta.StatusCause {
	slices.SortStableFunc(causes, func(a, b meta.StatusCause) int {
		return cmp.Compare(a.Field+": "+a.Message, b.Field+": "+b.Message)
	})
	return causes
}
