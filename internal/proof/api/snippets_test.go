package api

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each piece of Go in these documents stands, line for line, in a file that is compiled.
func TestSnippetsAreCompiled(t *testing.T) {
	lines := func(text string) string {
		var b strings.Builder
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" {
				b.WriteString(line + "\n")
			}
		}
		return b.String()
	}
	var compiled []string
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata"):
			return fs.SkipDir
		case path.Ext(name) != ".go":
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		compiled = append(compiled, lines(string(text)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range []string{"README.md", "GUIDE.md", "MIGRATING.md"} {
		text, err := os.ReadFile(filepath.Join(root, document))
		if err != nil {
			t.Fatal(err)
		}
		snippets := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(text), -1)
		if len(snippets) == 0 {
			t.Errorf("%s has no Go", document)
		}
		for _, s := range snippets {
			want, found := lines(s[1]), false
			for _, text := range compiled {
				found = found || strings.Contains(text, want)
			}
			if !found {
				t.Errorf("%s has Go that stands in no file:\n%s", document, s[1])
			}
		}
	}
}

// The blocks of GUIDE.md that a reader types are the files of examples/operator.
func TestTheGuideHasWholeFiles(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "GUIDE.md"))
	if err != nil {
		t.Fatal(err)
	}
	typed := map[string]string{}
	for _, block := range regexp.MustCompile("(?s)\n\\*\\*([\\w.]+)\\*\\*\n\n```(?:go|yaml)\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		if typed[block[1]] != "" {
			typed[block[1]] += "\n"
		}
		typed[block[1]] += block[2]
	}
	for _, name := range []string{"account.yaml", "definition_test.go", "deployment.yaml", "main.go", "operator.go", "page.go", "page_test.go", "role.yaml", "webhook.go"} {
		want, err := os.ReadFile(filepath.Join(root, "examples", "operator", name))
		if err != nil {
			t.Fatal(err)
		}
		if typed[name] != string(want) {
			t.Errorf("GUIDE.md has this as %s, and examples/operator has another text:\n%s", name, typed[name])
		}
		delete(typed, name)
	}
	for name := range typed {
		t.Errorf("GUIDE.md has %s, which is not in examples/operator", name)
	}
}
