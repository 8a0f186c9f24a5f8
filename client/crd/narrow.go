package crd

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// This file compares schemas. A change is narrowed if the new schema may refuse or drop some value that the old one
// accepts and keeps. In doubt, the change counts as narrowed.

// schema adds the changes of a schema.
func (d *differ) schema(at string, was, is *Schema) {
	d.differ(at+".description", was.Description, is.Description, "")
	d.differ(at+".title", was.Title, is.Title, "")
	d.differ(at+".example", was.Example, is.Example, "")
	d.differ(at+".externalDocs", was.ExternalDocs, is.ExternalDocs, "")
	d.differ(at+".default", was.Default, is.Default, "")
	d.differ(at+".x-kubernetes-map-type", was.MapType, is.MapType, "")
	d.differ(at+".x-kubernetes-validations", was.Rules, is.Rules, narrowedIf(hasNewRule(was, is)))
	if kindOfValue(was) != kindOfValue(is) {
		d.add(at+".type", kindOfValue(was), kindOfValue(is), narrowedIf(!widerKind(was, is)))
		return // the other members are about another kind of values
	}
	d.differ(at+".format", was.Format, is.Format, narrowedIf(is.Format != "" && !(was.Format == "int32" && is.Format == "int64")))
	d.differ(at+".nullable", was.Nullable, is.Nullable, narrowedIf(!is.Nullable))
	d.differ(at+".enum", was.Enum, is.Enum, narrowedIf(len(is.Enum) > 0 && (len(was.Enum) == 0 || !hasAll(is.Enum, was.Enum))))
	d.differ(at+".pattern", was.Pattern, is.Pattern, narrowedIf(is.Pattern != ""))
	d.differ(at+".multipleOf", was.MultipleOf, is.MultipleOf, narrowedIf(is.MultipleOf != nil))
	d.bound(at, "Minimum", bound{was.Minimum, was.ExclusiveMinimum}, bound{is.Minimum, is.ExclusiveMinimum}, 1)
	d.bound(at, "Maximum", bound{was.Maximum, was.ExclusiveMaximum}, bound{is.Maximum, is.ExclusiveMaximum}, -1)
	d.count(at+".minLength", was.MinLength, is.MinLength, 1)
	d.count(at+".maxLength", was.MaxLength, is.MaxLength, -1)
	d.count(at+".minItems", was.MinItems, is.MinItems, 1)
	d.count(at+".maxItems", was.MaxItems, is.MaxItems, -1)
	d.count(at+".minProperties", was.MinProperties, is.MinProperties, 1)
	d.count(at+".maxProperties", was.MaxProperties, is.MaxProperties, -1)
	d.differ(at+".allOf", was.AllOf, is.AllOf, narrowedIf(len(is.AllOf) > 0))
	d.differ(at+".anyOf", was.AnyOf, is.AnyOf, narrowedIf(len(is.AnyOf) > 0))
	d.differ(at+".oneOf", was.OneOf, is.OneOf, narrowedIf(len(is.OneOf) > 0))
	d.differ(at+".not", was.Not, is.Not, narrowedIf(is.Not != nil))
	d.differ(at+".x-kubernetes-preserve-unknown-fields", was.PreserveUnknownFields, is.PreserveUnknownFields, narrowedIf(!is.PreserveUnknownFields))
	d.differ(at+".x-kubernetes-embedded-resource", was.EmbeddedResource, is.EmbeddedResource, narrowedIf(is.EmbeddedResource))
	d.differ(at+".x-kubernetes-list-type", was.ListType, is.ListType, narrowedIf(is.ListType == "set" || is.ListType == "map"))
	d.differ(at+".x-kubernetes-list-map-keys", was.ListMapKeys, is.ListMapKeys, narrowedIf(len(is.ListMapKeys) > 0))
	d.members(at, was, is)
	switch {
	case was.Items != nil && is.Items != nil:
		d.schema(at+"[]", was.Items, is.Items)
	case was.Items != is.Items:
		d.differ(at+".items", was.Items, is.Items, Narrowed)
	}
}

func narrowedIf(is bool) Danger {
	if is {
		return Narrowed
	}
	return ""
}

// kindOfValue describes the type of the values of a schema.
func kindOfValue(s *Schema) string {
	switch {
	case s.IntOrString:
		return "an integer or a string"
	case s.Type == "":
		return "any value"
	}
	return s.Type
}

