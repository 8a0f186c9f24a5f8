package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const code = `package p

import "fmt"

func (s *set[K]) add(k K, n int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || n < 1 {
		return fmt.Errorf("closed")
	}
	s.m[k] = n + 1
	_ = n
	for range n {
		if n == 7 {
			continue
		}
		s.tell(make([]int, 4))
	}
	return nil
}
`

func TestTheMutantsOfAFunction(t *testing.T) {
	ms, err := mutantsIn("a/p.go", []byte(code))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range ms {
		got = append(got, strings.TrimPrefix(m.String(), "a/p.go set.add: "))
	}
	want := []string{
		"s.closed || n < 1 => (s.closed || n < 1) || true",
		"s.closed || n < 1 => (s.closed || n < 1) && false",
		"s.closed => (s.closed && false)",
		"n < 1 => (n < 1 && false)",
		"n < 1 => n <= 1",
		"1 => (1+1)",
		`fmt.Errorf("closed") => nil`,
		"s.m[k] = n + 1 => if false { s.m[k] = n + 1 }",
		"n + 1 => n - 1",
		"1 => (1+1) #2",
		"n == 7 => (n == 7) || true",
		"n == 7 => (n == 7) && false",
		"n == 7 => n != 7",
		"7 => (7+1)",
		"continue => if false { continue }",
		"s.tell(make([]int, 4)) => if false { s.tell(make([]int, 4)) }",
	}
	if !slices.Equal(got, want) {
		t.Errorf("mutants:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, m := range ms {
		if _, err := parser.ParseFile(token.NewFileSet(), "p.go", m.apply([]byte(code)), 0); err != nil {
			t.Errorf("%s: %v", m, err)
		}
	}
}

// A campaign tries the same mutants after a change elsewhere, so that an argument stays with its mutant.
func TestAMutantKeepsItsIdentityAndItsRank(t *testing.T) {
	before, err := mutantsIn("a/p.go", []byte(code))
	if err != nil {
		t.Fatal(err)
	}
	after, err := mutantsIn("a/p.go", []byte(strings.Replace(code, "func", "// set is a set.\ntype set struct{}\n\nfunc", 1)))
	if err != nil {
		t.Fatal(err)
	}
	a, b := shuffled(before, 1), shuffled(after, 1)
	same := slices.EqualFunc(a, b, func(x, y mutant) bool { return x.String() == y.String() })
	if !same || len(a) != len(before) {
		t.Errorf("mutants %v, want %v", b, a)
	}
	if slices.EqualFunc(a, shuffled(before, 2), func(x, y mutant) bool { return x.String() == y.String() }) {
		t.Error("another seed tries the mutants in the same order")
	}
}

func TestAMutantIsTried(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.com/m\n\ngo 1.26\n")
	write("low/low.go", `package low

func Abs(n int) int {
	if n < 0 {
		return -n
	}
	return n + 0
}
`)
	write("low/low_test.go", "package low\n\nimport \"testing\"\n\nfunc TestAbs(t *testing.T) {\n\tif Abs(-2) != 2 {\n\t\tt.Fail()\n\t}\n}\n")
	write("high/high_test.go", "package high\n\nimport (\n\t\"testing\"\n\n\t\"example.com/m/low\"\n)\n\n"+
		"func TestPositive(t *testing.T) {\n\tif low.Abs(2) != 2 {\n\t\tt.Fail()\n\t}\n}\n")
	all, err := mutantsOf(root, "low", func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	tried := trier{root: root, tmp: t.TempDir()}
	for _, c := range []struct {
		mutant  string
		verdict verdict
		why     string
	}{
		{"low/low.go Abs: n < 0 => (n < 0) && false", killed, "TestAbs"},
		{"low/low.go Abs: n < 0 => (n < 0) || true", killed, "TestPositive"}, // only the package above notices
		{"low/low.go Abs: n < 0 => n <= 0", survived, ""},
	} {
		i := slices.IndexFunc(all, func(m mutant) bool { return m.String() == c.mutant })
		if i < 0 {
			t.Fatalf("no mutant %q in %v", c.mutant, all)
		}
		v, why, err := tried.try(t.Context(), all[i], []string{"low", "high"})
		if v != c.verdict || why != c.why || err != nil {
			t.Errorf("%s: %s by %q, %v; want %s by %q", c.mutant, v, why, err, c.verdict, c.why)
		}
	}
	wrong := all[0]
	wrong.after = "n"
	if v, why, err := tried.try(t.Context(), wrong, []string{"low"}); v != invalid || err != nil {
		t.Errorf("a mutant that does not compile: %s by %q, %v; want %s", v, why, err, invalid)
	}
}

func TestArgumentsHaveTwoLinesEach(t *testing.T) {
	for text, want := range map[string]string{
		"# c\n\na b: x => y\n    because\n": "",
		"a b: x => y\n":                     "argued.txt: the last mutant has no argument",
		"a\nb\n  c\n":                       "argued.txt:2: the mutant before has no argument",
		"  c\n":                             "argued.txt:1: an argument without a mutant",
		"a\n b\na\n c\n":                    "argued.txt:3: this mutant is argued for twice",
	} {
		_, err := parseArguments(text)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: error %q, want %q", text, got, want)
		}
	}
}

// An argument holds for the code that it was written about. If this test fails, try the changed function's mutants again:
// go run ./internal/mutants -run 'FILE FUNCTION'
func TestEveryArgumentIsForAMutantOfTheCode(t *testing.T) {
	argued, err := parseArguments(arguments)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range targets() {
		all, err := mutantsOf("../..", g.dir, g.has)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range all {
			delete(argued, m.String())
		}
	}
	for identity := range argued {
		t.Errorf("argued.txt: the code does not have this mutant: %s", identity)
	}
}
