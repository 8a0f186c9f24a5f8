package api

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Each link of a document to a file of this repository leads to one, and to a heading if it names one.
func TestLinksOfDocumentsLeadSomewhere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	found := 0
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata"):
			return fs.SkipDir
		case path.Ext(name) != ".md":
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		for _, m := range link.FindAllStringSubmatch(withoutCode(string(text)), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			found++
			file, heading, _ := strings.Cut(m[1], "#")
			to := name
			if file != "" {
				to = path.Join(path.Dir(name), file)
			}
			info, err := os.Stat(filepath.Join(root, filepath.FromSlash(to)))
			if err != nil {
				t.Errorf("%s has a link to %s, which does not exist", name, m[1])
				continue
			}
			if heading == "" {
				continue
			}
			if info.IsDir() {
				t.Errorf("%s has a link to %s, and a folder has no headings", name, m[1])
				continue
			}
			text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(to)))
			if err != nil {
				return err
			}
			if !slices.Contains(headings(string(text)), heading) {
				t.Errorf("%s has a link to %s, and there is no such heading", name, m[1])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 50 {
		t.Errorf("found %d links only", found)
	}
}

// withoutCode returns a document without its code.
func withoutCode(text string) string {
	return regexp.MustCompile("`[^`\n]*`").ReplaceAllString(withoutBlocks(text), "")
}

// withoutBlocks returns a document without its blocks of code.
func withoutBlocks(text string) string {
	return regexp.MustCompile("(?ms)^```.*?^```").ReplaceAllString(text, "")
}

// headings returns the anchors of a document's headings, as the forge makes them.
func headings(text string) (out []string) {
	for _, m := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(strings.ReplaceAll(withoutBlocks(text), "`", ""), -1) {
		anchor := regexp.MustCompile(`[^\w\- ]`).ReplaceAllString(strings.ToLower(m[1]), "")
		out = append(out, strings.ReplaceAll(anchor, " ", "-"))
	}
	return out
}
