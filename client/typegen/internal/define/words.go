package define

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bowline-go/bowline/client/crd"
)

// This file expresses a schema in the words of a tag.

// group are words that belong together, such as a rule and its message.
type group []string

// words are the words of one tag.
type words struct {
	prefix string // "items." for the elements
	groups []group
}

func (w *words) add(parts ...string) {
	g := make(group, 0, len(parts))
	for _, part := range parts {
		g = append(g, w.prefix+part)
	}
	w.groups = append(w.groups, g)
}

// valued returns a word with a value. It doubles the semicolons of the value.
func valued(name, value string) string { return name + "=" + strings.ReplaceAll(value, ";", ";;") }

// trimmed reports whether a word can have a text as its value. A tag loses the white space around a value.
func trimmed(text string) bool { return text == strings.TrimSpace(text) }

// tag joins words.
func tag(groups []group) string {
	return strings.Join(slices.Concat(groups...), "; ")
}

// fill adds the words that turn the schema of the Go type into the wanted one. It leaves out parts that need no word,
// and parts that no word can express. chosen adds the words about null for the field itself.
func (w *words) fill(is, want *crd.Schema) {
	if want == nil {
		return
	}
	typed := w.types(is, want)
	w.shape(is, want)
	if w.prefix != "" && want.Nullable && !is.Nullable {
		w.add("nullable")
	}
	w.values(is, want)
	w.counts(is, want)
	if text, ok := said(want.Default, want); ok && len(want.Default) > 0 && w.prefix == "" {
		w.add(valued("default", text)) // the default must meet the other words
	}
	for _, r := range want.Rules {
		w.rule(r)
	}
	if typed {
		return // there are no words about elements
	}
	for _, inner := range []struct{ is, want *crd.Schema }{{is.Items, want.Items}, {values(is), values(want)}} {
		if inner.is != nil && inner.want != nil {
			below := words{prefix: w.prefix + "items."}
			below.fill(inner.is, inner.want)
			w.groups = append(w.groups, below.groups...)
		}
	}
}

func values(s *crd.Schema) *crd.Schema {
	if s.AdditionalProperties == nil {
		return nil
	}
	return s.AdditionalProperties.Schema
}

// types adds the words about the type. It reports whether a word replaces the schema of the Go type.
func (w *words) types(is, want *crd.Schema) (typed bool) {
	numeric := want.Type == "integer" || want.Type == "number"
	switch {
	case is.Type == "" && is.PreserveUnknownFields && want.Type == "object" && want.PreserveUnknownFields:
		w.add("type=object", "preserveUnknown")
		return true
	case numeric && is.Type == want.Type && is.Format != "" && want.Format == "":
		w.add("type=" + want.Type)
		return true
	}
	if want.Format != "" && want.Format != is.Format {
		w.add(valued("format", want.Format))
	}
	if want.PreserveUnknownFields && !is.PreserveUnknownFields {
		w.add("preserveUnknown")
	}
	return false
}

// shape adds the words about objects and lists.
func (w *words) shape(is, want *crd.Schema) {
	if want.EmbeddedResource && !is.EmbeddedResource {
		w.add("embedded")
	}
	keys := strings.Join(want.ListMapKeys, ",")
	switch {
	case want.ListType == "" || want.ListType == is.ListType && slices.Equal(want.ListMapKeys, is.ListMapKeys):
	case keys != "":
		w.add(valued("listType", want.ListType), valued("listMapKeys", keys))
	default:
		w.add(valued("listType", want.ListType))
	}
	if want.MapType != "" && want.MapType != is.MapType {
		w.add(valued("mapType", want.MapType))
	}
}

// values adds the words about the values: enum, bounds and pattern.
func (w *words) values(is, want *crd.Schema) {
	var enum []string
	for _, v := range want.Enum {
		text, ok := said(v, want)
		if !ok || strings.Contains(text, ",") {
			enum = nil
			break
		}
		enum = append(enum, text)
	}
	if len(enum) > 0 {
		w.add(valued("enum", strings.Join(enum, ",")))
	}
	bound := func(name string, had, n *json.Number, exclusive bool) {
		switch {
		case n == nil || had != nil && *had == *n:
		case exclusive:
			w.add("exclusiveM" + name[1:] + "=" + n.String())
		default:
			w.add(name + "=" + n.String())
		}
	}
	bound("minimum", is.Minimum, want.Minimum, want.ExclusiveMinimum)
	bound("maximum", is.Maximum, want.Maximum, want.ExclusiveMaximum)
	bound("multipleOf", nil, want.MultipleOf, false)
	if want.Pattern != "" && want.Pattern != is.Pattern && trimmed(want.Pattern) {
		w.add(valued("pattern", want.Pattern))
	}
}

// said returns a value in the form of a tag: a string as it is, and any other value as JSON. ok is false if the tag
// cannot have it.
func said(v json.RawMessage, s *crd.Schema) (text string, ok bool) {
	if s.Type != "string" && !s.IntOrString || json.Unmarshal(v, &text) != nil {
		return string(v), s.Type != "string"
	}
	_, err := strconv.ParseInt(text, 10, 64)
	return text, trimmed(text) && (err != nil || !s.IntOrString) // crd would read an integer as a number
}

func (w *words) counts(is, want *crd.Schema) {
	for _, c := range []struct {
		name    string
		is, has *int64
	}{
		{"minLength", is.MinLength, want.MinLength},
		{"maxLength", is.MaxLength, want.MaxLength},
		{"minItems", is.MinItems, want.MinItems},
		{"maxItems", is.MaxItems, want.MaxItems},
		{"minProperties", is.MinProperties, want.MinProperties},
		{"maxProperties", is.MaxProperties, want.MaxProperties},
	} {
		if c.has != nil && (c.is == nil || *c.is != *c.has) {
			w.add(fmt.Sprintf("%s=%d", c.name, *c.has))
		}
	}
}

func (w *words) rule(r crd.Rule) {
	parts := []string{valued("rule", r.Rule)}
	for _, p := range []struct{ name, value string }{
		{"message", r.Message},
		{"messageExpression", r.MessageExpression},
		{"reason", r.Reason},
		{"fieldPath", r.FieldPath},
	} {
		if p.value != "" {
			parts = append(parts, valued(p.name, p.value))
		}
	}
	if r.OptionalOldSelf != nil && *r.OptionalOldSelf {
		parts = append(parts, "optionalOldSelf")
	}
	w.add(parts...)
}
