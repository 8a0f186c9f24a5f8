package source_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/typegen/internal/schema"
	"github.com/bowline-go/bowline/client/typegen/internal/source"
)

// stubs are the parts of the packages that written source uses, so that a check of its types takes no time.
var stubs = map[string]string{
	"encoding/json": `package json
		type RawMessage []byte
		func Marshal(any) ([]byte, error) { return nil, nil }
		func Unmarshal([]byte, any) error { return nil }`,
	"github.com/bowline-go/bowline/client/meta": `package meta
		type Scope int
		const Cluster Scope = 1
		type TypeMeta struct{ Kind, APIVersion string }
		type Identity struct{ Namespace, Name, UID, ResourceVersion string }
		type LabelMeta struct{ Labels map[string]string }
		type OwnerMeta struct{ OwnerReferences []OwnerReference }
		type DeletionMeta struct{ DeletionTimestamp *Time }
		type ObjectMeta struct{ Namespace, Name, UID, ResourceVersion string }
		type (
			OwnerReference struct{}
			ManagedFields struct{}
			Time struct{}
			MicroTime struct{}
			Duration struct{}
			Quantity struct{}
			IntOrString struct{}
			Condition struct{}
			LabelSelector struct{}
			Requirement struct{}
			ObjectReference struct{}
			Unstructured struct{}
			Raw struct{}
		)`,
	"github.com/bowline-go/bowline/client": `package client
		import "github.com/bowline-go/bowline/client/meta"
		type Type[T any] struct { Group, Version, Kind, Resource, ListKind string; Scope meta.Scope }`,
	"github.com/bowline-go/bowline/client/crd": `package crd
		import "github.com/bowline-go/bowline/client"
		type (
			Definition struct{}
			OtherVersion struct{}
			Column struct { Name, Type, JSONPath, Format, Description string; Priority int32 }
			Scale struct { SpecReplicas, StatusReplicas, LabelSelector string }
			Rule struct { Rule, Message, MessageExpression, Reason, FieldPath string; OptionalOldSelf *bool }
			WebhookService struct { Namespace, Name, Path string; Port int32 }
			WebhookClient struct { URL string; Service *WebhookService; CABundle []byte }
			Options struct {
				Columns []Column
				Scale *Scale
				WholeStatus, PreserveUnknown, Deprecated, Unserved bool
				SelectableFields, ShortNames, Categories []string
				Rules []Rule
				Descriptions, Labels, Annotations map[string]string
				DeprecationWarning, Singular, Storage string
				Others []OtherVersion
				Conversion *WebhookClient
			}
		)
		func MustOf[T any](client.Type[T], Options) *Definition { return nil }
		func Other[T any](client.Type[T], Options) OtherVersion { return OtherVersion{} }`,
	"example.com/v2/theirs": `package theirs
		type Spec struct{ Since string }
		type Template struct{ Spec Spec }`,
}

// importer checks the stubs.
type importer map[string]*types.Package

func (i importer) Import(path string) (*types.Package, error) {
	if i[path] == nil {
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, stubs[path], 0)
		if err != nil {
			return nil, err
		}
		if i[path], err = (&types.Config{Importer: i}).Check(path, files, []*ast.File{file}, nil); err != nil {
			return nil, err
		}
	}
	return i[path], nil
}

// isDefinition reports whether an expression calls crd.MustOf with nothing but literals and calls of crd.Other.
func isDefinition(e ast.Expr) bool {
	calls := true
	ast.Inspect(e, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			switch f := call.Fun.(type) {
			case *ast.SelectorExpr:
				of, isName := f.X.(*ast.Ident)
				calls = calls && isName && of.Name == "crd" && (f.Sel.Name == "MustOf" || f.Sel.Name == "Other")
			case *ast.ArrayType: // []byte("...")
			case *ast.Ident:
				calls = calls && (f.Name == "new" || len(call.Args) == 0) // or a function with a client.Type
			default:
				calls = false
			}
		}
		return true
	})
	_, isCall := e.(*ast.CallExpr)
	return isCall && calls
}

var digits = regexp.MustCompile(`^[0-9]+$`)

var identifier = regexp.MustCompile(`^[A-Za-z0-9_]+$`)

