package texts

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"testing"
)

// planted is a package with one text of each kind that the list has, and texts that break the rules.
const planted = `package shop

import ("errors"; "fmt"; "net/http")

type Page struct{}

type pageError struct{ text string }

func (e *pageError) Error() string { return "open page: " + e.text }

func wrong(format string, args ...any) error { return fmt.Errorf(format, args...) }

func (p *Page) where() string { return "the page that is open" }

func all(log logger, w http.ResponseWriter, name string, err error) {
	_ = errors.New("the page is closed")
	_ = fmt.Errorf("open page %q: %w", name, err)
	_ = wrong("page %q must have a title", name)
	_ = &pageError{text: "the page has no title"}
	log.Info("open page: " + name)
	_ = report.Topic{Fails: name + ": list fails"}
	http.Error(w, "only GET is allowed", 405)
	panic("shop: the page is nil")
}

func broken(name string, err error) {
	_ = errors.New("The page is closed")
	_ = errors.New("the page is closed.")
	_ = errors.New("the page is closed\n")
	_ = fmt.Errorf("failed to open page: %w", err)
	_ = fmt.Errorf("open %w of the shop", err)
	_ = fmt.Errorf("open page %q: %v", name, err)
	_ = fmt.Errorf("invalid page %q", name)
}

func good(name string, err error) {
	_ = errors.New("Page must not be nil")
	_ = errors.New("JSON has no number NaN")
	_ = fmt.Errorf("%w: page %q", err, name)
	_ = fmt.Errorf("open page %q: %w; give it a title", name, err)
}
`

func plantedTexts(t *testing.T) (texts []text, named map[string]bool) {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "shop/page.go", planted, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	m := module{fset, map[string][]*ast.File{"shop": {f}}}
	return collect(m), namesOf(m)
}

func TestTheListHasTheTextsOfEveryKind(t *testing.T) {
	texts, _ := plantedTexts(t)
	var got []string
	for _, s := range texts {
		if s.in != "broken" && s.in != "good" {
			got = append(got, string(s.kind)+": "+s.text)
		}
	}
	want := []string{
		"Error(): open page: ",
		"part: the page that is open",
		"error: the page is closed",
		"error: open page %q: %w",
		"helper: page %q must have a title",
		"field: the page has no title",
		"log: open page: %v",
		"log: %v: list fails",
		"answer: only GET is allowed",
		"panic: shop: the page is nil",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the list is\n%q\nwant\n%q", got, want)
	}
}

func TestEachRuleFailsForATextThatBreaksIt(t *testing.T) {
	texts, named := plantedTexts(t)
	broken := func(s text) (names []string) {
		for _, r := range rules {
			if r.broken(s, named) != "" {
				names = append(names, r.name)
			}
		}
		return names
	}
	want := []int{0, 1, 1, 2, 3, 4, 5} // the rule that each text of broken breaks
	for _, s := range texts {
		got := broken(s)
		switch {
		case s.in != "broken" && len(got) > 0:
			t.Errorf("%v breaks %q, want no rule", s, got)
		case s.in == "broken" && len(want) == 0:
			t.Fatalf("%v has no rule", s)
		case s.in == "broken":
			if !slices.Equal(got, []string{rules[want[0]].name}) {
				t.Errorf("%v breaks %q, want %q", s, got, rules[want[0]].name)
			}
			want = want[1:]
		}
	}
	if len(want) > 0 {
		t.Errorf("the list has no texts for the rules %v", want)
	}
}
