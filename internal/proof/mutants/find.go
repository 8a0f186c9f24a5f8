package main

import (
	"fmt"
	"go/ast"
	"go/build"
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

	// A bundle has these texts before and after the place, with the mutant's number instead of the word ID. Both are
	// empty if the mutant must be compiled by itself.
	prefix, suffix string
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
		if ours, err := build.Default.MatchFile(filepath.Dir(name), base); err != nil || !ours {
			if err != nil {
				return nil, err
			}
			continue // of another platform
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
	fixed          []ast.Stmt // statements in places where no other statement can be
	constants      token.Pos  // the end of the last declaration of constants
}

func (f *finder) source(n ast.Node) string {
	return string(f.text[f.set.Position(n.Pos()).Offset:f.set.Position(n.End()).Offset])
}

// add adds the mutant that replaces the text of n by the text after. In a bundle, the prefix and the suffix around n
// have the same effect when the mutant is on.
func (f *finder) add(n ast.Node, after, prefix, suffix string) {
	start, end := f.set.Position(n.Pos()), f.set.Position(n.End())
	if n.Pos() < f.constants { // a constant cannot contain a call of a function
		prefix, suffix = "", ""
	}
	f.found = append(f.found, mutant{
		file: f.file, function: f.function, before: string(f.text[start.Offset:end.Offset]), after: after,
		start: start.Offset, end: end.Offset, line: start.Line, prefix: prefix, suffix: suffix,
	})
}

// visit adds the mutants of one node. Nearly all of them compile: a mutant still evaluates the condition, and
// still contains the statement but never runs it, so that no variable and no import is unused.
func (f *finder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.IfStmt:
		f.fixed = append(f.fixed, n.Init)
		f.always(n.Cond)
		f.never(n.Cond)
	case *ast.ForStmt:
		f.fixed = append(f.fixed, n.Init, n.Post)
		if n.Cond != nil {
			f.never(n.Cond)
		}
	case *ast.SwitchStmt:
		f.fixed = append(f.fixed, n.Init)
		if n.Tag == nil {
			for _, c := range n.Body.List {
				for _, e := range c.(*ast.CaseClause).List {
					f.always(e)
					f.never(e)
				}
			}
		}
	case *ast.TypeSwitchStmt:
		f.fixed = append(f.fixed, n.Init, n.Assign)
	case *ast.CommClause:
		f.fixed = append(f.fixed, n.Comm)
	case *ast.BinaryExpr:
		f.operator(n)
	case *ast.ExprStmt:
		if !is(n.X, "Lock", "Unlock", "RLock", "RUnlock") && !is(n.X, "panic") {
			f.skip(n)
		}
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE && !blank(n.Lhs) {
			f.skip(n)
		}
	case *ast.DeferStmt:
		if !is(n.Call, "Lock", "Unlock", "RLock", "RUnlock") {
			f.skip(n)
		}
	case *ast.BranchStmt:
		if n.Tok != token.FALLTHROUGH {
			f.skip(n)
		}
	case *ast.IncDecStmt:
		f.skip(n)
	case *ast.SendStmt:
		f.skip(n)
	case *ast.GoStmt:
		f.skip(n)
	case *ast.ReturnStmt:
		f.result(n)
	case *ast.Ident:
		switch n.Name {
		case "true":
			f.add(n, "false", "(", " && !mutantOn(ID))")
		case "false":
			f.add(n, "true", "(", " || mutantOn(ID))")
		}
	case *ast.CallExpr:
		return !is(n, "make") // a mutant of a size would change only the cost
	case *ast.BasicLit:
		if n.Kind == token.INT {
			f.add(n, "("+n.Value+"+1)", "mutantNumber(ID, "+n.Value+"+1, ", ")")
		}
	case *ast.GenDecl:
		if n.Tok == token.CONST {
			f.constants = n.End()
		}
		return n.Tok != token.IMPORT && n.Tok != token.TYPE
	case *ast.ArrayType, *ast.FuncType:
		return false
	}
	return true
}

// always adds the mutant in which a condition always holds.
func (f *finder) always(e ast.Expr) {
	f.add(e, "("+f.source(e)+") || true", "((", ") || mutantOn(ID))")
}

// never adds the mutant in which a condition never holds.
func (f *finder) never(e ast.Expr) {
	f.add(e, "("+f.source(e)+") && false", "((", ") && !mutantOn(ID))")
}

func (f *finder) operator(n *ast.BinaryExpr) {
	x, y := f.source(n.X), f.source(n.Y)
	switch n.Op {
	case token.LAND: // one mutant for each side, in which that side does not matter
		f.always(n.X)
		f.always(n.Y)
		return
	case token.LOR:
		f.never(n.X)
		f.never(n.Y)
		return
	}
	swap := map[token.Token]string{
		token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">",
		token.EQL: "!=", token.NEQ: "==",
	}
	sums := map[token.Token]string{token.ADD: "-", token.SUB: "+"}
	switch {
	case swap[n.Op] != "":
		after := x + " " + swap[n.Op] + " " + y
		f.add(n, after, "(mutantOn(ID) && ("+oneSpace(after)+") || !mutantOn(ID) && (", "))")
	case sums[n.Op] != "" && !isText(n.X) && !isText(n.Y): // strings cannot be subtracted
		after := x + " " + sums[n.Op] + " " + y
		prefix, suffix := "mutantNumber(ID, "+oneSpace(after)+", ", ")"
		if calls(n) { // the calls would be made twice
			prefix, suffix = "", ""
		}
		f.add(n, after, prefix, suffix)
	}
}

// oneSpace is an expression without its line breaks, so that lines keep their numbers.
func oneSpace(s string) string { return strings.Join(strings.Fields(s), " ") }

// skip adds the mutant in which a statement is not done.
func (f *finder) skip(n ast.Stmt) {
	if slices.Contains(f.fixed, n) {
		return
	}
	f.add(n, "if false { "+f.source(n)+" }", "if !mutantOn(ID) { ", " }")
}

// result adds the mutant in which an error is not returned.
func (f *finder) result(n *ast.ReturnStmt) {
	if len(n.Results) == 0 {
		return
	}
	last := n.Results[len(n.Results)-1]
	drop := false
	switch e := last.(type) {
	case *ast.Ident:
		drop = e.Name == "err"
	case *ast.CallExpr:
		drop = slices.Contains([]string{"fmt.Errorf", "errors.New", "errors.Join"}, f.source(e.Fun))
	}
	if drop {
		f.add(last, "nil", "mutantError(ID, ", ")")
	}
}

// is reports whether e calls a function or a method with one of the names.
func is(e ast.Expr, names ...string) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	switch fn := call.Fun.(type) {
	case *ast.Ident:
		return slices.Contains(names, fn.Name)
	case *ast.SelectorExpr:
		return slices.Contains(names, fn.Sel.Name)
	}
	return false
}

// calls reports whether an expression calls a function that might do more than compute.
func calls(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && !is(call, "len", "cap", "int", "int64", "Duration") {
			found = true
		}
		return !found
	})
	return found
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