// harmless checks that source compiles and is formatted, and that nothing of it is a text of a schema, except in
// comments and in string literals.
func harmless(t *testing.T, text []byte) {
	t.Helper()
	if again, err := format.Source(text); err != nil || !bytes.Equal(again, text) {
		t.Fatalf("gofmt changes the source: %v\n%s", err, text)
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "types.go", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if _, err := (&types.Config{Importer: importer{}}).Check("p", files, []*ast.File{file}, nil); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
	for _, group := range file.Comments {
		for _, c := range group.List {
			if c.Text != "//" && !strings.HasPrefix(c.Text, "// ") || strings.HasPrefix(strings.TrimSpace(c.Text[2:]), "+") {
				t.Errorf("the comment %q is more than a comment", c.Text)
			}
		}
	}
	for _, i := range file.Imports {
		if path := strings.Trim(i.Path.Value, `"`); stubs[path] == "" || i.Name != nil {
			t.Errorf("the source imports %s", path)
		}
	}
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if ok && f.Recv == nil && len(f.Body.List) == 1 {
			if ret, isReturn := f.Body.List[0].(*ast.ReturnStmt); isReturn && len(ret.Results) == 1 {
				if _, isLiteral := ret.Results[0].(*ast.CompositeLit); isLiteral || isDefinition(ret.Results[0]) {
					continue // a descriptor, or a definition
				}
			}
		}
		if ok && (f.Recv == nil || f.Name.Name != "MarshalJSON" && f.Name.Name != "UnmarshalJSON") {
			t.Errorf("the source has the function %s", f.Name.Name)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if !identifier.MatchString(n.Name) {
				t.Errorf("the source has the identifier %q", n.Name)
			}
		case *ast.BasicLit:
			if n.Kind == token.INT && digits.MatchString(n.Value) {
				return true
			}
			if n.Kind != token.STRING || strings.ContainsFunc(n.Value, func(r rune) bool { return r > '~' }) {
				t.Errorf("the source has the literal %s", n.Value)
			}
		}
		return true
	})
	if shown := strings.IndexFunc(string(text), func(r rune) bool { return r == '\u202e' || r == '\u2028' || r == 0 || r == '\r' }); shown >= 0 {
		t.Errorf("the source has a rune that is not shown, at %d", shown)
	}
}

