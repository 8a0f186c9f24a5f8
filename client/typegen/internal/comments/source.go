package comments

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// source has the packages that were read.
type source struct {
	folder   string // in which the go command looks for packages
	packages map[string]*pack
}

// pack is a package.
type pack struct {
	name  string
	types map[string]*declared
}

// declared is a type that a package declares.
type declared struct {
	spec    *ast.TypeSpec
	doc     *ast.CommentGroup
	in      *file
	methods map[string]bool
}

// file is a Go file: its package and its imports.
type file struct {
	of      *pack
	imports []*ast.ImportSpec
}

func unquoted(text string) string {
	text, _ = strconv.Unquote(text) // the parser has checked it
	return text
}

// load reads a package without the file called except.
func (s *source) load(ctx context.Context, at, except string) (*pack, error) {
	if p, had := s.packages[at]; had {
		return p, nil
	}
	cmd := exec.CommandContext(ctx, "go", "list", "-find", "-json=Name,Dir,GoFiles,CgoFiles", "--", at)
	cmd.Dir = s.folder
	out, err := cmd.Output()
	if err != nil {
		text := err.Error()
		if exit, ok := errors.AsType[*exec.ExitError](err); ok && len(exit.Stderr) > 0 {
			text = strings.TrimSpace(string(exit.Stderr))
		}
		return nil, fmt.Errorf("read the package %q: %s", at, text)
	}
	var listed struct {
		Name, Dir         string
		GoFiles, CgoFiles []string
	}
	if err := json.Unmarshal(out, &listed); err != nil {
		return nil, fmt.Errorf("read the package %q: it must be one package: %w", at, err)
	}
	p := &pack{name: listed.Name, types: make(map[string]*declared)}
	s.packages[at] = p
	methods := make(map[string]map[string]bool)
	for _, name := range slices.Concat(listed.GoFiles, listed.CgoFiles) {
		if name == except {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(listed.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("read the package %q: %w", at, err)
		}
		p.collect(f, methods)
	}
	for name, d := range p.types {
		d.methods = methods[name]
	}
	return p, nil
}

// collect adds the types and methods of a file.
func (p *pack) collect(f *ast.File, methods map[string]map[string]bool) {
	in := &file{of: p, imports: f.Imports}
	for _, decl := range f.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv == nil || len(decl.Recv.List) == 0 {
				continue
			}
			t := decl.Recv.List[0].Type
			if star, ok := t.(*ast.StarExpr); ok {
				t = star.X
			}
			if id, ok := t.(*ast.Ident); ok {
				if methods[id.Name] == nil {
					methods[id.Name] = make(map[string]bool)
				}
				methods[id.Name][decl.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				if t, ok := spec.(*ast.TypeSpec); ok {
					d := &declared{spec: t, doc: t.Doc, in: in}
					if d.doc == nil && len(decl.Specs) == 1 {
						d.doc = decl.Doc
					}
					p.types[t.Name.Name] = d
				}
			}
		}
	}
}

// opaque are packages whose types package crd knows without looking into them.
var opaque = [...]string{"github.com/bowline-go/bowline/client/meta", "k8s.io/apimachinery"}

var version = regexp.MustCompile(`^v[0-9]+$`)

// resolve returns the declaration of a named type; nil if the type has no name, or no comments that matter.
func (r *reader) resolve(in *file, t ast.Expr) *declared {
	switch t := t.(type) {
	case *ast.Ident:
		return in.of.types[t.Name]
	case *ast.SelectorExpr:
		of, ok := t.X.(*ast.Ident)
		if !ok || r.err != nil {
			return nil
		}
		p, err := r.imported(in, of.Name)
		if r.err = err; p != nil {
			return p.types[t.Sel.Name]
		}
	}
	return nil
}

// imported returns the package that a file imports under a name; nil if its types do not matter.
func (r *reader) imported(in *file, name string) (*pack, error) {
	var others []string // packages whose paths do not show their names
	for _, i := range in.imports {
		at := unquoted(i.Path.Value)
		switch {
		case i.Name != nil && i.Name.Name != name:
		case i.Name == nil && !called(at, name):
			others = append(others, at)
		case isOpaque(at):
			return nil, nil
		default:
			return r.load(at, "")
		}
	}
	for _, at := range others {
		if isOpaque(at) {
			continue
		}
		if p, err := r.load(at, ""); err != nil || p.name == name {
			return p, err
		}
	}
	return nil, nil
}

// called reports whether the package at a path has the name by convention: the last part of the path, or the part
// before a version.
func called(at, name string) bool {
	last := path.Base(at)
	if version.MatchString(last) {
		return last == name || path.Base(path.Dir(at)) == name
	}
	return last == name
}

// isOpaque reports whether a package has no types with fields that matter. A path without a dot before its first slash
// is of the standard library.
func isOpaque(at string) bool {
	first, _, _ := strings.Cut(at, "/")
	return !strings.Contains(first, ".") || slices.ContainsFunc(opaque[:], func(o string) bool { return at == o || strings.HasPrefix(at, o+"/") })
}
