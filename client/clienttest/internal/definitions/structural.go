package definitions

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/meta"
)

// unsupported returns the first reason why no structural schema can be made of s, or "".
func (s view) unsupported() string {
	for _, m := range []struct{ name, shown string }{
		{"id", "id"},
		{"$schema", "schema"},
		{"$ref", "$ref"},
		{"patternProperties", "patternProperties"},
		{"dependencies", "dependencies"},
		{"additionalItems", "additionalItems"},
		{"definitions", "definitions"},
	} {
		object, isObject := s[m.name].(jsontree.Object)
		empty := s[m.name] == "" || isObject && len(object) == 0 && m.name != "additionalItems"
		if s.isSet(m.name) && !empty {
			return fmt.Sprintf("OpenAPIV3Schema '%s' is not supported", m.shown)
		}
	}
	for _, in := range s.choices("", "not", "allOf", "anyOf", "oneOf") {
		if why := in.schema.unsupported(); why != "" {
			return why
		}
	}
	if s["x-kubernetes-preserve-unknown-fields"] == false {
		return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined"
	}
	if len(s.list("items")) > 0 {
		return "OpenAPIV3Schema 'items' must be a schema, but is an array"
	}
	inner := s.choices("", "items", "additionalProperties")
	for _, p := range s.properties("properties") {
		inner = append(inner, place{schema: p.schema})
	}
	for _, in := range inner {
		if why := in.schema.unsupported(); why != "" {
			return why
		}
	}
	return ""
}

// level says what a schema describes.
type level string

const (
	rootLevel  level = "at the root"
	itemLevel  level = "for specified array items"
	fieldLevel level = "for specified object fields"
)

// structural returns why a schema is not structural.
func structural(s view, at string) []meta.StatusCause {
	var r report
	r.structure(s, rootLevel, at)
	r.choicesComplete(s, s, at, at)
	return inOrder(r.causes)
}

// structure checks a schema that gives a value its structure. It is not one of the choices of another schema.
func (r *report) structure(s view, l level, at string) {
	typ, items, additional := s.text("type"), s.in("items"), s.in("additionalProperties")
	isObject, isEither := s.flag("x-kubernetes-embedded-resource"), s.flag("x-kubernetes-int-or-string")
	isAnything := s.flag("x-kubernetes-preserve-unknown-fields")
	if items != nil {
		r.structure(items, itemLevel, at+".items")
	} else if typ == "array" {
		r.required(at+".items", "must be specified")
	}
	properties := s.properties("properties")
	for _, p := range properties {
		r.structure(p.schema, fieldLevel, fmt.Sprintf("%s.properties[%s]", at, p.name))
	}
	if s.has("additionalProperties") && l == rootLevel {
		r.forbidden(at+".additionalProperties", "must not be used at the root")
	}
	if additional != nil {
		r.structure(additional, fieldLevel, at+".additionalProperties")
	}
	if isEither && isAnything {
		r.invalid(at+".x-kubernetes-preserve-unknown-fields", true, "must be false if x-kubernetes-int-or-string is true")
	}
	if isEither && isObject {
		r.invalid(at+".x-kubernetes-embedded-resource", true, "must be false if x-kubernetes-int-or-string is true")
	}
	all := s.list("allOf")
	r.validationOf(s, isIntOrString(s), len(all) > 0 && isIntOrString(all[0]), at)
	switch {
	case isObject && typ != "object":
		r.mustBe(at+".type", typ, "must be object if x-kubernetes-embedded-resource is true")
	case typ == "" && !isEither && !isAnything:
		r.required(at+".type", "must not be empty "+string(l))
	}
	if isObject && s.has("additionalProperties") {
		r.forbidden(at+".additionalProperties", "must not be used if x-kubernetes-embedded-resource is set")
	}
	if l == rootLevel && typ != "" && typ != "object" {
		r.invalid(at+".type", typ, "must be object at the root")
	}
	if l == rootLevel || isObject {
		for _, m := range []struct{ name, typ string }{{"kind", "string"}, {"apiVersion", "string"}, {"metadata", "object"}} {
			if p, found := s.property(m.name); found && p.text("type") != m.typ {
				r.invalid(fmt.Sprintf("%s.properties[%s].type", at, m.name), p.text("type"), "must be "+m.typ)
			}
		}
	}
	if metadata, found := s.property("metadata"); found && l == rootLevel && restrictsMore(metadata) {
		r.forbidden(at+".properties[metadata]",
			"must not specify anything other than name and generateName, but metadata is implicitly specified")
	}
	if isObject && !isAnything && len(properties) == 0 {
		r.required(at+".properties", "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields")
	}
}

