package main

import (
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"

	"github.com/bowline-go/bowline/client/typegen/internal/source"
)

// options returns the source.Options of the settings. It reads the packages that the settings name.
func (s *settings) options(ctx context.Context) (source.Options, error) {
	o := source.Options{Package: s.packageName, Command: s.command, Fields: s.fields, Functions: s.functions, Definitions: s.definitions}
	known := make(map[string]source.Package)
	read := func(path string) (source.Package, error) {
		p, had := known[path]
		if had {
			return p, nil
		}
		p, err := readPackage(ctx, path)
		known[path] = p
		return p, err
	}
	for _, i := range s.imports {
		p, err := read(i.value)
		if err != nil {
			return o, fmt.Errorf("-import: %w", err)
		}
		o.Imports = append(o.Imports, source.Import{Prefix: i.name, Package: p})
	}
	for _, t := range s.types {
		dot := strings.LastIndexByte(t.value, '.')
		p, err := read(t.value[:dot])
		if err != nil {
			return o, fmt.Errorf("-type: %w", err)
		}
		o.Replacements = append(o.Replacements, source.Replacement{Field: t.name, Type: t.value[dot+1:], Package: p})
	}
	return o, nil
}

// readPackage reads the structs of a package that the module in the current folder can import.
func readPackage(ctx context.Context, path string) (source.Package, error) {
	p := source.Package{Path: path, Structs: make(map[string]source.Struct)}
	out, err := exec.CommandContext(ctx, "go", "list", "-find", "-json=ImportPath,Name,Dir,GoFiles", "--", path).Output()
	if err != nil {
		text := err.Error()
		if exit, ok := err.(*exec.ExitError); ok && len(exit.Stderr) > 0 {
			text = strings.TrimSpace(string(exit.Stderr))
		}
		return p, fmt.Errorf("read the package %q: %s", path, text)
	}
	var listed struct {
		ImportPath, Name, Dir string
		GoFiles               []string
	}
	if err := json.Unmarshal(out, &listed); err != nil {
		return p, fmt.Errorf("read the package %q: it must be one package: %w", path, err)
	}
	if p.Name = listed.Name; p.Name == "main" || listed.ImportPath != path {
		return p, fmt.Errorf("read the package %q: it must be the path of a package that can be imported", path)
	}
	r := make(structs)
	for _, file := range listed.GoFiles {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(listed.Dir, file), nil, parser.SkipObjectResolution)
		if err != nil {
			return p, fmt.Errorf("read the package %q: %w", path, err)
		}
		r.collect(f)
	}
	for name := range r {
		if ast.IsExported(name) {
			s := source.Struct{Members: make(map[string]string)}
			r.members(name, &s, make(map[string]bool))
			p.Structs[name] = s
		}
	}
	return p, nil
}

// structs are the structs of a package by their names.
type structs map[string]*ast.StructType

func (r structs) collect(f *ast.File) {
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.TYPE {
			continue
		}
		for _, spec := range g.Specs {
			t := spec.(*ast.TypeSpec)
			if s, ok := t.Type.(*ast.StructType); ok && t.TypeParams == nil {
				r[t.Name.Name] = s
			}
		}
	}
}

// members adds the fields of a struct, and those of the structs that it embeds.
func (r structs) members(name string, into *source.Struct, within map[string]bool) {
	if within[name] {
		return
	}
	within[name] = true
	for _, f := range r[name].Fields.List {
		tag := ""
		if f.Tag != nil {
			tag, _ = strconv.Unquote(f.Tag.Value) // the parser has checked it
		}
		tag = reflect.StructTag(tag).Get("json")
		member, _, _ := strings.Cut(tag, ",")
		inner := r.named(f.Type)
		switch {
		case tag == "-":
		case member != "":
			into.Members[member] = inner
		case len(f.Names) > 0:
			for _, n := range f.Names {
				if n.IsExported() {
					into.Members[n.Name] = inner
				}
			}
		case r[inner] != nil:
			r.members(inner, into, within)
		case isTypeMeta(f.Type):
			into.Members["apiVersion"], into.Members["kind"] = "", ""
		default:
			into.More = true
		}
	}
}

// named returns the name of a struct of the package if the type is that struct, or a pointer to, a list of or a map of
// that struct; "" otherwise.
func (r structs) named(t ast.Expr) string {
	for {
		switch of := t.(type) {
		case *ast.StarExpr:
			t = of.X
		case *ast.ArrayType:
			t = of.Elt
		case *ast.MapType:
			t = of.Value
		case *ast.Ident:
			if r[of.Name] != nil {
				return of.Name
			}
			return ""
		default:
			return ""
		}
	}
}

func isTypeMeta(t ast.Expr) bool {
	s, ok := t.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "TypeMeta"
}
