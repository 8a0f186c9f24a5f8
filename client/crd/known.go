package crd

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strconv"
)

// This file has the schemas of types that this package knows without their fields, and of Go's basic types.

// Patterns of the API's own types, as other definitions have them.
const (
	quantityPattern  = `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$`
	reasonPattern    = `^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`
	conditionPattern = `^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$`
)

const (
	ours     = "github.com/bowline-go/bowline/client/meta"
	metaV1   = "k8s.io/apimachinery/pkg/apis/meta/v1"
	resource = "k8s.io/apimachinery/pkg/api/resource"
	intstr   = "k8s.io/apimachinery/pkg/util/intstr"
	runtime  = "k8s.io/apimachinery/pkg/runtime"
	unstruct = "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apiext   = "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	core     = "k8s.io/api/core/v1"
)

// nameOf returns the name of a type with its package. For json.RawMessage the name is the same in every release of Go.
func nameOf(t reflect.Type) string {
	if t == reflect.TypeFor[json.RawMessage]() {
		return "json.RawMessage"
	}
	return t.PkgPath() + "." + t.Name()
}

// known returns the schema of a type that this package knows by name, of a slice of bytes, and of a type that encodes
// itself as text; nil for any other type. Because it compares names, this package need not import the packages of
// Kubernetes.
func known(t reflect.Type) *Schema {
	switch nameOf(t) {
	case ours + ".Time", ours + ".MicroTime", metaV1 + ".Time", metaV1 + ".MicroTime", "time.Time":
		return &Schema{Type: "string", Format: "date-time"}
	case ours + ".Duration", metaV1 + ".Duration":
		return &Schema{Type: "string"}
	case ours + ".Quantity", resource + ".Quantity":
		s := either()
		s.Pattern = quantityPattern
		return s
	case ours + ".IntOrString", intstr + ".IntOrString":
		return either()
	case "json.RawMessage", apiext + ".JSON":
		return &Schema{PreserveUnknownFields: true}
	case runtime + ".RawExtension", metaV1 + ".FieldsV1":
		return &Schema{Type: "object", PreserveUnknownFields: true}
	case ours + ".Unstructured", ours + ".Raw", ours + ".Partial", unstruct + ".Unstructured":
		return &Schema{Type: "object", EmbeddedResource: true, PreserveUnknownFields: true}
	case ours + ".Condition", metaV1 + ".Condition":
		return conditionSchema()
	case ours + ".ObjectMeta", metaV1 + ".ObjectMeta":
		return metadataSchema()
	case ours + ".LabelSelector", metaV1 + ".LabelSelector":
		return selectorSchema()
	case ours + ".Requirement", metaV1 + ".LabelSelectorRequirement":
		return requirementSchema()
	case ours + ".ObjectReference", core + ".ObjectReference":
		return referenceSchema()
	}
	if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 && !encodesItself(t) && !isText(t) {
		return &Schema{Type: "string", Format: "byte"}
	}
	if t.Kind() != reflect.Pointer && !encodesItself(t) && isText(t) {
		return &Schema{Type: "string"}
	}
	return nil
}

// isText reports whether a type has methods that write or read its values as text.
func isText(t reflect.Type) bool {
	for _, own := range []reflect.Type{textMarshaler, reflect.TypeFor[encoding.TextUnmarshaler]()} {
		if t.Implements(own) || reflect.PointerTo(t).Implements(own) {
			return true
		}
	}
	return false
}

// isTime reports whether a type is a time that is written as null if it is zero.
func isTime(t reflect.Type) bool {
	switch nameOf(t) {
	case ours + ".Time", ours + ".MicroTime", metaV1 + ".Time", metaV1 + ".MicroTime":
		return true
	}
	return false
}

// isCondition reports whether a type is the API's own condition. A list has one condition of each type.
func isCondition(t reflect.Type) bool {
	return nameOf(t) == ours+".Condition" || nameOf(t) == metaV1+".Condition"
}

func text() *Schema { return &Schema{Type: "string"} }

func texts() *Schema { return &Schema{Type: "array", Items: text(), ListType: "atomic"} }

