package main

import (
	"errors"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
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

func TestAFunctionHasTheseMutants(t *testing.T) {
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
		"s.closed => (s.closed) && false",
		"n < 1 => (n < 1) && false",
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

import "errors"

const limit = 25 << 2

func Abs(n int) (int, error) {
	if n < 0 && n > -limit {
		n = -n
	}
	if n < 0 {
		return 0, errors.New("too low")
	}
	for i := 0; i < 1; i++ {
		n = n + i - 0
	}
	return n + 0, nil
}

func set(text string) string {
	if text == "" {
		return "a" + "b"
	}
	return text
}

type size int

func (s size) half() size { return s / 2 }

func (s size) least() size { return max(1, s) }
`)
	write("low/low_test.go", `package low

import "testing"

func TestAbs(t *testing.T) {
	if n, err := Abs(-2); n != 2 || err != nil {
		t.Fail()
	}
	if _, err := Abs(-200); err == nil {
		t.Error("no error")
	}
}
`)
	write("high/go.mod", `module example.com/m/high

go 1.26

require example.com/m v0.0.0

replace example.com/m => ..
`)
	write("high/high_test.go", `package high

import (
	"testing"

	"example.com/m/low"
)

func TestPositive(t *testing.T) {
	for _, n := range []int{2, 98} {
		if got, _ := low.Abs(n); got != n {
			t.Fail()
		}
	}
	if _, err := low.Abs(-100); err == nil {
		t.Error("no error")
	}
}
`)
	g := target{dir: "low", also: []string{"high"}}
	all, err := mutantsOf(root, g.dir, g.has)
	if err != nil {
		t.Fatal(err)
	}
	tried, err := newTrier(t.Context(), root, t.TempDir(), g, all, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		mutant  string
		verdict verdict
		why     string
		alone   bool
	}{
		{"low/low.go Abs: n < 0 && n > -limit => (n < 0 && n > -limit) && false", killed, "TestAbs", false},
		{"low/low.go Abs: n < 0 => (n < 0) || true", killed, "TestPositive", false}, // only the package above notices
		{"low/low.go Abs: n > -limit => n >= -limit", killed, "TestPositive", false},
		{"low/low.go Abs: n < 0 => n <= 0", survived, "", false},
		{"low/low.go Abs: n < 0 => n <= 0 #2", survived, "", false},
		{"low/low.go Abs: errors.New(\"too low\") => nil", killed, "TestAbs", false},
		{"low/low.go Abs: n + i - 0 => n + i + 0", survived, "", false},
		{"low/low.go Abs: n + i => n - i", survived, "", false},
		{"low/low.go : 2 => (2+1)", killed, "TestPositive", true}, // a constant
		{"low/low.go size.half: 2 => (2+1)", survived, "", true},  // 2 has the type of s
		{"low/low.go size.least: 1 => (1+1)", survived, "", true}, // the compiler blames s
		{"low/low.go set: text == \"\" => text != \"\"", survived, "", false},
	} {
		i := slices.IndexFunc(all, func(m mutant) bool { return m.String() == c.mutant })
		if i < 0 {
			t.Errorf("no mutant %q in %v", c.mutant, all)
			continue
		}
		v, why, err := tried.try(t.Context(), i+1)
		if v != c.verdict || why != c.why || err != nil {
			t.Errorf("%s: %s by %q, %v; want %s by %q", c.mutant, v, why, err, c.verdict, c.why)
		}
		if tried.b.out[i+1] != c.alone {
			t.Errorf("%s: compiled alone %t, want %t", c.mutant, tried.b.out[i+1], c.alone)
		}
	}
}

// A package of a nested module is compiled in that module.
func TestAMutantOfANestedModuleIsTried(t *testing.T) {
	root := module(t, map[string]string{
		"go.mod":         "module example.com/m\n\ngo 1.26\n",
		"in/go.mod":      "module example.com/m/in\n\ngo 1.26\n",
		"in/p/p.go":      "package p\n\nfunc one() int { return 1 }\n",
		"in/p/p_test.go": "package p\n\nimport \"testing\"\n\nfunc TestOne(t *testing.T) {\n\tif one() != 1 {\n\t\tt.Fail()\n\t}\n}\n",
	})
	var c strings.Builder
	n, err := (&campaign{w: &c}).target(t.Context(), root, target{dir: "in/p"}, 1)
	if want := (tally{tried: 1, killed: 1}); n != want || err != nil {
		t.Errorf("%+v, %v; want %+v\n%s", n, err, want, c.String())
	}
}

// Every mutant of a file, one within the other, gives a file that is Go; nothing else of the file changes.
func TestABundleIsTheCodeWithTheMutantsOff(t *testing.T) {
	ms, err := mutantsIn("a/p.go", []byte(code))
	if err != nil {
		t.Fatal(err)
	}
	b := bundle{mutants: ms}
	var ids []int
	for i, m := range ms {
		if m.prefix != "" {
			ids = append(ids, i+1)
		}
	}
	c := b.change([]byte(code), ids)
	if _, err := parser.ParseFile(token.NewFileSet(), "p.go", c.text, 0); err != nil {
		t.Errorf("%v in:\n%s", err, c.text)
	}
	if got, want := strings.Count(c.text, "\n"), strings.Count(code, "\n"); got != want {
		t.Errorf("%d lines, want %d", got, want)
	}
	if want := `((s.closed) && !mutantOn(3)) || (((mutantOn(5) && (n <= 1) || !mutantOn(5) && (n < mutantNumber(6, 1+1, 1)`; !strings.Contains(c.text, want) {
		t.Errorf("want %q in:\n%s", want, c.text)
	}
	for _, p := range c.places {
		if !strings.Contains(c.text[p.start:p.end], strings.Fields(ms[p.id-1].before)[0]) {
			t.Errorf("mutant %d is said to be at %q", p.id, c.text[p.start:p.end])
		}
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
// go run ./internal/proof/mutants -run 'FILE FUNCTION'
func TestEveryArgumentIsForAMutantOfTheCode(t *testing.T) {
	argued, err := parseArguments(arguments)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range targets() {
		all, err := mutantsOf("../../..", g.dir, g.has)
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

func TestTooManySurvivorsFailTheCampaign(t *testing.T) {
	for _, test := range []struct {
		open, most int
		want       bool
	}{{0, 0, false}, {1, 0, true}, {20, 20, false}, {21, 20, true}} {
		if got := (&campaign{most: test.most}).isTooMuch(tally{tried: 100, open: test.open}); got != test.want {
			t.Errorf("%d of 100 with a limit of %d %%: %v", test.open, test.most, got)
		}
	}
}

func TestACampaignEndsWithItsTime(t *testing.T) {
	root := module(t, map[string]string{
		"go.mod":      "module example.com/m\n\ngo 1.26\n",
		"p/p.go":      "package p\n\nfunc one() int { return 1 }\n\nfunc two() int { return 2 }\n",
		"p/p_test.go": "package p\n\nimport \"testing\"\n\nfunc TestOne(t *testing.T) {\n\tif one() != 1 {\n\t\tt.Fail()\n\t}\n}\n",
	})
	for _, test := range []struct {
		left time.Duration
		want tally
	}{{-time.Hour, tally{}}, {time.Hour, tally{tried: 2, killed: 1, open: 1}}} {
		c := campaign{w: io.Discard, ends: time.Now().Add(test.left)}
		n, err := c.target(t.Context(), root, target{dir: "p"}, 2)
		if n != test.want || err != nil {
			t.Errorf("with %v left: %+v, %v; want %+v", test.left, n, err, test.want)
		}
	}
}

// A campaign tells a test that fails by chance from tests that do not run.
func TestATestThatFailsWithoutAMutantIsNamed(t *testing.T) {
	root := module(t, map[string]string{
		"go.mod":      "module example.com/m\n\ngo 1.26\n",
		"p/p.go":      "package p\n\nfunc one() int { return 1 }\n",
		"p/p_test.go": "package p\n\nimport \"testing\"\n\nfunc TestOne(t *testing.T) { t.Fail() }\n",
	})
	_, err := (&campaign{w: io.Discard}).target(t.Context(), root, target{dir: "p"}, 1)
	var baseline *baselineError
	if !errors.As(err, &baseline) || *baseline != (baselineError{"p", "TestOne"}) {
		t.Errorf("error %v, want that TestOne of p fails", err)
	}
}

// module writes files into a new folder, and returns it.
func module(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}