// widerKind compares the types of the old schema was and the new schema is. It reports whether the new type has every
// value of the old one.
func widerKind(was, is *Schema) bool {
	switch {
	case is.anything() && !is.EmbeddedResource:
		return true
	case was.Type == "integer" && is.Type == "number":
		return len(is.Enum) == 0 && is.Minimum == nil && is.Maximum == nil && is.MultipleOf == nil
	case is.IntOrString:
		return (was.Type == "integer" || was.Type == "string") && is.Pattern == "" && len(is.Enum) == 0
	}
	return false
}

// hasNewRule reports whether the new schema has a rule that the old one lacks.
func hasNewRule(was, is *Schema) bool {
	return slices.ContainsFunc(is.Rules, func(r Rule) bool {
		return !slices.ContainsFunc(was.Rules, func(o Rule) bool { return o.Rule == r.Rule && same(o.OptionalOldSelf, r.OptionalOldSelf) })
	})
}

// hasAll reports whether a list has all values of another.
func hasAll(list, of []json.RawMessage) bool {
	return !slices.ContainsFunc(of, func(v json.RawMessage) bool {
		return !slices.ContainsFunc(list, func(o json.RawMessage) bool { return same(o, v) })
	})
}

// bound is a minimum or a maximum.
type bound struct {
	at        *json.Number
	exclusive bool
}

// bound adds the change of a bound. sign is 1 if a greater bound allows fewer values, and -1 if it allows more.
func (d *differ) bound(at, name string, was, is bound, sign int) {
	narrowed := is.at != nil && (was.at == nil || is.exclusive && !was.exclusive)
	if was.at != nil && is.at != nil {
		old, err := rational(was.at.String())
		now, err2 := rational(is.at.String())
		switch {
		case err != nil || err2 != nil:
			narrowed = true
		case now.Cmp(old) != 0:
			narrowed = now.Cmp(old) == sign
		}
	}
	d.differ(at+"."+strings.ToLower(name), was.at, is.at, narrowedIf(narrowed))
	d.differ(at+".exclusive"+name, was.exclusive, is.exclusive, narrowedIf(narrowed))
}

// count adds the change of a number of characters, elements or members.
func (d *differ) count(at string, was, is *int64, sign int64) {
	d.differ(at, was, is, narrowedIf(is != nil && (was == nil || (*is-*was)*sign > 0)))
}

// members adds the changes of properties and of the values of a map.
func (d *differ) members(at string, was, is *Schema) {
	for _, name := range is.Required {
		if !slices.Contains(was.Required, name) {
			p := is.Properties[name]
			d.add(at+"."+name+".required", "", "true", narrowedIf(p == nil || len(p.Default) == 0))
		}
	}
	for _, name := range was.Required {
		if !slices.Contains(is.Required, name) {
			d.add(at+"."+name+".required", "true", "", "")
		}
	}
	names := maps.Clone(was.Properties)
	if names == nil {
		names = map[string]*Schema{}
	}
	maps.Copy(names, is.Properties)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		d.member(at+"."+name, was, is, name)
	}
	switch from, to := was.values(), is.values(); {
	case from != nil && to != nil:
		d.schema(at+"[]", from, to)
	case from != nil:
		d.add(at+"[]", kindOfValue(from), "", narrowedIf(!is.keepsUnknown()))
	case to != nil:
		d.add(at+"[]", "", kindOfValue(to), narrowedIf(was.keepsUnknown()))
	default:
		d.differ(at+".additionalProperties", was.AdditionalProperties, is.AdditionalProperties, narrowedIf(!is.keepsUnknown()))
	}
}

// keepsUnknown reports whether members without a schema are kept.
func (s *Schema) keepsUnknown() bool {
	return s.PreserveUnknownFields || s.AdditionalProperties != nil && s.AdditionalProperties.Schema == nil && s.AdditionalProperties.Allows
}

// member adds the changes of one property, which may be missing from the old schema or from the new one.
func (d *differ) member(at string, was, is *Schema, name string) {
	from, to := was.Properties[name], is.Properties[name]
	removedDefault := from != nil && to != nil && len(from.Default) > 0 && len(to.Default) == 0
	switch {
	case removedDefault && slices.Contains(is.Required, name) && slices.Contains(was.Required, name):
		d.add(at+".required", "true, with a default", "true", Narrowed)
		d.schema(at, from, to)
	case from != nil && to != nil:
		d.schema(at, from, to)
	case to == nil && is.values() != nil:
		d.schema(at, from, is.values())
	case to == nil:
		d.add(at, kindOfValue(from), "", narrowedIf(!is.keepsUnknown()))
	case was.values() != nil:
		d.schema(at, was.values(), to)
	default:
		d.add(at, "", kindOfValue(to), narrowedIf(was.keepsUnknown() && !to.anything()))
	}
}
