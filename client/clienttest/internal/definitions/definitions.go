// Package definitions knows the rules of CustomResourceDefinitions of apiextensions.k8s.io/v1: their defaults, which of
// them are valid, and which names a server accepts. Reasons, fields and messages are those of a kube-apiserver 1.37.
//
// Differences:
//   - Check evaluates no CEL: it does not compile the expressions of x-kubernetes-validations, does not estimate their
//     cost, and does not apply them to defaults.
//   - Check expects that the old definition is valid. In an update, a real server tolerates some faults of the old one.
//   - Versions and schemas in messages have the form of the API. A real server prints the fields of its own Go types.
//   - The causes of a default are ordered by field, and properties by name. The order of a real server is random.
//   - Defaults are checked as the values of objects are: a format that does not fit the type is ignored,
//     additionalProperties: false allows everything, and uniqueItems has no effect.
//   - An object in a default may have a namespace or managed fields that are not valid.
//   - A CA bundle that is not base64 counts as empty. A real server cannot read such a request.
//   - If a real server panics when it looks for a selectable field in a schema, this package reports that the schema
//     does not have the field.
//   - The condition NonStructuralSchema does not exist, because Check refuses every schema that would have it.
package definitions

import (
	"encoding/base64"
	"encoding/json"
	"strconv"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/clienttest/internal/object"
)

// Definition is the content of a CustomResourceDefinition.
type Definition struct {
	Name       string
	Group      string
	Names      Names // the names that it asks for
	Namespaced bool
	Versions   []Version // in the order of the object
	Conversion Conversion

	// These are in its status.
	Accepted       Names
	Conditions     []Condition
	StoredVersions []string

	approval string // the annotation that approves an API of Kubernetes
}

// Names are the names of a resource and its kind.
type Names struct {
	Plural     string   `json:"plural"`
	Singular   string   `json:"singular,omitempty"`
	ShortNames []string `json:"shortNames,omitempty"`
	Kind       string   `json:"kind"`
	ListKind   string   `json:"listKind,omitempty"`
	Categories []string `json:"categories,omitempty"`
}

// Version is one version of a resource.
type Version struct {
	Name               string
	Served, Storage    bool
	Deprecated         bool
	DeprecationWarning string          // empty for the default
	Schema             json.RawMessage // its openAPIV3Schema
	Status             bool            // whether it has the subresource
	Scale              *Scale          // nil if it does not have the subresource
	Columns            []Column
	SelectableFields   []string // JSON paths such as .spec.color
}

// Scale says where the subresource finds its values, as JSON paths such as .spec.replicas.
type Scale struct {
	SpecReplicasPath, StatusReplicasPath string
	LabelSelectorPath                    string // may be empty
}

// Column is an additional column of a Table.
type Column struct {
	Name, Type, Format, Description string
	Priority                        int
	JSONPath                        string
}

// Conversion says how objects are converted between versions.
type Conversion struct {
	Strategy       string          // None or Webhook
	CABundle       []byte          // of the webhook, PEM; empty for the roots of the system
	Client         json.RawMessage // the clientConfig of the webhook
	ReviewVersions []string        // of ConversionReviews
}

// Read reads a definition that [Complete] has completed and [Check] has found valid. Members of wrong types are empty.
func Read(d *object.Draft) *Definition {
	spec, status := view(d.Content).in("spec"), view(d.Content).in("status")
	def := &Definition{
		Name: d.Meta.Name, Group: spec.text("group"), Namespaced: spec.text("scope") == "Namespaced",
		Names: readNames(spec.in("names")), Conversion: readConversion(spec.in("conversion")),
		Accepted: readNames(status.in("acceptedNames")), approval: d.Meta.Annotations[approvalAnnotation],
	}
	for _, v := range spec.list("versions") {
		def.Versions = append(def.Versions, readVersion(v))
	}
	for _, c := range status.list("conditions") {
		def.Conditions = append(def.Conditions, Condition{c.text("type"), c.text("status"), c.text("reason"), c.text("message")})
	}
	return def
}

func readNames(v view) Names {
	return Names{
		Plural: v.text("plural"), Singular: v.text("singular"), ShortNames: v.texts("shortNames"),
		Kind: v.text("kind"), ListKind: v.text("listKind"), Categories: v.texts("categories"),
	}
}

func readVersion(v view) Version {
	sub := v.in("subresources")
	is := Version{
		Name: v.text("name"), Served: v.flag("served"), Storage: v.flag("storage"), Deprecated: v.flag("deprecated"),
		DeprecationWarning: v.text("deprecationWarning"), Status: sub.has("status"),
	}
	if s := v.in("schema").in("openAPIV3Schema"); s != nil {
		is.Schema = jsontree.Append(nil, jsontree.Object(s))
	}
	if s := sub.in("scale"); s != nil {
		is.Scale = &Scale{s.text("specReplicasPath"), s.text("statusReplicasPath"), s.text("labelSelectorPath")}
	}
	for _, c := range v.list("additionalPrinterColumns") {
		is.Columns = append(is.Columns, Column{
			c.text("name"), c.text("type"), c.text("format"), c.text("description"), c.number("priority"), c.text("jsonPath"),
		})
	}
	for _, f := range v.list("selectableFields") {
		is.SelectableFields = append(is.SelectableFields, f.text("jsonPath"))
	}
	return is
}

func readConversion(v view) Conversion {
	hook := v.in("webhook")
	c := Conversion{Strategy: v.text("strategy"), ReviewVersions: hook.texts("conversionReviewVersions")}
	if client := hook.in("clientConfig"); client != nil {
		c.CABundle, c.Client = client.bytes("caBundle"), jsontree.Append(nil, jsontree.Object(client))
	}
	return c
}

// view reads the members of an object. A member of another type than the wanted one counts as absent, and so does null.
// A nil view has no members.
type view jsontree.Object

func (v view) has(name string) bool { return v[name] != nil }

func (v view) text(name string) string { s, _ := v[name].(string); return s }

func (v view) flag(name string) bool { b, _ := v[name].(bool); return b }

func (v view) bytes(name string) []byte {
	b, _ := base64.StdEncoding.DecodeString(v.text(name))
	return b
}

func (v view) number(name string) int {
	text, _ := v[name].(json.Number)
	n, _ := strconv.Atoi(text.String())
	return n
}

// in returns a member that is an object.
func (v view) in(name string) view { m, _ := v[name].(jsontree.Object); return m }

// list returns a member that is a list of objects.
func (v view) list(name string) (list []view) {
	all, _ := v[name].([]any)
	for _, e := range all {
		m, _ := e.(jsontree.Object)
		list = append(list, m)
	}
	return list
}

// texts returns a member that is a list of strings.
func (v view) texts(name string) (texts []string) {
	all, _ := v[name].([]any)
	for _, e := range all {
		s, _ := e.(string)
		texts = append(texts, s)
	}
	return texts
}
