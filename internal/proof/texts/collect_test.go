package texts

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A text is one error or log text in the source. Parts that are not constant stand in it as %v.
type text struct {
	file string // its path below the root of the module
	line int
	in   string // the function around it
	kind kind
	call string // the function that takes it: "fmt.Errorf", "bad"
	text string
	args []ast.Expr // the arguments after a format
}

type kind string

const (
	made     kind = "error"   // the text of errors.New and fmt.Errorf
	helped   kind = "helper"  // the text that a function of the module makes an error of
	panicked kind = "panic"   // the text of a panic
	logged   kind = "log"     // the message of a log line
	answered kind = "answer"  // the text of http.Error
	method   kind = "Error()" // a text in an Error method
	field    kind = "field"   // a field of an error value
	part     kind = "part"    // a text that a function returns as a string, such as a reason
)

func (t text) String() string {
	return fmt.Sprintf("%s:%d: %s: %s: %s %q", t.file, t.line, t.in, t.kind, t.call, t.text)
}

// root is the folder of the module.
const root = "../../.."

// skipped are the folders whose code no user links.
var skipped = []string{
	"internal/proof", "examples", "client/clienttest/explore/clientgo/internal/originals",
}

// module is the parsed shipped files.
type module struct {
	fset     *token.FileSet
	packages map[string][]*ast.File // by folder
}

// shipped parses the shipped files once.
var shipped = sync.OnceValues(func() (module, error) {
	fset, packages := token.NewFileSet(), make(map[string][]*ast.File)
	err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		below = filepath.ToSlash(below)
		if e.IsDir() {
			if slices.Contains(skipped, below) || e.Name() == "testdata" || strings.HasPrefix(e.Name(), ".") && below != "." {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(below, ".go") || strings.HasSuffix(below, "_test.go") {
			return nil
		}
		source, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(fset, below, source, parser.ParseComments|parser.SkipObjectResolution)
		if err == nil && !ast.IsGenerated(f) {
			packages[path.Dir(below)] = append(packages[path.Dir(below)], f)
		}
		return err
	})
	return module{fset, packages}, err
})

// collect returns the texts of a module, by place.
func collect(m module) []text {
	shared := make(map[string]map[string]bool) // the functions that other packages call, by package name
	for _, files := range m.packages {
		takers := takersOf(files)
		name := files[0].Name.Name
		if shared[name] == nil {
			shared[name] = make(map[string]bool)
		}
		for f := range takers {
			if ast.IsExported(f) {
				shared[name][f] = true
			}
		}
	}
	var texts []text
	for _, files := range m.packages {
		c := &collector{fset: m.fset, takers: takersOf(files), shared: shared, constants: constantsOf(files)}
		for _, f := range files {
			c.file(f)
		}
		texts = append(texts, c.texts...)
	}
	slices.SortStableFunc(texts, func(a, b text) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line), cmp.Compare(a.text, b.text))
	})
	return slices.CompactFunc(texts, func(a, b text) bool { return a.file == b.file && a.line == b.line && a.text == b.text })
}

// takersOf are the functions of a package that take texts: those with a format and its arguments, and those with a
// string that return an error.
func takersOf(files []*ast.File) map[string]bool {
	takers := make(map[string]bool)
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if takesText(n.Type) {
					takers[n.Name.Name] = true
				}
			case *ast.AssignStmt:
				for i, v := range n.Rhs {
					if l, is := v.(*ast.FuncLit); is && i < len(n.Lhs) && takesText(l.Type) {
						if name, is := n.Lhs[i].(*ast.Ident); is {
							takers[name.Name] = true
						}
					}
				}
			case *ast.Field:
				if t, is := n.Type.(*ast.FuncType); is && takesText(t) {
					for _, name := range n.Names {
						takers[name.Name] = true
					}
				}
			}
			return true
		})
	}
	return takers
}

func takesText(f *ast.FuncType) bool {
	var params, names []string
	for _, p := range f.Params.List {
		for _, name := range p.Names {
			if typeName(p.Type) == "string" {
				names = append(names, name.Name)
			}
		}
		for range max(1, len(p.Names)) {
			params = append(params, typeName(p.Type))
		}
	}
	n := len(params)
	if slices.Contains(names, "message") || slices.Contains(names, "what") {
		return true
	}
	if n >= 2 && params[n-1] == "...any" && params[n-2] == "string" {
		return true
	}
	returnsError := false
	if f.Results != nil {
		for _, r := range f.Results.List {
			name := typeName(r.Type)
			returnsError = returnsError || name == "error" || strings.HasSuffix(name, "Error")
		}
	}
	return returnsError && slices.Contains(params, "string")
}

func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.Ellipsis:
		return "..." + typeName(e.Elt)
	case *ast.UnaryExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	}
	return ""
}

// constantsOf are the constant texts of a package.
func constantsOf(files []*ast.File) map[string]string {
	constants := make(map[string]string)
	for _, f := range files {
		for _, d := range f.Decls {
			g, is := d.(*ast.GenDecl)
			if !is || g.Tok != token.CONST {
				continue
			}
			for _, s := range g.Specs {
				v := s.(*ast.ValueSpec)
				for i, name := range v.Names {
					if i < len(v.Values) {
						if l, is := v.Values[i].(*ast.BasicLit); is && l.Kind == token.STRING {
							constants[name.Name], _ = strconv.Unquote(l.Value)
						}
					}
				}
			}
		}
	}
	return constants
}
