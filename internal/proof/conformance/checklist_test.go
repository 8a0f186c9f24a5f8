package conformance_test

import (
	"bytes"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the column Tests of CHECKLIST.md")

const checklist = "CHECKLIST.md"

var (
	// mention is "behaviour 81", "faults F1, F2 and F3" or "behaviours 3 and 4, guarantee S1".
	mention = regexp.MustCompile(`\b(?:behaviours?|guarantees?|faults?) ([SF]?\d+(?:(?:,| and| to) [SF]?\d+)*)`)
	row     = regexp.MustCompile(`^\| ([SF]?\d+) \| (.*) \|$`)
)

// The checklist names the tests that mention its numbers, and says why where there are none.
func TestChecklistNamesTheTestsOfEachNumber(t *testing.T) {
	covers, err := coverage(os.DirFS("../../.."))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(checklist)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	listed := map[string]bool{}
	for at, line := range lines {
		found := row.FindStringSubmatch(line)
		if found == nil {
			continue
		}
		n := found[1]
		if listed[n] {
			t.Errorf("%s is there twice", n)
		}
		listed[n] = true
		cells := cellsOf(found[2])
		if len(cells) != 3 || cells[0] == "" {
			t.Errorf("%s has the cells %q, want what it is, a remark and its tests", n, cells)
			continue
		}
		tests := covers.of(n)
		if tests == "" && cells[1] == "" {
			t.Errorf("no test mentions %s, and the checklist does not say why", n)
		}
		if cells[2] == tests {
			continue
		}
		if !*update {
			t.Errorf("the tests of %s are %q, and the checklist names %q: run this test with -update", n, tests, cells[2])
		}
		lines[at] = "| " + strings.Join([]string{n, cells[0], cells[1], tests}, " | ") + " |"
	}
	for n, functions := range covers {
		for function, named := range functions {
			if named && !listed[n] {
				t.Errorf("%s mentions %s, which is not on the checklist", function, n)
			}
		}
	}
	if changed := []byte(strings.Join(lines, "\n")); *update && !bytes.Equal(changed, text) {
		if err := os.WriteFile(checklist, changed, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// cellsOf splits a row of a table. A bar in a cell has a backslash before it.
func cellsOf(row string) []string {
	const bar = "\x00"
	cells := strings.Split(strings.ReplaceAll(row, `\|`, bar), "|")
	for i, cell := range cells {
		cells[i] = strings.ReplaceAll(strings.TrimSpace(cell), bar, `\|`)
	}
	return cells
}

// covered has the functions that mention a number, by the number. The value of a function is true if it names the number itself,
// and not a range, which may have gaps.
type covered map[string]map[string]bool

// of returns the functions for one number as a cell: by folder, each folder once.
func (c covered) of(n string) string {
	byFolder := map[string][]string{}
	for _, function := range slices.Sorted(maps.Keys(c[n])) {
		folder, name := path.Split(function)
		byFolder[path.Clean(folder)] = append(byFolder[path.Clean(folder)], name)
	}
	var all []string
	for _, folder := range slices.Sorted(maps.Keys(byFolder)) {
		all = append(all, folder+": "+strings.Join(byFolder[folder], ", "))
	}
	return strings.Join(all, "; ")
}

// coverage reads the mentions in the tests of a tree, and in the suite of package conformance, which is run by tests.
func coverage(tree fs.FS) (covered, error) {
	all := covered{}
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case name == "internal/proof/conformance/checklist_test.go":
			return nil
		case strings.HasSuffix(name, "_test.go"), path.Dir(name) == "internal/proof/conformance" && path.Ext(name) == ".go":
			return all.read(tree, name)
		}
		return nil
	})
	return all, err
}

// read adds the mentions of one file, in comments and in the names of cases. A comment outside of functions is about the next one.
func (c covered) read(tree fs.FS, name string) error {
	text, err := fs.ReadFile(tree, name)
	if err != nil {
		return err
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, group := range file.Comments {
		c.add(group.Text(), path.Join(path.Dir(name), functionAt(file, group.Pos())))
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.BasicLit); ok && s.Kind == token.STRING {
			c.add(s.Value, path.Join(path.Dir(name), functionAt(file, s.Pos())))
		}
		return true
	})
	return nil
}

// add adds the mentions in a text of a function.
func (c covered) add(text, function string) {
	words := strings.Join(strings.Fields(text), " ") // a mention may go over the end of a line
	for _, m := range mention.FindAllStringSubmatch(words, -1) {
		for part := range strings.SplitSeq(strings.ReplaceAll(m[1], " and ", ", "), ", ") {
			first, last, isRange := strings.Cut(part, " to ")
			if !isRange {
				last = first
			}
			letter := first[:len(first)-len(strings.TrimLeft(first, "SF"))]
			from, _ := strconv.Atoi(strings.TrimPrefix(first, letter))
			to, _ := strconv.Atoi(strings.TrimPrefix(last, letter))
			for n := from; n <= to; n++ {
				c.note(letter+strconv.Itoa(n), function, isRange)
			}
		}
	}
}

func (c covered) note(n, function string, inRange bool) {
	if c[n] == nil {
		c[n] = map[string]bool{}
	}
	c[n][function] = c[n][function] || !inRange
}

// functionAt returns the function at a place or after it.
func functionAt(file *ast.File, at token.Pos) string {
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && at < f.End() {
			return f.Name.Name
		}
	}
	return file.Name.Name
}
