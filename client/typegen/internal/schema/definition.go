package schema

import (
	"fmt"
	"strings"

	"github.com/bowline-go/bowline/client/meta"
)

// Read reads the kinds of a file, which has CustomResourceDefinitions or OpenAPI v3 documents. Read ignores other
// objects in the file, which may thus be a whole release of a project.
func Read(file string, data []byte) ([]Kind, error) {
	docs, err := Trees(data)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	var all []Kind
	for _, doc := range docs {
		kinds, err := readDocument(doc)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
		all = append(all, kinds...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("read %s: it must have a CustomResourceDefinition of apiextensions.k8s.io/v1 with a version, or an OpenAPI v3 "+
			"document with kinds, got %d other documents", file, len(docs))
	}
	return all, nil
}

func readDocument(doc any) ([]Kind, error) {
	m, isObject := doc.(map[string]any)
	if !isObject {
		return nil, nil
	}
	openapi, _ := m["openapi"].(string)
	kind, _ := m["kind"].(string)
	version, _ := m["apiVersion"].(string)
	switch {
	case openapi != "" || m["swagger"] != nil:
		if !strings.HasPrefix(openapi, "3.") {
			return nil, fmt.Errorf("an OpenAPI document must have version 3, got %s", quote(fmt.Sprint(m["openapi"], m["swagger"])))
		}
		return readOpenAPI(object{"the document", m})
	case kind != "CustomResourceDefinition" || !strings.HasPrefix(version, "apiextensions.k8s.io/"):
		return nil, nil
	case version != "apiextensions.k8s.io/v1":
		return nil, fmt.Errorf("a CustomResourceDefinition must have the apiVersion apiextensions.k8s.io/v1, got %s", quote(version))
	}
	return readDefinition(m)
}

// readDefinition reads the kinds of a CustomResourceDefinition, one for each version.
func readDefinition(m map[string]any) ([]Kind, error) {
	metadata, err := object{"CustomResourceDefinition", m}.child("metadata")
	if err != nil {
		return nil, err
	}
	name := metadata.text("name", &err)
	o := object{"CustomResourceDefinition " + show(name), m}
	spec, wrong := o.child("spec")
	if err == nil {
		err = wrong
	}
	names, wrong := spec.child("names")
	if err == nil {
		err = wrong
	}
	k := Kind{
		GVK:      meta.GVK{Group: spec.text("group", &err), Kind: names.text("kind", &err)},
		Resource: names.text("plural", &err), ListKind: names.text("listKind", &err), Manifest: &Manifest{m},
	}
	scope := spec.text("scope", &err)
	if err != nil {
		return nil, err
	}
	switch scope {
	case "Namespaced":
	case "Cluster":
		k.Scope = meta.Cluster
	default:
		return nil, fmt.Errorf("%s must be Namespaced or Cluster, got %s", spec.path("scope"), quote(scope))
	}
	if k.GVK.Group == "" {
		return nil, fmt.Errorf("%s must not be empty", spec.path("group"))
	}
	var kinds []Kind
	p := parser{left: MaxSchemas}
	for i, v := range spec.list("versions", &err) {
		k.Index = i
		kind, err := p.version(k, fmt.Sprintf("%s[%d]", spec.path("versions"), i), v)
		if err != nil {
			return nil, err
		}
		kinds = append(kinds, kind)
	}
	return kinds, err
}

func (p *parser) version(k Kind, at string, v any) (Kind, error) {
	version, err := asObject(at, v)
	if err != nil {
		return k, err
	}
	k.GVK.Version, k.Served = version.text("name", &err), version.flag("served", &err)
	holder, wrong := version.child("schema")
	if err == nil {
		err = wrong
	}
	if s := holder.members["openAPIV3Schema"]; s != nil && err == nil {
		k.Schema, err = p.schema(at+".schema.openAPIV3Schema", s, 0)
	}
	if err == nil {
		err = k.check(at)
	}
	return k, err
}

// check refuses names that a client could not use, and a schema whose objects are not JSON objects.
func (k Kind) check(at string) error {
	for _, n := range []struct{ what, name string }{{"version", k.GVK.Version}, {"kind", k.GVK.Kind}, {"plural name", k.Resource}} {
		if err := meta.ValidSegment(at+": the "+n.what, n.name); err != nil {
			return err
		}
	}
	for _, n := range []struct{ what, name string }{{"group", k.GVK.Group}, {"list kind", k.ListKind}} {
		if n.name == "" {
			continue
		}
		if err := meta.ValidSegment(at+": the "+n.what, n.name); err != nil {
			return err
		}
	}
	if k.Schema != nil && k.Schema.Ref == "" && k.Schema.Type != "object" && !(k.Schema.Type == "" && k.Schema.PreserveUnknown) {
		return fmt.Errorf("%s: the schema of a kind must have the type object, got %s", at, quote(k.Schema.Type))
	}
	return nil
}
