// Package schema describes objects: which members they may have and of which types, which members a kind always
// writes, and how lists and objects are merged and owned. It reads the OpenAPI schemas of the built-in kinds, which it
// embeds, and of custom resources.
package schema

import (
	"bytes"
	"cmp"
	_ "embed" // for schemas.json
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/patch"
)

// schemaText has the schemas of the built-in kinds as kube-apiserver publishes them, one in a line, without the parts
// that this package does not use. A test in internal/proof/e2e compares it with the server's, and writes it.
//
//go:embed schemas.json
var schemaText []byte

// Builtin returns the schemas of the built-in kinds. The first call finds where each schema starts. A schema is read
// when it is first used, because few callers need them all.
func Builtin() *Table { return builtin() }

var builtin = sync.OnceValue(func() *Table {
	t := &Table{
		texts: make(map[string]json.RawMessage), kinds: make(map[meta.GVK]string),
		shapes: make(map[string]*Shape), documents: make(map[meta.GVR]Document), strategies: make(map[meta.GVK]func() (patch.Schema, error)),
		oddLists: oddLists(),
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

// RefPrefix is the part of a reference before the name of a schema.
const RefPrefix = "#/components/schemas/"

// oddLists returns the lists and maps, by type and member, that a Go type always writes although the schema does not
// require them (true), or does not write although the schema does.
func oddLists() map[string]map[string]bool {
	const api = "io.k8s.api."
	return map[string]map[string]bool{
		api + "admissionregistration.v1.ValidatingAdmissionPolicyBindingSpec": {"validationActions": false},
		api + "authentication.v1.TokenRequestSpec":                            {"audiences": true},
		api + "autoscaling.v2.HorizontalPodAutoscalerStatus":                  {"currentMetrics": true},
		api + "core.v1.ContainerImage":                                        {"names": true},
		api + "core.v1.ProjectedVolumeSource":                                 {"sources": true},
		api + "discovery.v1.EndpointSlice":                                    {"endpoints": true, "ports": true},
		api + "flowcontrol.v1.ResourcePolicyRule":                             {"namespaces": true},
		api + "rbac.v1.ClusterRole":                                           {"rules": true},
		api + "rbac.v1.Role":                                                  {"rules": true},
		api + "resource.v1.AllocatedDeviceStatus":                             {"conditions": true},
		api + "resource.v1.CounterSet":                                        {"counters": false},
		api + "resource.v1.DeviceClaim":                                       {"requests": true},
		api + "resource.v1.DeviceCounterConsumption":                          {"counters": false},
		api + "storage.v1.CSINodeDriver":                                      {"topologyKeys": true},
	}
}

// Table has schemas that refer to each other by name.
type Table struct {
	texts    map[string]json.RawMessage // of the schemas
	kinds    map[meta.GVK]string
	oddLists map[string]map[string]bool
	// strategies returns, for each kind, how a strategic merge patch changes it. The first caller reads it.
	strategies map[meta.GVK]func() (patch.Schema, error)
	closed     bool   // an object without known members has no members
	objects    *Shape // the metadata of an object inside another

	mu        sync.Mutex            // guards the maps below; a shape that Of has returned does not change
	shapes    map[string]*Shape     // the requested shapes, and those that they refer to
	documents map[meta.GVR]Document // the documents that Document has returned
}

// Of returns the shape of a kind, or nil.
func (t *Table) Of(k meta.GVK) *Shape {
	name := t.kinds[k]
	if name == "" {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.named(name)
}

// Document is an OpenAPI document as it is sent.
type Document struct {
	JSON json.RawMessage
	Hash string
}

// Document returns the document of a group version. The first call writes it.
func (t *Table) Document(v meta.GVR, write func() Document) Document {
	t.mu.Lock()
	defer t.mu.Unlock()
	d, found := t.documents[v]
	if !found {
		d = write()
		t.documents[v] = d
	}
	return d
}

// Strategy returns how a strategic merge patch changes a kind.
func (t *Table) Strategy(k meta.GVK) (patch.Schema, error) {
	read := t.strategies[k]
	if read == nil {
		return patch.Schema{}, fmt.Errorf("clienttest: no schema is known for %v", k)
	}
	return read()
}

func (t *Table) readStrategy(kind meta.GVK) (patch.Schema, error) {
	needed := make(map[string]json.RawMessage)
	t.Collect(t.kinds[kind], needed)
	doc, err := json.Marshal(map[string]any{"components": map[string]any{"schemas": needed}})
	if err != nil {
		return patch.Schema{}, err
	}
	return patch.SchemaFromOpenAPI(doc, kind)
}

// MetadataName is the name of the schema of every object's metadata.
const MetadataName = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"

// Metadata returns the shape of every object's metadata.
func (t *Table) Metadata() *Shape {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.named(MetadataName)
}

// schema reads the schema with a name.
func (t *Table) schema(name string) *jsonSchema {
	var j jsonSchema
	jsontree.MustDecode(t.texts[name], &j)
	return &j
}

// named returns the shape of the schema with a name. The caller holds the lock.
func (t *Table) named(name string) *Shape {
	if s := t.shapes[name]; s != nil {
		return s
	}
	s := &Shape{name: name}
	s.atomic = strings.HasSuffix(name, ".runtime.RawExtension")
	t.shapes[name] = s // stored before it is complete, because it may contain itself
	t.fill(s, t.schema(name))
	for member, written := range t.oddLists[name] {
		if written {
			s.write(member, nil)
		} else {
			delete(s.always, member)
		}
	}
	return s
}

func (t *Table) shape(j *jsonSchema) *Shape {
	// An attribute beside a reference, such as the map type of a selector, belongs to the referring schema.
	if j.Ref != "" && j.MapType == "" {
		return t.named(strings.TrimPrefix(j.Ref, RefPrefix))
	}
	s := &Shape{}
	if j.Ref != "" {
		*s = *t.named(strings.TrimPrefix(j.Ref, RefPrefix))
	}
	t.fill(s, j)
	return s
}

func (t *Table) fill(s *Shape, j *jsonSchema) {
	if len(j.Properties) > 0 {
		s.members = make(map[string]*Shape, len(j.Properties))
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
			if p := j.Properties[name]; p != nil && p.holdsMany() { // a Go type writes null if it is empty
				s.write(name, nil)
			}
		}
	}
	switch {
	case j.Items != nil:
		s.elements = t.shape(j.Items)
	case j.AdditionalProperties.schema != nil:
		s.elements = t.shape(j.AdditionalProperties.schema)
	case j.AdditionalProperties.any && t.closed:
		s.elements = &Shape{members: map[string]*Shape{}}
	case j.Type == "object" && t.closed && s.members == nil:
		s.members = map[string]*Shape{}
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
	if j.MapType != "" {
		s.atomic = j.MapType == "atomic"
	}
	s.open = s.open || j.PreserveUnknown
	s.lax = s.lax || j.preserved || j.PreserveUnknown
}

// write records that a member is always written.
func (s *Shape) write(name string, empty any) {
	if s.always == nil {
		s.always = make(map[string]any)
	}
	s.always[name] = empty
}