// restrictsMore reports whether a schema of metadata says more than the rules for names.
func restrictsMore(metadata view) bool {
	for name := range metadata.in("properties") {
		if name != "name" && name != "generateName" {
			return true
		}
	}
	return metadata.saysMore("type", "default", "properties")
}

// isIntOrString reports whether anyOf has exactly the types integer and string.
func isIntOrString(s view) bool {
	isOnly := func(s view, typ string) bool {
		besides := []string{"type"}
		if s["additionalProperties"] == false {
			besides = append(besides, "additionalProperties") // false has no effect in a choice
		}
		return s.text("type") == typ && !s.has("properties") && !s.saysMore(besides...)
	}
	types := s.list("anyOf")
	return len(types) == 2 && isOnly(types[0], "integer") && isOnly(types[1], "string")
}

// validationOf checks the choices of a schema, and its pattern. SkipAnyOf says that anyOf may have types, and skipFirst
// that the anyOf in the first of allOf may have them.
func (r *report) validationOf(s view, skipAnyOf, skipFirst bool, at string) {
	for _, in := range s.choices(at, "anyOf", "allOf", "oneOf", "not") {
		if skipAnyOf && strings.HasPrefix(in.at, at+".anyOf[") {
			continue
		}
		r.nested(in.schema, skipFirst && in.at == at+".allOf[0]", in.at)
	}
	if pattern := s.text("pattern"); pattern != "" {
		if _, err := regexp.Compile(pattern); err != nil {
			r.invalid(at+".pattern", pattern, fmt.Sprintf("must be a valid regular expression, but isn't: %v", err))
		}
	}
}

// nested checks a schema that is a choice of another schema, or in one.
func (r *report) nested(s view, skipAnyOf bool, at string) {
	r.validationOf(s, skipAnyOf, false, at)
	if items := s.in("items"); items != nil {
		r.nested(items, false, at+".items")
	}
	for _, p := range s.properties("properties") {
		r.nested(p.schema, false, fmt.Sprintf("%s.properties[%s]", at, p.name))
	}
	for _, m := range []struct{ name, must string }{
		{"type", "empty"},
		{"additionalProperties", "undefined"},
		{"default", "undefined"},
		{"title", "empty"},
		{"description", "empty"},
		{"nullable", "false"},
		{"x-kubernetes-preserve-unknown-fields", "false"},
		{"x-kubernetes-embedded-resource", "false"},
		{"x-kubernetes-int-or-string", "false"},
		{"x-kubernetes-list-map-keys", "empty"},
		{"x-kubernetes-list-type", "undefined"},
		{"x-kubernetes-map-type", "undefined"},
		{"x-kubernetes-validations", "empty"},
	} {
		list, isList := s[m.name].([]any)
		refused := s.isSet(m.name) && !(isList && len(list) == 0 && m.name != "default")
		if refused && (s[m.name] != false || m.name == "default") {
			r.forbidden(at+"."+m.name, "must be "+m.must+" to be structural")
		}
	}
	if _, found := s.property("metadata"); found {
		r.forbidden(at+".properties[metadata]", "must not be specified in a nested context")
	}
}

// choicesComplete checks that s defines the properties and items that the choices of v define.
func (r *report) choicesComplete(v, s view, at, vAt string) {
	for _, in := range v.choices(vAt, "not", "allOf", "anyOf", "oneOf") {
		r.complete(in.schema, s, at, in.at)
	}
}

// complete checks that s defines the properties and items that v and its choices define.
func (r *report) complete(v, s view, at, vAt string) {
	r.choicesComplete(v, s, at, vAt)
	inner := func(v, s view, found bool, at, vAt string) {
		if !found {
			r.required(at, "because it is defined in "+vAt)
		} else {
			r.complete(v, s, at, vAt)
		}
	}
	if items := v.in("items"); items != nil {
		inner(items, s.in("items"), s.in("items") != nil, at+".items", vAt+".items")
	}
	for _, p := range v.properties("properties") {
		of, found := s.property(p.name)
		member := fmt.Sprintf(".properties[%s]", p.name)
		inner(p.schema, of, found, at+member, vAt+member)
	}
}
