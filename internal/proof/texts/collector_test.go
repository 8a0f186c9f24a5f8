package texts

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// A collector finds the texts of one package.
type collector struct {
	fset      *token.FileSet
	takers    map[string]bool            // the functions of the package that take texts
	shared    map[string]map[string]bool // those of other packages, by package name
	constants map[string]string

	in       string // the function in which it is
	isMethod bool   // whether that is an Error method
	texts    []text
}

func (c *collector) file(f *ast.File) {
	for _, d := range f.Decls {
		c.in, c.isMethod = "", false
		if f, is := d.(*ast.FuncDecl); is {
			c.in = f.Name.Name
			if f.Recv != nil {
				c.in = typeName(f.Recv.List[0].Type) + "." + f.Name.Name
				c.isMethod = f.Name.Name == "Error"
			}
		}
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				c.callExpr(n)
			case *ast.CompositeLit:
				c.literal(n)
			case *ast.ReturnStmt:
				c.returned(n)
			case *ast.BasicLit:
				if c.isMethod && n.Kind == token.STRING {
					c.add(n, method, "", n, nil)
				}
			}
			return true
		})
	}
}

// loggers are the methods of logr.Logger and slog.Logger, with the place of the message among the arguments.
var loggers = map[string][]int{"Info": {0}, "Warn": {0}, "Debug": {0}, "Error": {0, 1}}

func (c *collector) callExpr(call *ast.CallExpr) {
	pkg, name := calledName(call.Fun)
	full := strings.TrimPrefix(pkg+"."+name, ".")
	switch {
	case full == "errors.New", full == "fmt.Errorf":
		c.add(call, made, full, call.Args[0], call.Args[1:])
	case full == "panic":
		c.add(call, panicked, full, call.Args[0], nil)
	case full == "http.Error":
		c.add(call, answered, full, call.Args[1], nil)
	case loggers[name] != nil && len(call.Args) > 0:
		for _, i := range loggers[name] {
			if i < len(call.Args) && c.hasWords(call.Args[i]) {
				c.add(call, logged, name, call.Args[i], nil)
				break
			}
		}
	case c.takers[name] && (pkg == "" || c.shared[pkg] == nil) || c.shared[pkg][name]:
		for i, a := range call.Args {
			if c.hasWords(a) {
				c.add(a, helped, full, a, call.Args[i+1:])
			}
		}
	}
}

// literal adds the texts of a value of an error's type.
func (c *collector) literal(l *ast.CompositeLit) {
	name := ""
	if l.Type != nil {
		name = typeName(l.Type)
	}
	k := field
	switch {
	case name == "Topic": // of a repeated log line; see internal/report
		k = logged
	case !strings.HasSuffix(strings.ToLower(name), "error"):
		return
	}
	for _, e := range l.Elts {
		key := ""
		if kv, is := e.(*ast.KeyValueExpr); is {
			if k, is := kv.Key.(*ast.Ident); is {
				key = "." + k.Name
			}
			e = kv.Value
		}
		if c.hasWords(e) {
			c.add(e, k, name+key, e, nil)
		}
	}
}

// returned adds the texts that a function returns as strings: reasons, and names of states.
func (c *collector) returned(r *ast.ReturnStmt) {
	if c.isMethod {
		return
	}
	for _, e := range r.Results {
		if _, isCall := e.(*ast.CallExpr); !isCall && c.hasWords(e) {
			c.add(e, part, "return", e, nil)
		}
	}
}

func calledName(f ast.Expr) (pkg, name string) {
	switch f := f.(type) {
	case *ast.Ident:
		return "", f.Name
	case *ast.SelectorExpr:
		if x, is := f.X.(*ast.Ident); is {
			return x.Name, f.Sel.Name
		}
		return "", f.Sel.Name
	case *ast.IndexExpr:
		return calledName(f.X)
	}
	return "", ""
}

// hasWords reports whether an expression is a text of several words.
func (c *collector) hasWords(e ast.Expr) bool {
	s, constant := c.textOf(e)
	return constant && strings.Contains(strings.TrimSpace(s), " ")
}

func (c *collector) add(at ast.Node, k kind, call string, e ast.Expr, args []ast.Expr) {
	s, constant := c.textOf(e)
	if !constant {
		return
	}
	if sprintf, is := e.(*ast.CallExpr); is {
		args = sprintf.Args[1:]
	}
	if k == method && !strings.Contains(s, " ") && !slices.Contains([]string{": "}, s) {
		return
	}
	p := c.fset.Position(at.Pos())
	c.texts = append(c.texts, text{file: p.Filename, line: p.Line, in: c.in, kind: k, call: call, text: s, args: args})
}

// textOf is the text of an expression, with %v for what is not constant, and whether any of it is constant.
func (c *collector) textOf(e ast.Expr) (s string, constant bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			s, err := strconv.Unquote(e.Value)
			return s, err == nil
		}
	case *ast.ParenExpr:
		return c.textOf(e.X)
	case *ast.Ident:
		if s, has := c.constants[e.Name]; has {
			return s, true
		}
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			left, isLeft := c.textOf(e.X)
			right, isRight := c.textOf(e.Y)
			return left + right, isLeft || isRight
		}
	case *ast.CallExpr:
		if pkg, name := calledName(e.Fun); pkg == "fmt" && (name == "Sprintf" || name == "Errorf") && len(e.Args) > 0 {
			return c.textOf(e.Args[0])
		}
	}
	return "%v", false
}
