package discovery

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
)

// HasField reports whether the server knows a field of a kind, by its OpenAPI v3 document. A program that runs with
// several releases of a server or of a CustomResourceDefinition asks before it relies on a field, which an older one
// drops:
//
//	resizes, err := catalog.HasField(ctx, Pods.GVK(), "spec", "containers", "resizePolicy")
//
// The path is the names of the fields, one by one. It goes through lists and through maps with free keys: a list has
// the fields of its elements, and the name after a map is a key, which may be any text. A field whose schema keeps
// unknown fields has all fields.
//
// The Catalog keeps the answer as long as the document is the same, so that a question is cheap; see [Catalog.OpenAPI]
// for when it asks the server. So an answer may be out of date for up to Options.TTL. The error is a [*NoMatchError] if
// there is no document, or no such kind in it.
func (c *Catalog) HasField(ctx context.Context, kind meta.GVK, path ...string) (bool, error) {
	if len(path) == 0 || slices.Contains(path, "") {
		return false, &client.UsageError{Err: fmt.Errorf("discovery: the path of a field must have names that are not empty, got %q", path)}
	}
	doc, err := c.OpenAPI(ctx, kind)
	if err != nil {
		return false, err
	}
	question := strings.Join(append([]string{kind.Kind}, path...), "\x00")
	if has, known := c.answer(kind, doc, question); known {
		return has, nil
	}
	has, err := hasField(doc, kind, path)
	if err != nil {
		return false, fmt.Errorf("look for the field %s of %v: %w", strings.Join(path, "."), kind, err)
	}
	c.keep(kind, doc, question, has)
	return has, nil
}

// fields are the answers to questions about the fields in one document.
type fields struct {
	doc     *byte // the first byte of the document, which shows that it is the same one
	answers map[string]bool
}

// maxAnswers bounds the answers about one document, since a program may make up names.
const maxAnswers = 4096

func (c *Catalog) answer(kind meta.GVK, doc json.RawMessage, question string) (has, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.fields[pathOf(kind)]; f.doc == &doc[0] {
		has, known = f.answers[question]
	}
	return has, known
}

func (c *Catalog) keep(kind meta.GVK, doc json.RawMessage, question string, has bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.fields[pathOf(kind)]
	if f.doc != &doc[0] || len(f.answers) >= maxAnswers {
		f = fields{&doc[0], map[string]bool{}}
	}
	f.answers[question] = has
	if c.fields == nil {
		c.fields = map[string]fields{}
	}
	c.fields[pathOf(kind)] = f
}

// fieldSchema is what a schema says about fields.
type fieldSchema struct {
	Ref        string                     `json:"$ref"`
	Kinds      []schemaKind               `json:"x-kubernetes-group-version-kind"`
	Properties map[string]json.RawMessage `json:"properties"`
	Items      json.RawMessage            `json:"items"`
	Additional json.RawMessage            `json:"additionalProperties"`
	Preserve   bool                       `json:"x-kubernetes-preserve-unknown-fields"`
	AllOf      []json.RawMessage          `json:"allOf"`
}

type schemaKind struct {
	Group, Version, Kind string
}

func hasField(doc json.RawMessage, kind meta.GVK, path []string) (bool, error) {
	var d struct {
		Components struct {
			Schemas map[string]json.RawMessage `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(doc, &d); err != nil {
		return false, err
	}
	for _, text := range d.Components.Schemas {
		var s fieldSchema
		if json.Unmarshal(text, &s) == nil && slices.Contains(s.Kinds, schemaKind(kind)) {
			w := fieldWalk{d.Components.Schemas, maxSchemas}
			return w.has(text, path)
		}
	}
	return false, &NoMatchError{text: fmt.Sprintf("the OpenAPI v3 document of %q has no kind %q", kind.APIVersion(), clip(kind.Kind))}
}

// fieldWalk follows a path through the schemas of a document.
type fieldWalk struct {
	schemas map[string]json.RawMessage
	left    int // how many schemas may still be read; references could make the walk endless
}

const maxSchemas = 1000

// has reports whether a schema has the field at path.
func (w *fieldWalk) has(text json.RawMessage, path []string) (bool, error) {
	if len(path) == 0 {
		return true, nil
	}
	if w.left--; w.left < 0 {
		return false, fmt.Errorf("its schema leads to more than %d others, perhaps to itself", maxSchemas)
	}
	var s fieldSchema
	if err := json.Unmarshal(text, &s); err != nil {
		return false, err
	}
	if inner, ok := s.Properties[path[0]]; ok {
		return w.has(inner, path[1:])
	}
	if s.Preserve || string(s.Additional) == "true" {
		return true, nil
	}
	if isSchema(s.Additional) {
		return w.has(s.Additional, path[1:])
	}
	others := s.AllOf
	if isSchema(s.Items) {
		others = append(others, s.Items)
	}
	if name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/"); ok {
		if w.schemas[name] == nil {
			return false, fmt.Errorf("its schema refers to %q, which is missing", clip(name))
		}
		others = append(others, w.schemas[name])
	}
	for _, other := range others {
		if has, err := w.has(other, path); has || err != nil {
			return has, err
		}
	}
	return false, nil
}

func isSchema(text json.RawMessage) bool { return len(text) > 0 && text[0] == '{' }
