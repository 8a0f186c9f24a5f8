package strategic

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/patch/tree"
)

// Bounds for a server's document. The largest document of a server, that of the core API, needs a tenth of them.
const (
	maxOpenAPI     = 64 << 20 // bytes
	maxShapes      = 200_000  // schemas inside one kind, each counted once
	maxRefs        = 64       // $ref that lead to a $ref
	maxSchemaDepth = 500      // schemas inside one another, through references too
	schemaStart    = "#/components/schemas/"
)

// ShapeFromOpenAPI reads the shape of a kind's objects from the OpenAPI v3 document of its group and version.
func ShapeFromOpenAPI(doc []byte, kind meta.GVK) (*Shape, error) {
	if len(doc) > maxOpenAPI {
		return nil, fmt.Errorf("the document has %d bytes; %d are allowed", len(doc), maxOpenAPI)
	}
	if err := checkDepth(doc, 4*maxSchemaDepth); err != nil {
		return nil, fmt.Errorf("the document %w", err)
	}
	v, err := tree.Decode("the OpenAPI document", doc)
	if err != nil {
		return nil, err
	}
	top, _ := v.(map[string]any)
	components, _ := top["components"].(map[string]any)
	schemas, _ := components["schemas"].(map[string]any)
	if schemas == nil {
		return nil, errors.New("the document has no components.schemas")
	}
	for _, name := range names(schemas) {
		schema, _ := schemas[name].(map[string]any)
		if isKind(schema, kind) {
			r := openAPIReader{schemas: schemas, known: make(map[string]*Shape)}
			return r.read(schema, "components.schemas."+name, 0)
		}
	}
	return nil, fmt.Errorf("the document has no kind %v", kind)
}

func isKind(schema map[string]any, kind meta.GVK) bool {
	kinds, _ := schema["x-kubernetes-group-version-kind"].([]any)
	return slices.ContainsFunc(kinds, func(v any) bool {
		k, _ := v.(map[string]any)
		return k["group"] == kind.Group && k["version"] == kind.Version && k["kind"] == kind.Kind
	})
}

// openAPIReader makes one shape of each named schema, so that it can read a schema that contains itself.
type openAPIReader struct {
	schemas map[string]any
	known   map[string]*Shape
	shapes  int
}

// read makes the shape of a schema. at is its place, for errors.
func (r *openAPIReader) read(schema map[string]any, at string, depth int) (*Shape, error) {
	name, schema, err := r.follow(schema, at)
	if err != nil || schema == nil {
		return nil, err
	}
	if name != "" {
		if s, ok := r.known[name]; ok {
			return s, nil
		}
		at = "components.schemas." + name
	}
	if depth > maxSchemaDepth {
		return nil, fmt.Errorf("%.200s: schemas are nested more than %d deep", at, maxSchemaDepth)
	}
	if r.shapes++; r.shapes > maxShapes {
		return nil, fmt.Errorf("%s: the kind has more than %d schemas", at, maxShapes)
	}
	s := &Shape{}
	if name != "" {
		r.known[name] = s
	}
	if items, ok := schema["items"].(map[string]any); ok {
		if s.items, err = r.read(items, at+".items", depth+1); err != nil {
			return nil, err
		}
	}
	if values, ok := schema["additionalProperties"].(map[string]any); ok {
		if s.values, err = r.read(values, at+".additionalProperties", depth+1); err != nil {
			return nil, err
		}
	}
	properties, _ := schema["properties"].(map[string]any)
	if len(properties) > 0 {
		s.members = make(map[string]Field, len(properties))
	}
	for _, name := range names(properties) {
		property, _ := properties[name].(map[string]any)
		f, err := r.property(property, at+"."+name, depth)
		if err != nil {
			return nil, err
		}
		s.members[name] = f
	}
	return s, nil
}

func (r *openAPIReader) property(schema map[string]any, at string, depth int) (f Field, err error) {
	strategy, err := extension(schema, "x-kubernetes-patch-strategy", at)
	if err != nil {
		return f, err
	}
	if err := f.strategies(strategy); err != nil {
		return f, fmt.Errorf("%s: %w", at, err)
	}
	if f.MergeKey, err = extension(schema, "x-kubernetes-patch-merge-key", at); err != nil {
		return f, err
	}
	f.Shape, err = r.read(schema, at, depth+1)
	return f, err
}

func extension(schema map[string]any, name, at string) (string, error) {
	v, ok := schema[name]
	text, isText := v.(string)
	if ok && !isText {
		return "", fmt.Errorf("%s: %s must be a string", at, name)
	}
	return text, nil
}

// follow returns the schema that a reference stands for, and the last name on the way. A server writes a reference
// with a default beside it as an allOf with one member.
func (r *openAPIReader) follow(schema map[string]any, at string) (name string, _ map[string]any, _ error) {
	for range maxRefs {
		if all, _ := schema["allOf"].([]any); len(all) > 0 {
			first, _ := all[0].(map[string]any)
			schema = first
			continue
		}
		ref, ok := schema["$ref"].(string)
		if !ok {
			return name, schema, nil
		}
		name = strings.TrimPrefix(ref, schemaStart)
		next, _ := r.schemas[name].(map[string]any)
		if next == nil || name == ref {
			return "", nil, fmt.Errorf("%s: $ref %q names no schema", at, ref)
		}
		schema = next
	}
	return "", nil, fmt.Errorf("%s: more than %d references in a chain", at, maxRefs)
}

// names returns the names of an object's members, sorted.
func names(object map[string]any) []string { return slices.Sorted(maps.Keys(object)) }

// checkDepth counts brackets, without checking that doc is JSON.
func checkDepth(doc []byte, most int) error {
	depth, quoted := 0, false
	for i := 0; i < len(doc); i++ {
		switch c := doc[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > most {
				return fmt.Errorf("is nested more than %d deep", most)
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return nil
}