// Whatever a file has, reading it and writing its types does not panic, and what is written compiles and holds no text
// of the file outside of comments and strings.
func FuzzTheTypesOfAFile(f *testing.F) {
	for _, name := range []string{"flows", "functions", "hostile", "words", "lost"} {
		data, err := os.ReadFile("../../testdata/" + name + "/" + name + ".yaml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, "")
	}
	f.Add([]byte(openAPI), "spec.a,metadata.labels")
	f.Add([]byte(openAPI), "")
	f.Fuzz(func(t *testing.T, data []byte, fields string) {
		if kinds, err := schema.Read("f", data); err == nil {
			o := source.Options{Package: "p", Command: "test"}
			if fields != "" {
				o.Fields = strings.Split(fields, ",")
			}
			check(t, kinds, o)
			check(t, kinds, source.Options{Package: "p", Command: "test", Definitions: true})
		}
	})
}

// check writes the kinds twice, and checks the source.
func check(t *testing.T, kinds []schema.Kind, o source.Options) {
	t.Helper()
	text, err := source.Write(kinds, o)
	if err != nil {
		return
	}
	harmless(t, text)
	if again, err := source.Write(kinds, o); err != nil || !bytes.Equal(again, text) {
		t.Errorf("the second time it writes %v\n%s", err, again)
	}
}

// A text in any place of a schema stays a text, and a name in any place of one is a name or an error.
func FuzzATextInEachPlace(f *testing.F) {
	for _, text := range []string{
		"", "a", "*/\nfunc init() {}", "`+panic()+`", "//go:build x", "// +build x", "+build x", "\r//line a.go:1\r", "\u2028func f()", "\u202e", "a\x00b",
		"\"", "\\", "type", "Unknown", "ObjectMeta", "a,omitempty", "-", "[a]: b", "# A\n\n  - b\n\tc\n1. d\n\n\n\n* e", "Deprecated: a\n\nb", "#cgo LDFLAGS: a", "é日",
		"Code generated x DO NOT EDIT.", "a\n=\n", "\u00a0\u00a0x", "/*a*/", "- a\n  b\n- c", "TODO(a): b", "[]", "\xff", "package p\nimport \"C\"",
	} {
		f.Add(text, "a")
		f.Add("a", text)
	}
	f.Fuzz(func(t *testing.T, text, name string) {
		leaf := map[string]any{"type": "string", "description": text, "enum": []any{name, text}, "default": text, "pattern": text}
		inner := map[string]any{
			"type": "object", "description": text, "x-kubernetes-preserve-unknown-fields": true, "properties": map[string]any{"leaf": leaf, name: leaf},
			"x-kubernetes-validations": []any{map[string]any{"rule": text, "message": text}},
			"oneOf":                    []any{map[string]any{"required": []any{text}}, map[string]any{"required": []any{name}}},
		}
		spec := map[string]any{"type": "object", "description": text, "properties": map[string]any{
			"list": map[string]any{"type": "array", "items": inner, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []any{text}, "description": text},
			name:   map[string]any{"type": "object", "additionalProperties": inner, "description": name + " " + text},
		}}
		root := map[string]any{"type": "object", "description": text, "properties": map[string]any{"spec": spec, name: leaf}}
		for _, called := range []string{name, "s"} { // a name that no segment of a path can be is an error
			data, err := json.Marshal(map[string]any{
				"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
				"metadata": map[string]any{"name": text, "labels": map[string]any{text: name}},
				"spec": map[string]any{
					"group": "g.a" + called, "scope": "Cluster", "names": map[string]any{"kind": "K" + called, "plural": "k" + called, "listKind": called},
					"versions": []any{
						map[string]any{
							"name": "v1", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": root}, "deprecated": true,
							"deprecationWarning": text, "additionalPrinterColumns": []any{map[string]any{"name": text, "type": "string", "jsonPath": "." + text}},
						},
						map[string]any{"name": "v" + called, "served": true, "schema": map[string]any{"openAPIV3Schema": inner}},
					},
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			if kinds, err := schema.Read("f", data); err == nil {
				check(t, kinds, source.Options{Package: "p", Command: text})
				check(t, kinds, source.Options{Package: "p", Command: text, Definitions: true})
			}
		}
	})
}

// openAPI is a document with references.
const openAPI = `{"openapi": "3.0.0", "paths": {
	"/apis/g.example.com/v1/namespaces/{namespace}/things/{name}": {"get": {"x-kubernetes-group-version-kind": {"group": "g.example.com", "version": "v1", "kind": "Thing"}}},
	"/apis/g.example.com/v1/things": {"get": {"x-kubernetes-group-version-kind": {"group": "g.example.com", "version": "v1", "kind": "Thing"}}},
	"/apis/g.example.com/v1/watch/things": {"get": {"x-kubernetes-group-version-kind": {"group": "g.example.com", "version": "v1", "kind": "Thing"}}},
	"/apis/g.example.com/v1/namespaces/{namespace}/things/{name}/status": {"get": {"x-kubernetes-group-version-kind": {"group": "g.example.com", "version": "v1", "kind": "Other"}}}
}, "components": {"schemas": {
	"com.example.g.v1.Thing": {"type": "object", "required": ["spec"], "x-kubernetes-group-version-kind": [{"group": "g.example.com", "version": "v1", "kind": "Thing"}],
		"properties": {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"allOf": [{"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}], "default": {}},
			"spec": {"allOf": [{"$ref": "#/components/schemas/com.example.g.v1.Spec"}], "default": {}}}},
	"com.example.g.v1.Spec": {"type": "object", "properties": {"a": {"type": "string"}, "not": {"$ref": "#/components/schemas/com.example.g.v1.Spec"},
		"more": {"type": "array", "items": {"$ref": "#/components/schemas/com.example.g.v1.Spec"}, "x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": "a"},
		"other": {"$ref": "#/components/schemas/org.example.Spec"}}, "x-kubernetes-unions": [{"discriminator": "a", "fields-to-discriminateBy": {"not": "Not", "other": "Other"}}]},
	"org.example.Spec": {"type": "object", "properties": {"since": {"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime"}}},
	"io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": {"type": "string", "format": "date-time"},
	"io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta": {"type": "object", "properties": {"name": {"type": "string"}}}
}}}`
