package source

import (
	"encoding/json"
	"reflect"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/client/typegen/internal/schema"
)

// form says how a Go type shows that there is no value.
type form int

const (
	scalar    form = iota // by a pointer: a number, a text, a bool
	value                 // by a pointer: a struct that is one value, such as a quantity
	structure             // by a pointer: a struct with fields
	nilable               // by nil: a list, a map, bytes, raw JSON
	moment                // by its zero, which is no value: a time
)

// goType is a type in the written source.
type goType struct {
	expr string
	form form
	// of is the struct that expr names, if this package writes it. It is nil for other types.
	of *goStruct
	// element is the struct of the elements of a list, if this package writes it.
	element *goStruct
	// packages are the packages that expr names.
	packages []string
	// like is a type from which package crd makes the same schema. It is nil without Options.Definitions.
	like reflect.Type
	// open is 1 plus the number of lists and maps around a struct that keeps members without a field; 0 if there is no
	// such struct.
	open int
}

// The packages that written source may import.
const (
	metaPackage   = "github.com/bowline-go/bowline/client/meta"
	clientPackage = "github.com/bowline-go/bowline/client"
	crdPackage    = "github.com/bowline-go/bowline/client/crd"
	jsonPackage   = "encoding/json"
)

func plain(expr string) goType { return goType{expr: expr, like: likeOf(expr)} }
func ofMeta(name string, f form) goType {
	expr := "meta." + name
	return goType{expr: expr, form: f, packages: []string{metaPackage}, like: likeOf(expr)}
}

func raw() goType {
	return goType{expr: "json.RawMessage", form: nilable, packages: []string{jsonPackage}, like: reflect.TypeFor[json.RawMessage]()}
}

// likeOf returns the type that expr names: a basic type or one of client/meta. For a name that it does not know it
// returns string, because a written type without fields is a string type.
func likeOf(expr string) reflect.Type {
	switch expr {
	case "bool":
		return reflect.TypeFor[bool]()
	case "int32":
		return reflect.TypeFor[int32]()
	case "int64":
		return reflect.TypeFor[int64]()
	case "float64":
		return reflect.TypeFor[float64]()
	case "meta.Time":
		return reflect.TypeFor[meta.Time]()
	case "meta.Quantity":
		return reflect.TypeFor[meta.Quantity]()
	case "meta.IntOrString":
		return reflect.TypeFor[meta.IntOrString]()
	case "meta.Condition":
		return reflect.TypeFor[meta.Condition]()
	case "meta.LabelSelector":
		return reflect.TypeFor[meta.LabelSelector]()
	case "meta.ObjectReference":
		return reflect.TypeFor[meta.ObjectReference]()
	case "meta.ObjectMeta":
		return reflect.TypeFor[meta.ObjectMeta]()
	case "meta.Unstructured":
		return reflect.TypeFor[meta.Unstructured]()
	}
	return reflect.TypeFor[string]()
}

const machinery = "io.k8s.apimachinery.pkg."

// component returns the type of a component that client/meta or encoding/json has.
func component(name string) (goType, bool) {
	switch name {
	case machinery + "apis.meta.v1.ObjectMeta":
		return ofMeta("ObjectMeta", structure), true
	case machinery + "apis.meta.v1.LabelSelector":
		return ofMeta("LabelSelector", structure), true
	case machinery + "apis.meta.v1.LabelSelectorRequirement":
		return ofMeta("Requirement", structure), true
	case machinery + "apis.meta.v1.OwnerReference":
		return ofMeta("OwnerReference", structure), true
	case machinery + "apis.meta.v1.ManagedFieldsEntry":
		return ofMeta("ManagedFields", structure), true
	case machinery + "apis.meta.v1.Condition":
		return ofMeta("Condition", structure), true
	case "io.k8s.api.core.v1.ObjectReference":
		return ofMeta("ObjectReference", structure), true
	case machinery + "apis.meta.v1.Time":
		return ofMeta("Time", moment), true
	case machinery + "apis.meta.v1.MicroTime":
		return ofMeta("MicroTime", moment), true
	case machinery + "apis.meta.v1.Duration":
		return ofMeta("Duration", value), true
	case machinery + "api.resource.Quantity":
		return ofMeta("Quantity", value), true
	case machinery + "util.intstr.IntOrString":
		return ofMeta("IntOrString", value), true
	case machinery + "apis.meta.v1.FieldsV1", machinery + "runtime.RawExtension":
		return raw(), true
	}
	return goType{}, false
}

// goStruct is a struct in the written source.
type goStruct struct {
	name, doc string
	component string // the component from which it is made; empty if there is none
	fields    []goField
	taken     names // the names of fields and methods
	// open says that the struct keeps members that have no field.
	open bool
	// passed are members without a field that an open struct does not keep.
	passed []string
}

// goField is a field of a struct.
type goField struct {
	name     string // empty if it is embedded
	typ      goType
	pointer  bool
	member   string // the name in JSON; empty for an embedded struct with several members
	option   string // omitempty, omitzero or nothing
	strategy string // the tag patchStrategy
	key      string // the tag patchMergeKey
	words    string // the tag crd
	doc      string
}

// holds reports whether the value of the field is within the struct, so that the field cannot have the struct's type.
func (f *goField) holds() bool { return f.typ.form == structure && !f.pointer }

// goEnum is a string type and its values.
type goEnum struct {
	name, doc string
	constants []string
	values    []string
}

// goKind is the descriptor of a kind.
type goKind struct {
	name, typ string
	plural    string // the name without the version
	pointsTo  string // the type of which typ is an alias; empty if typ is a struct
	doc       string
	aliasDoc  string
	resource  meta.GVR
	kind      string
	listKind  string
	scope     meta.Scope
	root      *goStruct
	of        schema.Kind
}
