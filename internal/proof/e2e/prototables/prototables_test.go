package prototables

import (
	"bytes"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

var update = flag.Bool("update", false, "write the tables from the sources")

const root = "../../../.."

// The tables are those that the .proto files and the Go types give. After a change of their versions in go.mod, run this test
// with -update.
func TestTablesAreThoseOfTheSources(t *testing.T) {
	s, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}
	protos, err := protoFiles(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tables, err := Make(protos, s, versions, ofMeta)
	if err != nil {
		t.Fatal(err)
	}
	files, err := Files(tables)
	if err != nil {
		t.Fatal(err)
	}
	there, err := filepath.Glob(root + "/client/protobuf/*/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range there {
		name, err := filepath.Rel(root, file)
		if err != nil {
			t.Fatal(err)
		}
		if files[filepath.ToSlash(name)] == nil && filepath.Ext(name) == ".txt" {
			t.Errorf("%s is of no version that kube-apiserver serves", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file := filepath.Join(root, filepath.FromSlash(name))
		if *update {
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, files[name], 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, files[name]) {
			t.Errorf("%s differs from its sources (%v); write it with: go test -run %s -update", name, err, t.Name())
		}
	}
}
