package manifests

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/clienttest/internal/jsontree"
)

func TestAFolderIsReadObjectByObject(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.yaml":             "kind: A1\n---\nkind: A2\n--- \n",
		"b.json":             `{"kind":"B"}`,
		"c.yml":              "kind: C\n",
		"kustomization.yaml": "kind: Kustomization\n",
		"notes.txt":          "kind: Text\n",
		"inner/d.yaml":       "kind: D\n",
		"e.yaml":             "kind: [\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	refusal := errors.New("no B wanted")
	var kinds []string
	err := Each(dir, func(whole jsontree.Object) error {
		kind, _ := whole["kind"].(string)
		kinds = append(kinds, kind)
		if kind == "B" {
			return refusal
		}
		return nil
	})
	if want := []string{"A1", "A2", "", "B", "C"}; !slices.Equal(kinds, want) {
		t.Errorf("the kinds are %q, want %q", kinds, want)
	}
	if !errors.Is(err, refusal) || !strings.Contains(err.Error(), "b.json: no B wanted") || !strings.Contains(err.Error(), "e.yaml: ") {
		t.Errorf("the error is %v, want those of b.json and e.yaml", err)
	}
	if err := Each(filepath.Join(dir, "none"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the error of a path that leads nowhere is %v", err)
	}
}
