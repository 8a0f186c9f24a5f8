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

// Programs caught all signals until they ended by themselves, so one that hung ended only with SIGKILL.
func TestASecondSignalEndsEveryProgram(t *testing.T) {
	caught := regexp.MustCompile(`(?m)^\t*(\w+), (\w+) := signal\.NotifyContext\(.*\n.*`)
	found := 0
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata"):
			return fs.SkipDir
		case path.Ext(name) != ".go" && path.Ext(name) != ".md":
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		for _, c := range caught.FindAllStringSubmatch(string(text), -1) {
			found++
			if want := "\tcontext.AfterFunc(" + c[1] + ", " + c[2] + ")"; !strings.Contains(c[0], want) {
				t.Errorf("%s: want%s right after this line:\n%s", name, want, c[0])
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 10 {
		t.Errorf("found %d programs only", found)
	}
}
