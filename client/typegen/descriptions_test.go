package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/crd"
	"github.com/bowline-go/bowline/client/typegen/testdata/described"
)

// writtenIn runs the command in a folder.
func writtenIn(t *testing.T, folder string, args ...string) {
	t.Helper()
	t.Chdir(folder)
	if !*update {
		args = append([]string{"-check"}, args...)
	}
	var out bytes.Buffer
	if code := run(t.Context(), args, nil, io.Discard, &out); code != 0 || out.Len() > 0 {
		t.Errorf("typegen %q ends with %d and says %s", args, code, out.String())
	}
}

func TestTheDescriptionsInTestdataAreTheCommentsOfTheTypes(t *testing.T) {
	writtenIn(t, "testdata/described", "-crd", "-o", "descriptions.go", "Fort", "hut")
}

func TestTheDescriptionsOfTheExampleAreItsComments(t *testing.T) {
	writtenIn(t, "../../examples/crd", "-crd", "-o", "descriptions.go", "Site")
}

// Each path is one of package crd, or crd.Of would return an error.
func TestADefinitionHasTheDescriptionsOfItsType(t *testing.T) {
	d := must(crd.Of(described.Forts, crd.Options{Descriptions: described.FortDescriptions()}))(t)
	root := d.Spec.Versions[0].Schema.OpenAPIV3Schema
	spec := root.Properties["spec"]
	for _, c := range []struct {
		of   *crd.Schema
		want string
	}{
		{root, "Fort is a place that is hard to take.\n\nIt has \"walls\", a `gate` and é:\n  - some high\n  - some low"},
		{spec, "FortSpec is what is wanted."},
		{root.Properties["status"], "status is what is seen."},
		{spec.Properties["owner"], "owner owns it."},
		{spec.Properties["note"], "note says more."},
		{spec.Properties["same"], ""},
		{spec.Properties["walls"], "walls are in order, and Walls are walls."},
		{spec.Properties["walls"].Items, "Wall is a wall."},
		{spec.Properties["towers"].AdditionalProperties.Schema.Properties["height"], "height is in meters."},
		{spec.Properties["gate"], "gate is the way in."},
		{spec.Properties["gate"].Properties["open"], "open says whether it is open."},
		{spec.Properties["gate"].Properties["keepers"], "keepers are called by their names, one each."},
		{spec.Properties["color"], "Color is a color."},
		{spec.Properties["grid"].Items.Items.Properties["a"], "a is at the bottom."},
		{spec.Properties["kept"].Properties["known"], "known is known."},
		{spec.Properties["tree"].Properties["children"], "children are trees."},
	} {
		if c.of.Description != c.want {
			t.Errorf("a description is %q, want %q", c.of.Description, c.want)
		}
	}
	if text := must(described.Huts())(t).Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["door"].Description; text != "door is shut." {
		t.Errorf("a description is %q", text)
	}
}

// module writes the files of a module, and returns its folder.
func module(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	files["go.mod"] = "module example.com/m\n\ngo 1.26\n"
	for name, text := range files {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestMistakesInTheTypesOfDescriptionsAreErrors(t *testing.T) {
	t.Chdir(module(t, map[string]string{
		"a.go":       "package m\n\nimport o \"example.com/m/other\"\n\ntype A struct {\n\tB o.B `json:\"b\"`\n}\n\ntype C int\n\ntype D[T any] struct{}\n\ntype E struct {\n\tF D[int] `json:\"f\"`\n}\n",
		"other/b.go": "package other\n\ntype B struct {\n",
		"none/doc":   "",
	}))
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"-crd"}, 2, "-crd needs the names of Go types"},
		{[]string{"-crd", "A", "A"}, 2, `-crd needs names of Go types, each once, got "A"`},
		{[]string{"-crd", "a.go"}, 2, `-crd needs names of Go types, each once, got "a.go"`},
		{[]string{"-crd", "-kinds", "a", "A"}, 2, "-kinds must not be set beside -crd"},
		{[]string{"-crd", "-check", "A"}, 2, "-o must name the file that -check checks"},
		{[]string{"-crd", "A"}, 1, `read the package "example.com/m/other": `},
		{[]string{"-crd", "B"}, 1, `package m has no type B; its types are ["A" "C" "D" "E"]`},
		{[]string{"-crd", "C"}, 1, "type C of package m must be a struct without type parameters"},
		{[]string{"-crd", "D"}, 1, "type D of package m must be a struct without type parameters"},
		{[]string{"-crd", "E"}, 0, "typegen: E: f: the comments of a generic type are not read"},
		{[]string{"-crd", "-o", "none/d.go", "A"}, 1, `read the package ".": `},
	} {
		var out bytes.Buffer
		if code := run(t.Context(), c.args, nil, io.Discard, &out); code != c.code || !strings.Contains(out.String(), c.want) {
			t.Errorf("typegen %q ends with %d and says %s, want %d and %s", c.args, code, out.String(), c.code, c.want)
		}
	}
}

// A file that the last run wrote may be wrong, and must not be in the way of the next.
func TestTheFileThatIsWrittenIsNotRead(t *testing.T) {
	folder := module(t, map[string]string{"a.go": "package m\n\n// A is.\ntype A struct{}\n", "d.go": "package m\n\nfunc ("})
	t.Chdir(folder)
	for range 2 {
		var out bytes.Buffer
		if code := run(t.Context(), []string{"-crd", "-o", "d.go", "A"}, nil, io.Discard, &out); code != 0 || out.Len() > 0 {
			t.Fatalf("typegen ends with %d and says %s", code, out.String())
		}
		text := must(os.ReadFile("d.go"))(t)
		if !strings.Contains(string(text), "package m\n\n// ADescriptions returns") || !strings.Contains(string(text), "\t\t\"\": \"A is.\",\n") {
			t.Fatalf("it writes\n%s", text)
		}
		if err := os.WriteFile("d.go", []byte("package m\n\nvar a = "), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
