package client_test

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// globals are the variables of packages that are written to. Plans are of types, and so bounded by the program and
// nothing that somebody could set; pools hold nothing that has a meaning.
var globals = []string{
	"client/clienttest/explore/clientgo.delayNoErrors", // a variable of client-go, which only tests link
	"client/meta.conditionPlans",
	"client/meta.copyPlans",
	"client/meta.ownerPlans",
	"internal/codec.decoders",
	"internal/gotype.structFields",
	"internal/gotype.unnamed",
	"internal/jsonstream.objectBuffers",
	"internal/wsmux.writeBuffers",
}

// guarantee S20: no package has a variable that another could set, or that changes.
func TestNoPackageHasMutableGlobalState(t *testing.T) {
	found := make(map[string]bool)
	packages(t, func(dir string, files []*ast.File) {
		vars := make(map[string]bool)
		for _, f := range files {
			for _, d := range f.Decls {
				g, ok := d.(*ast.GenDecl)
				if !ok || g.Tok != token.VAR {
					continue
				}
				for _, spec := range g.Specs {
					for _, name := range spec.(*ast.ValueSpec).Names {
						full := dir + "." + name.Name
						if name.Name != "_" {
							vars[name.Name] = true
						}
						// Go has errors to compare with as variables.
						if name.IsExported() && !strings.HasPrefix(name.Name, "Err") && !slices.Contains(globals, full) {
							t.Errorf("%s can be set by anybody", full)
						}
						if isState(spec.(*ast.ValueSpec)) {
							found[full] = true
						}
					}
				}
			}
		}
		for _, d := range declarations(files) {
			locals := localNames(d)
			// global returns the variable that an expression is, or is a part of.
			global := func(e ast.Expr) string {
				for {
					switch x := e.(type) {
					case *ast.IndexExpr:
						e = x.X
					case *ast.SelectorExpr:
						e = x.X
					case *ast.ParenExpr:
						e = x.X
					case *ast.StarExpr:
						e = x.X
					case *ast.Ident:
						if vars[x.Name] && !locals[x.Name] {
							return dir + "." + x.Name
						}
						return ""
					default:
						return ""
					}
				}
			}
			note := func(e ast.Expr) {
				if g := global(e); g != "" {
					found[g] = true
				}
			}
			ast.Inspect(d, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.AssignStmt:
					if n.Tok != token.DEFINE {
						for _, e := range n.Lhs {
							note(e)
						}
					}
				case *ast.IncDecStmt:
					note(n.X)
				case *ast.UnaryExpr:
					if n.Op == token.AND {
						note(n.X)
					}
				case *ast.CallExpr:
					if f, ok := n.Fun.(*ast.Ident); ok && (f.Name == "delete" || f.Name == "clear") {
						note(n.Args[0])
					}
				}
				return true
			})
		}
	})
	for name := range found {
		if !slices.Contains(globals, name) {
			t.Errorf("%s changes while the program runs", name)
		}
	}
	for _, name := range globals {
		if !found[name] {
			t.Errorf("%s is in the list of this test, and does not change", name)
		}
	}
}

func declarations(files []*ast.File) (all []ast.Decl) {
	for _, f := range files {
		all = append(all, f.Decls...)
	}
	return all
}

// localNames returns the names that a function declares, wherever in it.
func localNames(d ast.Decl) map[string]bool {
	names := make(map[string]bool)
	f, ok := d.(*ast.FuncDecl)
	if !ok {
		return names
	}
	add := func(exprs ...ast.Expr) {
		for _, e := range exprs {
			if id, ok := e.(*ast.Ident); ok {
				names[id.Name] = true
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				add(n.Lhs...)
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				add(n.Key, n.Value)
			}
		case *ast.ValueSpec:
			for _, name := range n.Names {
				add(name)
			}
		case *ast.Field:
			for _, name := range n.Names {
				add(name)
			}
		}
		return true
	})
	return names
}

// isState reports whether a variable is of a type that is there to change: one of sync or of sync/atomic.
func isState(s *ast.ValueSpec) bool {
	for _, e := range append(slices.Clone(s.Values), s.Type) {
		state := false
		if e != nil {
			ast.Inspect(e, func(n ast.Node) bool {
				if _, ok := n.(*ast.FuncLit); ok {
					return false
				}
				if sel, ok := n.(*ast.SelectorExpr); ok {
					if p, ok := sel.X.(*ast.Ident); ok && (p.Name == "sync" || p.Name == "atomic") && sel.Sel.Name != "OnceValue" {
						state = true
					}
				}
				return true
			})
		}
		if state {
			return true
		}
	}
	return false
}
