package controller_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// programs are the statements of programs that ask a type about a part of its metadata. Lean has an Identity alone.
var programs = []struct {
	name, statement, want string // want is in the compiler's error; empty if the program compiles
}{
	{"IsDeleting of an Identity", `_ = meta.IsDeleting(&Lean{})`, "missing method GetDeletionTimestamp"},
	{"Owners of an Identity", `_ = meta.Owners(&Lean{})`, "missing method GetOwnerReferences"},
	{"ControllerOf of an Identity", `_, _ = meta.ControllerOf(&Lean{})`, "missing method GetOwnerReferences"},
	{"SetOwners of an Identity", `_ = meta.SetOwners(&Lean{}, nil)`, "missing method GetOwnerReferences"},
	{"client.SetController of an Identity", `_ = client.SetController(&Lean{}, client.Owner{})`, "missing method GetOwnerReferences"},
	{"client.RemoveOwner of an Identity", `_ = client.RemoveOwner(&Lean{}, client.Owner{})`, "missing method GetOwnerReferences"},
	{
		"controller.Owns of an informer of an Identity",
		`_ = controller.Owns(informer.New(client.For(c, Leans), informer.Options{}), Fulls)`,
		"missing method GetOwnerReferences",
	},
	{
		"controller.LabelsChanged of an Identity",
		`_ = controller.Changed(informer.New(client.For(c, Leans), informer.Options{}), controller.LabelsChanged)`,
		"missing method GetLabels",
	},
	{
		"controller.DeletionBegan of an Identity", `_ = controller.DeletionBegan[*Lean]`, "missing method GetDeletionTimestamp",
	},
	{
		"Select of an Identity", `_ = cache.Select(informer.New(client.For(c, Leans), informer.Options{}).Reader(), meta.Selector{})`,
		"missing method GetLabels",
	},
	{
		"NewLabelIndex of an Identity", `_ = cache.NewLabelIndex(informer.New(client.For(c, Leans), informer.Options{}).Reader(), "app")`,
		"missing method GetLabels",
	},

	{"IsDeleting of an ObjectMeta", `_ = meta.IsDeleting(&Full{})`, ""},
	{"IsDeleting of a DeletionMeta", `_ = meta.IsDeleting(&Parts{})`, ""},
	{"IsDeleting of an Unstructured", `_ = meta.IsDeleting(&meta.Unstructured{})`, ""},
	{"IsDeleting of a Raw", `_ = meta.IsDeleting(&meta.Raw{})`, ""},
	{"client.SetController of an OwnerMeta", `_ = client.SetController(&Parts{}, client.Owner{})`, ""},
	{"client.SetController of an Unstructured", `_ = client.SetController(&meta.Unstructured{}, client.Owner{})`, ""},
	{
		"controller.Owns of an ObjectMeta",
		`_ = controller.Owns(informer.New(client.For(c, Fulls), informer.Options{}), Fulls)`, "",
	},
	{
		"controller.Changed with predicates, the type inferred",
		`_ = controller.Changed(informer.New(client.For(c, Fulls), informer.Options{}), controller.GenerationChanged, controller.DeletionBegan)`, "",
	},
	{
		"controller.Or with predicates, the type inferred from the first",
		`_ = controller.Changed(informer.New(client.For(c, Fulls), informer.Options{}), controller.Or(controller.GenerationChanged[*Full], controller.LabelsChanged))`, "",
	},
	{
		"controller.Owns of metadata alone",
		`_ = controller.Owns(informer.New(client.Metadata(client.For(c, Leans)), informer.Options{}), Fulls)`, "",
	},
	{
		"Select of a LabelMeta",
		`_ = cache.Select(informer.New(client.For(c, client.Type[*Parts]{}), informer.Options{}).Reader(), meta.Selector{})`, "",
	},
}

const head = `package p

import (
	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
)

type Lean struct { meta.Identity ` + "`json:\"metadata\"`" + ` }
type Full struct { meta.ObjectMeta ` + "`json:\"metadata\"`" + ` }
type PartsMeta struct { meta.Identity; meta.DeletionMeta; meta.OwnerMeta; meta.LabelMeta }
type Parts struct { PartsMeta ` + "`json:\"metadata\"`" + ` }

var Leans client.Type[*Lean]
var Fulls client.Type[*Full]
var c *client.Client
var _ cache.Reader[*Lean]
var _ informer.Options
var _ controller.Options

func f() { `

// A struct without a deletionTimestamp was never deleting, one without ownerReferences had no owner, and one without labels
// matched no selector, each without a word.
func TestAProgramThatAsksATypeForWhatItLacksDoesNotCompile(t *testing.T) {
	exports := exportData(t, "./informer/controller", "./informer", "./client", "./cache", "./client/meta")
	fset := token.NewFileSet()
	from := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for _, test := range programs {
		t.Run(test.name, func(t *testing.T) {
			file, err := parser.ParseFile(fset, "p.go", head+test.statement+" }", 0)
			if err != nil {
				t.Fatal(err)
			}
			_, err = (&types.Config{Importer: from}).Check("p", fset, []*ast.File{file}, nil)
			switch {
			case test.want == "" && err != nil:
				t.Errorf("%s: %v", test.statement, err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("%s: error is %v, want one with %q", test.statement, err, test.want)
			}
		})
	}
}

// exportData returns the files with what the compiler knows of packages and of those that they import.
func exportData(t *testing.T, packages ...string) map[string]string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Export"}, packages...)...)
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			t.Fatalf("%v: %s", err, exit.Stderr)
		}
		t.Fatal(err)
	}
	exports := make(map[string]string)
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct{ ImportPath, Export string }
		if err := d.Decode(&p); err == io.EOF {
			return exports
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
	}
}
