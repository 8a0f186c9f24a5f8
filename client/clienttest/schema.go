package clienttest

import (
	"bytes"
	"cmp"
	_ "embed" // for schemas.json
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/patch"
)

// shape says what a value of a kind may be, as its OpenAPI schema does. It may lead back to itself. Nil knows nothing.
type shape struct {
	members  map[string]*shape // of an object whose members are known; nil where any may be there
	elements *shape            // of a list, or of the values of a map
	list     listType
	keys     []string       // the merge keys of a listMap, in the schema's order
	defaults map[string]any // of members that are such keys: what one is where it is not there
	atomic   bool           // an object that is owned whole
	open     bool           // unknown members stay
	notNull  bool           // null is as good as nothing, and dropped
	format   string         // such as int32
	name     string         // that of the schema, which ends in that of the Go type

	always map[string]any // of a compiled-in type: members that it always writes, and what they are when nothing is set
	typ    string         // object, array, string, integer, number or boolean; empty where it can be any
}

// listType is how a list is owned and merged.
type listType int

const (
	listAtomic listType = iota // as a whole
	listSet                    // by its scalars
	listMap                    // by the merge keys of its objects
)

// jsonSchema is as much of an OpenAPI schema as matters to a shape.
type jsonSchema struct {
	Ref                  string                 `json:"$ref"`
	Properties           map[string]*jsonSchema `json:"properties"`
	Items                *jsonSchema            `json:"items"`
	AdditionalProperties additional             `json:"additionalProperties"`
	Required             []string               `json:"required"`
	Type                 string                 `json:"type"`
	Format               string                 `json:"format"`
	Nullable             bool                   `json:"nullable"`
	Default              json.RawMessage        `json:"default"`
	ListType             string                 `json:"x-kubernetes-list-type"`
	ListMapKeys          []string               `json:"x-kubernetes-list-map-keys"`
	MapType              string                 `json:"x-kubernetes-map-type"`
	PreserveUnknown      bool                   `json:"x-kubernetes-preserve-unknown-fields"`
	EmbeddedResource     bool                   `json:"x-kubernetes-embedded-resource"`
	IntOrString          bool                   `json:"x-kubernetes-int-or-string"`
}

// additional is the schema of members that are not named, or whether there may be any.
type additional struct {
	schema *jsonSchema
	any    bool
}

// UnmarshalJSON implements json.Unmarshaler.
func (a *additional) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &a.any) == nil {
		return nil
	}
	return json.Unmarshal(b, &a.schema)
}

// schemaText has the schemas of the built-in kinds, without what does not matter here, as kube-apiserver publishes them: one in a
// line. A test in internal/e2e compares it with that, and writes it.
//
//go:embed schemas.json
var schemaText []byte

// builtinSchemas is what the built-in kinds are like. The first who asks finds where each schema stands; what one says is read by the
// first who asks for that, because few need them all.
var builtinSchemas = sync.OnceValue(func() *schemaTable {
	t := &schemaTable{
		texts: make(map[string]json.RawMessage), kinds: make(map[meta.GVK]string),
		shapes: make(map[string]*shape), documents: make(map[meta.GVR]*openapiDocument), strategies: make(map[meta.GVK]func() (patch.Schema, error)),
	}
	for line := range bytes.Lines(schemaText) {
		name, text, found := strings.Cut(strings.TrimRight(string(line), ",\n"), `":`)
		if !found {
			continue // a brace
		}
		name = strings.TrimPrefix(name, `"`)
		t.texts[name] = json.RawMessage(text)
		if _, is, found := strings.Cut(text, `"x-kubernetes-group-version-kind":[`); found {
			var k meta.GVK
			jsontree.MustDecode([]byte(is[:strings.Index(is, "}")+1]), &k)
			t.kinds[k] = name
			t.strategies[k] = sync.OnceValues(func() (patch.Schema, error) { return t.readStrategy(k) })
		}
	}
	return t
})

// refStart is what a reference has before the name of a schema.
const refStart = "#/components/schemas/"

