package api

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the lists in testdata")

const root = "../../.."

// The lists in testdata are what the packages export.
func TestExportsAreThoseOfTheLists(t *testing.T) {
	packages, err := public(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	if len(packages) < 10 {
		t.Fatalf("found the packages %q only", packages)
	}
	kept := map[string]bool{}
	for _, dir := range packages {
		lines, err := exports(filepath.Join(root, filepath.FromSlash(dir)))
		if err != nil {
			t.Fatal(err)
		}
		if dir == "." { // its documentation says where to look
			if len(lines) > 0 {
				t.Errorf("the package at the root exports %q", lines)
			}
			continue
		}
		if len(lines) == 0 || isWritten(dir) { // a program
			continue
		}
		file := filepath.Join("testdata", strings.ReplaceAll(dir, "/", "_")+".txt")
		kept[file] = true
		text := strings.Join(lines, "\n") + "\n"
		if *update {
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		listed, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		was := strings.Split(strings.TrimSuffix(string(listed), "\n"), "\n")
		for _, line := range lines {
			if !slices.Contains(was, line) {
				t.Errorf("package %s exports, and the list does not have: %s", dir, line)
			}
		}
		for _, line := range was {
			if !slices.Contains(lines, line) {
				t.Errorf("package %s does not export, and the list has: %s", dir, line)
			}
		}
		if !t.Failed() && text != string(listed) {
			t.Errorf("%s is not in order", file)
		}
	}
	lists, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range lists {
		if !kept[file] {
			t.Errorf("%s is the list of no package", file)
		}
	}
	if t.Failed() {
		t.Log("Once there is a release, a change of the API needs a line in CHANGELOG.md. go test ./internal/proof/api -update writes the lists.")
	}
}

// isWritten reports whether a package is written from what a kube-apiserver publishes. Its exports are decided there: a
// list of them would have 6,000 lines, and say what the changes of the written file, which is compared with the server,
// say already.
func isWritten(dir string) bool { return strings.HasPrefix(dir, "client/builtin/") }

// named is a name of a package of ours, as documents write it.
var named = regexp.MustCompile(`\b(apierrors|cache|client|clienttest|controller|crd|discovery|informer|kubeconfig|meta|patch|workqueue)\.([A-Z]\w*)`)

// The documents name nothing that the packages do not export.
func TestNamesInDocumentsExist(t *testing.T) {
	packages, err := public(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	exported := map[string]string{}
	for _, dir := range packages {
		lines, err := exports(filepath.Join(root, filepath.FromSlash(dir)))
		if err != nil {
			t.Fatal(err)
		}
		name := path.Base(dir)
		if name == "errors" {
			name = "apierrors"
		}
		exported[name] += strings.Join(lines, "\n") + "\n" // two packages may have the same name
	}
	documents := []string{"README.md", "GUIDE.md", "CONTRIBUTING.md", "MIGRATING.md"}
	// Code is compiled. The first column of the tables of MIGRATING.md has names of other projects.
	elsewhere := regexp.MustCompile("(?s)```go\n.*?```|(?m)^\\| [^|]* \\|")
	for _, dir := range packages {
		if _, err := os.Stat(filepath.Join(root, dir, "DESIGN.md")); err == nil {
			documents = append(documents, dir+"/DESIGN.md")
		}
	}
	found := 0
	for _, document := range documents {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(document)))
		if err != nil {
			t.Fatal(err)
		}
		if document == "MIGRATING.md" {
			text = elsewhere.ReplaceAll(text, nil)
		}
		for _, m := range named.FindAllStringSubmatch(string(text), -1) {
			found++
			if !regexp.MustCompile(`(?m)^(func|type|const|var) ` + m[2] + `\b`).MatchString(exported[m[1]]) {
				t.Errorf("%s names %s, which does not exist", document, m[0])
			}
		}
	}
	if found < 50 {
		t.Errorf("found %d names only", found)
	}
}

// public returns the folders of the packages that a user's program can import.
func public(tree fs.FS) (dirs []string, err error) {
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || slices.Contains([]string{"internal", "examples", "testdata"}, d.Name())):
			return fs.SkipDir
		case path.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go") && !slices.Contains(dirs, path.Dir(name)):
			dirs = append(dirs, path.Dir(name))
		}
		return nil
	})
	return dirs, err
}

