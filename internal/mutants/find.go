package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// mutant is one mistake: the text of a file between two offsets, and the text that takes its place.
type mutant struct {
	file       string // below the module's folder, with slashes
	function   string // such as Store.Commit; empty outside of functions
	before     string
	after      string
	nth        int // among the mutants that are the same up to here, from 1
	start, end int
	line       int
}

// String is the mutant's identity. It is the same as long as the function does not change at this place.
func (m mutant) String() string {
	id := fmt.Sprintf("%s %s: %s => %s", m.file, m.function, oneLine(m.before), oneLine(m.after))
	if m.nth > 1 {
		id += " #" + strconv.Itoa(m.nth)
	}
	return id
}

// apply returns the file's text with the mistake in it.
func (m mutant) apply(text []byte) []byte {
	return slices.Concat(text[:m.start], []byte(m.after), text[m.end:])
}

// oneLine is a source text as argued.txt has it: spaces and line breaks are single spaces, and a long text is cut.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 100 {
		s = s[:80] + "..." + s[len(s)-17:]
	}
	return s
}

// mutantsOf returns the mutants of the Go files of a package's folder that keep allows, tests excepted.
func mutantsOf(root, dir string, keep func(name string) bool) ([]mutant, error) {
	names, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(dir), "*.go"))
	if err != nil {
		return nil, err
	}
	var all []mutant
	for _, name := range names {
		base := filepath.Base(name)
		if strings.HasSuffix(base, "_test.go") || !keep(base) {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		ms, err := mutantsIn(path.Join(dir, base), text)
		if err != nil {
			return nil, err
		}
		all = append(all, ms...)
	}
	return all, nil
}

// mutantsIn returns the mutants of one file in the order of their places.
func mutantsIn(file string, text []byte) ([]mutant, error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	f := &finder{file: file, text: text, set: set}
	for _, d := range tree.Decls {
		f.function = ""
		if fn, ok := d.(*ast.FuncDecl); ok {
			f.function = nameOf(fn)
		}
		ast.Inspect(d, f.visit)
	}
	slices.SortStableFunc(f.found, func(a, b mutant) int { return a.start - b.start })
	seen := map[string]int{}
	for i := range f.found {
		id := f.found[i].String()
		seen[id]++
		f.found[i].nth = seen[id]
	}
	return f.found, nil
}

// nameOf is a function's name, with its receiver's type before it.
func nameOf(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	t := fn.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name + "." + fn.Name.Name
		default:
			return fn.Name.Name
		}
	}
}

// finder collects the mutants of one file.
type finder struct {
	file, function string
	text           []byte
	set            *token.FileSet
	found          []mutant
}

func (f *finder) source(n ast.Node) string {
	return string(f.text[f.set.Position(n.Pos()).Offset:f.set.Position(n.End()).Offset])
}

// replace adds the mutant in which after stands where n is.
func (f *finder) replace(n ast.Node, after string) { f.add(n.Pos(), n.End(), after) }

func (f *finder) add(from, to token.Pos, after string) {
	start, end := f.set.Position(from), f.set.Position(to)
	f.found = append(f.found, mutant{
		file: f.file, function: f.function, before: string(f.text[start.Offset:end.Offset]), after: after,
		start: start.Offset, end: end.Offset, line: start.Line,
	})
}

// visit adds the mutants of one node. They are made so that they compile nearly always: a condition is still evaluated, and a
// statement is still there, but never done, so that no variable and no import is unused.
func (f *finder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.IfStmt:
		f.condition(n.Cond)
	case *ast.ForStmt:
		if n.Cond != nil {
			f.replace(n.Cond, "("+f.source(n.Cond)+") && false")
		}
	case *ast.SwitchStmt:
		if n.Tag == nil {
			for _, c := range n.Body.List {
				for _, e := range c.(*ast.CaseClause).List {
					f.condition(e)
				}
			}
		}
	case *ast.BinaryExpr:
		f.operator(n)
	case *ast.ExprStmt:
		if !locks(n.X) {
			f.skip(n)
		}
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE && !blank(n.Lhs) {
			f.skip(n)
		}
	case *ast.DeferStmt:
		if !locks(n.Call) {
			f.skip(n)
		}
	case *ast.IncDecStmt, *ast.SendStmt, *ast.GoStmt, *ast.BranchStmt:
		f.skip(n)
	case *ast.ReturnStmt:
		f.result(n)
	case *ast.Ident:
		switch n.Name {
		case "true":
			f.replace(n, "false")
		case "false":
			f.replace(n, "true")
		}
	case *ast.CallExpr:
		if fn, ok := n.Fun.(*ast.Ident); ok && fn.Name == "make" {
			return false // a size is a cost
		}
	case *ast.BasicLit:
		if n.Kind == token.INT {
			f.replace(n, "("+n.Value+"+1)")
		}
	case *ast.GenDecl:
		return n.Tok != token.IMPORT && n.Tok != token.TYPE
	}
	return true
}

// condition adds the mutants in which a condition always holds, and never.
func (f *finder) condition(e ast.Expr) {
	f.replace(e, "("+f.source(e)+") || true")
	f.replace(e, "("+f.source(e)+") && false")
}

func (f *finder) operator(n *ast.BinaryExpr) {
	swap := map[token.Token]string{
		token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">",
		token.EQL: "!=", token.NEQ: "==", token.ADD: "-", token.SUB: "+",
	}
	switch n.Op {
	case token.LAND: // each side counts for nothing
		f.replace(n.X, "("+f.source(n.X)+" || true)")
		f.replace(n.Y, "("+f.source(n.Y)+" || true)")
	case token.LOR:
		f.replace(n.X, "("+f.source(n.X)+" && false)")
		f.replace(n.Y, "("+f.source(n.Y)+" && false)")
	case token.ADD:
		if isText(n.X) || isText(n.Y) {
			return // strings have no difference
		}
		fallthrough
	default:
		if op := swap[n.Op]; op != "" {
			f.replace(n, f.source(n.X)+" "+op+" "+f.source(n.Y))
		}
	}
}

// skip adds the mutant in which a statement is not done.
func (f *finder) skip(n ast.Node) { f.replace(n, "if false { "+f.source(n)+" }") }

// result adds the mutant in which an error is not returned.
func (f *finder) result(n *ast.ReturnStmt) {
	if len(n.Results) == 0 {
		return
	}
	last := n.Results[len(n.Results)-1]
	switch e := last.(type) {
	case *ast.Ident:
		if e.Name == "err" {
			f.replace(last, "nil")
		}
	case *ast.CallExpr:
		switch f.source(e.Fun) {
		case "fmt.Errorf", "errors.New", "errors.Join":
			f.replace(last, "nil")
		}
	}
}

// locks reports whether e takes or gives back a lock: a test that is not stuck without it belongs to the race detector.
func locks(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	return ok && slices.Contains([]string{"Lock", "Unlock", "RLock", "RUnlock"}, sel.Sel.Name)
}

// blank reports whether all of an assignment's left side is the blank identifier.
func blank(lhs []ast.Expr) bool {
	return !slices.ContainsFunc(lhs, func(e ast.Expr) bool {
		id, ok := e.(*ast.Ident)
		return !ok || id.Name != "_"
	})
}

func isText(e ast.Expr) bool {
	lit, ok := e.(*ast.BasicLit)
	return ok && lit.Kind == token.STRING
}
