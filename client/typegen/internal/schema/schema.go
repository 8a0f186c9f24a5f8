package schema

import (
	"maps"

	"github.com/bowline-go/bowline/client/meta"
)

// Kind is a kind of objects in one version, with its resource.
type Kind struct {
	GVK      meta.GVK
	Resource string
	ListKind string
	Scope    meta.Scope
	// Served says that a server offers the version.
	Served bool
	// Schema is the schema of a whole object. It is nil if nothing is known about the objects.
	Schema *Schema
	// Components are the schemas of the OpenAPI document by the names that references use.
	Components map[string]*Schema
	// Manifest is the CustomResourceDefinition of the kind, and Index is the index of the version in it. Manifest is
	// nil if the kind does not come from a definition.
	Manifest *Manifest
	Index    int
}

// Manifest is a CustomResourceDefinition as a file has it, and as [Trees] returns it.
type Manifest struct{ Tree map[string]any }

// Versions returns the versions of the definition.
func (m *Manifest) Versions() []any {
	spec, _ := m.Tree["spec"].(map[string]any)
	versions, _ := spec["versions"].([]any)
	return versions
}

// Schema is the schema of one value. No map or list in it has a nil Schema. It is shared, and must not be changed.
type Schema struct {
	// Ref is the name of a component. The other fields of a reference that matter are Description, Nullable and Default.
	Ref         string
	Description string
	Type        string // object, array, string, integer, number, boolean; empty if the schema has none
	Format      string
	Nullable    bool
	Default     any // as Trees returns it; nil if there is none
	Enum        []any

	Properties map[string]*Schema
	Required   map[string]bool
	// Additional is the schema of the members that Properties does not name; nil if there is none.
	Additional *Schema
	Items      *Schema

	Pattern   string
	MinLength int64
	MinItems  int64
	Minimum   *float64
	Maximum   *float64
	// ExclusiveMinimum and ExclusiveMaximum say that the bound itself is no value.
	ExclusiveMinimum, ExclusiveMaximum bool

	// PreserveUnknown says that members without a schema are kept.
	PreserveUnknown bool
	// Embedded says that the value is a whole object with apiVersion, kind and metadata.
	Embedded    bool
	IntOrString bool
	// ListType is atomic, set or map; MapType is atomic or granular.
	ListType, MapType string
	ListKeys          []string
	PatchStrategy     string
	PatchMergeKey     string
	// Groups are members that exclude each other.
	Groups []Group
	Rules  []string // the CEL rules, or their messages

	kinds []meta.GVK
}

// Whole returns the schema of an embedded resource with the members that the server keeps in every such resource:
// apiVersion, kind and metadata. It makes apiVersion and kind required.
func (s *Schema) Whole() *Schema {
	whole := *s
	whole.Properties, whole.Required = make(map[string]*Schema), make(map[string]bool)
	for name, typ := range map[string]string{"apiVersion": "string", "kind": "string", "metadata": "object"} {
		whole.Properties[name], whole.Required[name] = &Schema{Type: typ}, typ == "string"
	}
	maps.Copy(whole.Properties, s.Properties)
	for name := range s.Required {
		whole.Required[name] = true
	}
	return &whole
}

// Group is a set of members of an object that exclude each other.
type Group struct {
	// Exactly says that one of the members must be set; otherwise at most one may be set.
	Exactly bool
	// Discriminator is the member that says which one is set; empty if there is none.
	Discriminator string
	Members       []string
}

// Refs calls visit with the name of every component that s refers to, in no order.
func (s *Schema) Refs(visit func(ref string)) {
	if s.Ref != "" {
		visit(s.Ref)
	}
	for _, p := range s.Properties {
		p.Refs(visit)
	}
	for _, inner := range []*Schema{s.Items, s.Additional} {
		if inner != nil {
			inner.Refs(visit)
		}
	}
}
