package source

import (
	"maps"
	"reflect"
	"slices"

	"github.com/bowline-go/bowline/client/typegen/internal/schema"
)

// quantityPattern is the pattern of quantities in the definitions that controller-gen makes.
const quantityPattern = `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$`

// leaf returns the type of a value without fields.
func leaf(s *schema.Schema) (goType, bool) {
	switch {
	case s.IntOrString && s.Pattern == quantityPattern:
		return ofMeta("Quantity", value), true
	case s.IntOrString:
		return ofMeta("IntOrString", value), true
	}
	switch s.Type {
	case "boolean":
		return plain("bool"), true
	case "number":
		return plain("float64"), true
	case "integer":
		if s.Format == "int32" {
			return plain("int32"), true
		}
		return plain("int64"), true
	case "string":
		switch {
		case s.Format == "byte":
			return goType{expr: "[]byte", form: nilable, like: reflect.TypeFor[[]byte]()}, true
		case s.Format == "date-time":
			return ofMeta("Time", moment), true
		case !isEnum(s):
			return plain("string"), true
		}
	}
	return goType{}, false
}

// isEnum reports whether the schema lists the allowed values, and not too many of them.
func isEnum(s *schema.Schema) bool {
	const most = 1000
	return len(s.Enum) > 0 && len(s.Enum) <= most && slices.ContainsFunc(s.Enum, func(v any) bool { return v != nil })
}

// shape returns the type of client/meta that has the members of the schema, or json.RawMessage if the schema names no
// members and keeps unknown ones. It returns false if there is no such type. With Options.Definitions package crd must
// also make the same schema from the type.
func (g *generator) shape(s *schema.Schema, m member) (goType, bool) {
	t, ok := shape(s, m)
	if ok && g.options.Definitions && t.form == structure && t.expr != "meta.ObjectMeta" {
		ok = g.exact(t, s) && !(m.unkeyed && t.expr == "meta.Condition")
	}
	return t, ok
}

func shape(s *schema.Schema, m member) (goType, bool) {
	switch {
	case m.embedded && m.name == "metadata" && !m.element:
		return ofMeta("ObjectMeta", structure), true
	case s.Embedded && len(s.Properties) == 0:
		return ofMeta("Unstructured", nilable), true
	case s.PreserveUnknown && len(s.Properties) == 0 && s.Additional == nil && s.Type != "array":
		return raw(), true
	case has(s, "lastTransitionTime", "message", "observedGeneration", "reason", "status", "type") &&
		requires(s, "lastTransitionTime", "message", "reason", "status", "type"):
		return ofMeta("Condition", structure), true
	case has(s, "matchExpressions", "matchLabels") && isSelector(s):
		return ofMeta("LabelSelector", structure), true
	case has(s, "apiVersion", "fieldPath", "kind", "name", "namespace", "resourceVersion", "uid") && len(s.Required) == 0:
		return ofMeta("ObjectReference", structure), true
	}
	return goType{}, false
}

// has reports whether these are the properties of an object, and their types are the usual ones.
func has(s *schema.Schema, properties ...string) bool {
	if s.PreserveUnknown || s.Embedded || !slices.Equal(slices.Sorted(maps.Keys(s.Properties)), properties) {
		return false
	}
	for name, p := range s.Properties {
		want := "string"
		switch {
		case name == "observedGeneration":
			want = "integer"
		case name == "matchLabels":
			want = "object"
		case name == "matchExpressions":
			want = "array"
		}
		if p.Type != want || p.Nullable || p.Default != nil || (p.Format == "date-time") != (name == "lastTransitionTime") || p.Format == "byte" {
			return false
		}
	}
	return true
}

func requires(s *schema.Schema, properties ...string) bool {
	return slices.Equal(slices.Sorted(maps.Keys(s.Required)), properties)
}

func isSelector(s *schema.Schema) bool {
	labels, expressions := s.Properties["matchLabels"], s.Properties["matchExpressions"]
	e := expressions.Items
	return len(s.Required) == 0 && labels.Additional != nil && labels.Additional.Type == "string" && e != nil && e.Type == "object" &&
		slices.Equal(slices.Sorted(maps.Keys(e.Properties)), []string{"key", "operator", "values"}) && requires(e, "key", "operator") &&
		e.Properties["key"].Type == "string" && e.Properties["operator"].Type == "string" &&
		e.Properties["values"].Items != nil && e.Properties["values"].Items.Type == "string"
}

// enum makes a string type with a constant for each text.
func (g *generator) enum(s *schema.Schema, m member) (goType, error) {
	if len(g.types) >= maxTypes {
		return goType{}, errTooMany
	}
	e := &goEnum{name: g.typeName(m)}
	e.doc = described(e.name, m.what(), &schema.Schema{})
	g.types = append(g.types, e)
	for _, v := range s.Enum {
		text, isText := v.(string)
		if !isText || slices.Contains(e.values, text) {
			continue
		}
		e.values = append(e.values, text)
		e.constants = append(e.constants, g.names.take(bounded(e.name+goName(text))))
	}
	return plain(e.name), nil
}