// exports returns a line for each exported constant, variable, function, type, field and method of the package in a folder. The
// files of all platforms count.
func exports(dir string) ([]string, error) {
	set := token.NewFileSet()
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	for _, e := range entries {
		if path.Ext(e.Name()) != ".go" || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		f, err := parser.ParseFile(set, filepath.Join(dir, e.Name()), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	p, err := doc.NewFromFiles(set, files, dir)
	if err != nil {
		return nil, err
	}
	l := lister{set: set}
	l.values(p.Consts)
	l.values(p.Vars)
	l.functions(p.Funcs)
	for _, t := range p.Types {
		l.values(t.Consts)
		l.values(t.Vars)
		l.functions(t.Funcs)
		l.functions(t.Methods)
		for _, s := range t.Decl.Specs {
			l.typ(s.(*ast.TypeSpec))
		}
	}
	slices.Sort(l.lines)
	return slices.Compact(l.lines), nil // a function may be there for each of several platforms
}

// lister collects lines.
type lister struct {
	set   *token.FileSet
	lines []string
}

func (l *lister) add(format string, args ...any) {
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

// source is the text of a node in one line.
func (l *lister) source(n any) string {
	if n == nil {
		return ""
	}
	var b bytes.Buffer
	if err := printer.Fprint(&b, l.set, n); err != nil {
		panic(err) // there is nothing that could not be printed: it has been parsed
	}
	return strings.NewReplacer("( ", "(", ", )", ")").Replace(strings.Join(strings.Fields(b.String()), " "))
}

func (l *lister) values(all []*doc.Value) {
	for _, v := range all {
		typ := ""
		for _, s := range v.Decl.Specs {
			spec := s.(*ast.ValueSpec)
			if spec.Type != nil {
				typ = " " + l.source(spec.Type)
			} else if len(spec.Values) > 0 {
				typ = "" // the type of its value; a constant without either has the type of the one before
			}
			for _, name := range spec.Names {
				if name.IsExported() {
					l.add("%s %s%s", v.Decl.Tok, name.Name, typ)
				}
			}
		}
	}
}

func (l *lister) functions(all []*doc.Func) {
	for _, f := range all {
		f.Decl.Doc, f.Decl.Body = nil, nil
		l.add("%s", l.source(f.Decl))
	}
}

func (l *lister) typ(s *ast.TypeSpec) {
	name := s.Name.Name
	parameters := ""
	if s.TypeParams != nil {
		var all []string
		for _, f := range s.TypeParams.List {
			for _, n := range f.Names {
				all = append(all, n.Name+" "+l.source(f.Type))
			}
		}
		parameters = "[" + strings.Join(all, ", ") + "]"
	}
	equal := ""
	if s.Assign.IsValid() {
		equal = "= "
	}
	switch t := s.Type.(type) {
	case *ast.StructType:
		l.add("type %s%s %sstruct", name, parameters, equal)
		l.members("field", name, t.Fields)
	case *ast.InterfaceType:
		l.add("type %s%s %sinterface", name, parameters, equal)
		l.members("method", name, t.Methods)
	default:
		l.add("type %s%s %s%s", name, parameters, equal, l.source(t))
	}
}

func (l *lister) members(kind, of string, list *ast.FieldList) {
	for _, f := range list.List {
		if len(f.Names) == 0 {
			l.add("%s %s embeds %s", kind, of, l.source(f.Type))
		}
		for _, n := range f.Names {
			if n.IsExported() {
				l.add("%s %s.%s %s", kind, of, n.Name, l.source(f.Type))
			}
		}
	}
}