// schemaTable is schemas that refer to each other by name.
type schemaTable struct {
	texts map[string]json.RawMessage // of the schemas
	kinds map[meta.GVK]string
	// strategies says of each kind how a strategic merge patch changes it. It is read by the first who asks.
	strategies map[meta.GVK]func() (patch.Schema, error)
	closed     bool   // an object of which no members are known has none
	objects    *shape // the metadata of an object inside another

	mu        sync.Mutex                    // protects the maps below; a shape that ofKind has returned does not change
	shapes    map[string]*shape             // that were asked for, and what they refer to
	documents map[meta.GVR]*openapiDocument // that were asked for
}

// ofKind returns the shape of a kind, or nil.
func (t *schemaTable) ofKind(k meta.GVK) *shape {
	name := t.kinds[k]
	if name == "" {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.named(name)
}

// strategy returns how a strategic merge patch changes a kind.
func (t *schemaTable) strategy(k meta.GVK) (patch.Schema, error) {
	read := t.strategies[k]
	if read == nil {
		return patch.Schema{}, fmt.Errorf("clienttest: nothing is known of %v", k)
	}
	return read()
}

func (t *schemaTable) readStrategy(kind meta.GVK) (patch.Schema, error) {
	needed := make(map[string]json.RawMessage)
	t.collect(t.kinds[kind], needed)
	doc, err := json.Marshal(map[string]any{"components": map[string]any{"schemas": needed}})
	if err != nil {
		return patch.Schema{}, err
	}
	return patch.SchemaFromOpenAPI(doc, kind)
}

// metadataName is what the schema of the metadata of every object is called.
const metadataName = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"

// metadata is the shape that the metadata of every object has.
func (t *schemaTable) metadata() *shape {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.named(metadataName)
}

// schema reads the schema of a name.
func (t *schemaTable) schema(name string) *jsonSchema {
	var j jsonSchema
	jsontree.MustDecode(t.texts[name], &j)
	return &j
}

// named returns the shape of the schema of a name. The table is locked.
func (t *schemaTable) named(name string) *shape {
	if s := t.shapes[name]; s != nil {
		return s
	}
	s := &shape{name: name}
	t.shapes[name] = s // before it is complete: it may lead back to itself
	t.fill(s, t.schema(name))
	return s
}

func (t *schemaTable) shape(j *jsonSchema) *shape {
	// An attribute beside a reference, as the map type of a selector, is of the one who refers.
	if j.Ref != "" && j.MapType == "" {
		return t.named(strings.TrimPrefix(j.Ref, refStart))
	}
	s := &shape{}
	if j.Ref != "" {
		*s = *t.named(strings.TrimPrefix(j.Ref, refStart))
	}
	t.fill(s, j)
	return s
}

func (t *schemaTable) fill(s *shape, j *jsonSchema) {
	if len(j.Properties) > 0 {
		s.members = make(map[string]*shape, len(j.Properties))
	}
	for name, p := range j.Properties {
		s.members[name] = t.shape(p)
		switch {
		case p.Default == nil:
		case !t.closed && string(p.Default) == "{}":
			s.write(name, jsontree.Object{})
		default:
			if s.defaults == nil {
				s.defaults = make(map[string]any)
			}
			s.defaults[name], _ = jsontree.Parse(p.Default) // it is valid: the document is
		}
	}
	if !t.closed {
		for _, name := range j.Required {
			s.write(name, nil)
		}
	}
	switch {
	case j.Items != nil:
		s.elements = t.shape(j.Items)
	case j.AdditionalProperties.schema != nil:
		s.elements = t.shape(j.AdditionalProperties.schema)
	case j.AdditionalProperties.any && t.closed:
		s.elements = &shape{members: map[string]*shape{}}
	case j.Type == "object" && t.closed && s.members == nil:
		s.members = map[string]*shape{}
	}
	if j.EmbeddedResource {
		s.identify(t.objects)
	}
	switch j.ListType {
	case "set":
		s.list = listSet
	case "map":
		s.list, s.keys = listMap, j.ListMapKeys
	}
	s.format = cmp.Or(s.format, j.Format)
	if s.typ = cmp.Or(s.typ, j.Type); j.IntOrString {
		s.typ = ""
	}
	s.notNull = t.closed && !j.Nullable
	s.atomic = s.atomic || j.MapType == "atomic"
	s.open = s.open || j.PreserveUnknown
}

// write notes that a member is always there.
func (s *shape) write(name string, empty any) {
	if s.always == nil {
		s.always = make(map[string]any)
	}
	s.always[name] = empty
}

// shape returns what is known of the resource's objects. Nil is nothing, as of a custom resource without a Schema: its lists are
// atomic, its objects are granular, and unknown members stay.
func (r *resource) shape() *shape {
	if r.builtin {
		return builtinSchemas().ofKind(r.GVK())
	}
	return r.declared
}

// declaredShape reads the openAPIV3Schema of a custom resource; without one it is nil.
func declaredShape(schema json.RawMessage) (*shape, error) {
	if len(schema) == 0 {
		return nil, nil
	}
	var j jsonSchema
	if err := json.Unmarshal(schema, &j); err != nil {
		return nil, fmt.Errorf("the Schema must be the openAPIV3Schema of a CustomResourceDefinition: %w", err)
	}
	if j.Type != "object" {
		return nil, fmt.Errorf("the Schema must be of type object, got %q", j.Type)
	}
	if err := j.check("Schema"); err != nil {
		return nil, err
	}
	metadata := builtinSchemas().metadata()
	s := (&schemaTable{closed: true, objects: metadata}).shape(&j)
	s.identify(metadata)
	return s, nil
}

// check refuses what a CustomResourceDefinition cannot have, and this server would pass over in silence.
func (j *jsonSchema) check(at string) error {
	switch {
	case j == nil:
		return fmt.Errorf("%s must be an object", at)
	case j.Ref != "":
		return fmt.Errorf("%s.$ref must not be set", at)
	case len(j.Properties) > 0 && (j.AdditionalProperties.schema != nil || j.AdditionalProperties.any):
		return fmt.Errorf("%s.additionalProperties must not be set beside properties", at)
	case !slices.Contains([]string{"", "atomic", "set", "map"}, j.ListType):
		return fmt.Errorf("%s.x-kubernetes-list-type must be atomic, set or map, got %q", at, j.ListType)
	case (j.ListType == "map") != (len(j.ListMapKeys) > 0):
		return fmt.Errorf("%s.x-kubernetes-list-map-keys must be set if, and only if, x-kubernetes-list-type is map", at)
	case !slices.Contains([]string{"", "atomic", "granular"}, j.MapType):
		return fmt.Errorf("%s.x-kubernetes-map-type must be atomic or granular, got %q", at, j.MapType)
	}
	for _, name := range slices.Sorted(maps.Keys(j.Properties)) {
		if err := j.Properties[name].check(at + "." + name); err != nil {
			return err
		}
	}
	if j.Items != nil {
		if err := j.Items.check(at + ".items"); err != nil {
			return err
		}
	}
	if j.AdditionalProperties.schema != nil {
		return j.AdditionalProperties.schema.check(at + ".additionalProperties")
	}
	return nil
}

// identify gives an object that is a whole resource the members that every such has.
func (s *shape) identify(metadata *shape) {
	if s.members == nil {
		s.members = make(map[string]*shape)
	}
	s.members["apiVersion"], s.members["kind"] = &shape{}, &shape{}
	s.members["metadata"] = metadata
}

// complete adds the members that are not there and that the schema has a default for.
func (s *shape) complete(v any) {
	if s == nil {
		return
	}
	switch v := v.(type) {
	case jsontree.Object:
		for name, value := range s.defaults {
			if was, found := v[name]; !found || was == nil && s.members[name].notNull {
				v[name] = jsontree.Clone(value) // which gets members of its own below
			}
		}
		for name, m := range v {
			inner, _ := s.field(name)
			inner.complete(m)
		}
	case []any:
		for _, e := range v {
			s.elements.complete(e)
		}
	}
}