func textMap() *Schema {
	return &Schema{Type: "object", AdditionalProperties: &SchemaOrBool{Schema: text(), Allows: true}}
}

// either returns the schema of an integer or a string.
func either() *Schema {
	return &Schema{IntOrString: true, AnyOf: []*Schema{{Type: "integer"}, {Type: "string"}}}
}

func conditionSchema() *Schema {
	kind, reason := text(), text()
	kind.Pattern, kind.MaxLength = conditionPattern, new(int64(316))
	reason.Pattern, reason.MinLength, reason.MaxLength = reasonPattern, new(int64(1)), new(int64(1024))
	return &Schema{
		Type: "object", Required: []string{"lastTransitionTime", "message", "reason", "status", "type"},
		Properties: map[string]*Schema{
			"type":               kind,
			"status":             {Type: "string", Enum: []json.RawMessage{[]byte(`"True"`), []byte(`"False"`), []byte(`"Unknown"`)}},
			"observedGeneration": {Type: "integer", Format: "int64", Minimum: new(json.Number("0"))},
			"lastTransitionTime": {Type: "string", Format: "date-time"},
			"reason":             reason,
			"message":            {Type: "string", MaxLength: new(int64(32768))},
		},
	}
}

// metadataSchema returns the schema of the metadata of a template within an object.
func metadataSchema() *Schema {
	finalizers := texts()
	finalizers.ListType = "set"
	return &Schema{Type: "object", Properties: map[string]*Schema{
		"name": text(), "generateName": text(), "namespace": text(), "labels": textMap(), "annotations": textMap(), "finalizers": finalizers,
	}}
}

func requirementSchema() *Schema {
	return &Schema{
		Type: "object", Required: []string{"key", "operator"},
		Properties: map[string]*Schema{"key": text(), "operator": text(), "values": texts()},
	}
}

func selectorSchema() *Schema {
	return &Schema{Type: "object", MapType: "atomic", Properties: map[string]*Schema{
		"matchLabels":      textMap(),
		"matchExpressions": {Type: "array", Items: requirementSchema(), ListType: "atomic"},
	}}
}

func referenceSchema() *Schema {
	s := &Schema{Type: "object", MapType: "atomic", Properties: map[string]*Schema{}}
	for _, name := range []string{"apiVersion", "kind", "namespace", "name", "uid", "resourceVersion", "fieldPath"} {
		s.Properties[name] = text()
	}
	return s
}

// scalar returns the schema of a basic type; nil if t is not a basic type. int has no bounds, and int32 and int64 have
// a format instead. uint and uint64 have only the minimum 0. The other integers have the bounds of their type.
func scalar(t reflect.Type) *Schema {
	s := &Schema{Type: "integer"}
	switch k := t.Kind(); k {
	case reflect.Bool:
		return &Schema{Type: "boolean"}
	case reflect.String:
		return text()
	case reflect.Float32:
		return &Schema{Type: "number", Format: "float"}
	case reflect.Float64:
		return &Schema{Type: "number", Format: "double"}
	case reflect.Int:
	case reflect.Int32, reflect.Int64:
		s.Format = k.String()
	case reflect.Int8, reflect.Int16:
		limit := int64(1) << (t.Bits() - 1)
		s.Minimum, s.Maximum = number(-limit), number(limit-1)
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		s.Minimum, s.Maximum = number(0), number(int64(1)<<t.Bits()-1)
	case reflect.Uint, reflect.Uint64:
		s.Minimum = number(0)
	default:
		return nil
	}
	return s
}

func number(n int64) *json.Number { return new(json.Number(strconv.FormatInt(n, 10))) }

// ofWord returns the schema that the word type specifies.
func ofWord(typ string, preserved bool) (*Schema, error) {
	switch typ {
	case "string", "integer", "number", "boolean":
		return &Schema{Type: typ}, nil
	case "intOrString":
		return either(), nil
	case "any":
		return &Schema{PreserveUnknownFields: true}, nil
	case "object":
		if !preserved {
			return nil, errObjectMembers
		}
		return &Schema{Type: typ}, nil
	}
	return nil, wrongValue("type", typ, "string, integer, number, boolean, intOrString, any, or object with preserveUnknown")
}
