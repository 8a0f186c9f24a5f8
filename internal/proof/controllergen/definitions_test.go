package controllergen

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
	"k8s.io/apimachinery/pkg/runtime/schema"
	controllertools "sigs.k8s.io/controller-tools/pkg/crd"
	crdmarkers "sigs.k8s.io/controller-tools/pkg/crd/markers"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/crd"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/proof/controllergen/shapes"
)

var update = flag.Bool("update", false, "write exceptions.txt")

const group = "shapes.bowline.example"

// The definitions of the shapes, by kind.
func ours(t *testing.T) map[string]*crd.Definition {
	all := map[string]*crd.Definition{}
	columns := []crd.Column{{Name: "Store", JSONPath: ".spec.store"}, {Name: "Age", JSONPath: ".metadata.creationTimestamp"}}
	for _, d := range []func() (*crd.Definition, error){
		of[*shapes.Scalar]("Scalar", meta.Namespaced, crd.Options{}),
		of[*shapes.Time]("Time", meta.Namespaced, crd.Options{}),
		of[*shapes.Limited]("Limited", meta.Namespaced, crd.Options{}),
		of[*shapes.Certificate]("Certificate", meta.Namespaced, crd.Options{ShortNames: []string{"cert", "certs"}, Categories: []string{"all"}, Columns: columns}),
		of[*shapes.Route]("Route", meta.Namespaced, crd.Options{Rules: []crd.Rule{{Rule: "self.metadata.name != 'all'", Message: "the name is reserved"}}}),
		of[*shapes.Monitor]("Monitor", meta.Namespaced, crd.Options{}),
		of[*shapes.Workflow]("Workflow", meta.Namespaced, crd.Options{}),
		of[*shapes.Scaled]("Scaled", meta.Cluster, crd.Options{
			Scale:      &crd.Scale{SpecReplicas: ".spec.replicas", StatusReplicas: ".status.replicas", LabelSelector: ".status.selector"},
			Deprecated: true, DeprecationWarning: "use another",
		}),
		of[*shapes.Embedding]("Embedding", meta.Namespaced, crd.Options{}),
		of[*shapes.Runner]("Runner", meta.Namespaced, crd.Options{}),
		of[*shapes.Selectable]("Selectable", meta.Cluster, crd.Options{SelectableFields: []string{".spec.color"}}),
	} {
		made, err := d()
		if err != nil {
			t.Fatal(err)
		}
		all[made.Spec.Names.Kind] = made
	}
	return all
}

func of[T meta.Object](kind string, scope meta.Scope, o crd.Options) func() (*crd.Definition, error) {
	return func() (*crd.Definition, error) {
		return crd.Of(client.Type[T]{Group: group, Version: "v1", Kind: kind, Resource: strings.ToLower(kind) + "s", Scope: scope}, o)
	}
}

// theirs returns what controller-gen makes of the shapes, by kind.
func theirs(t *testing.T) map[string]any {
	roots, err := loader.LoadRoots("./shapes")
	if err != nil {
		t.Fatal(err)
	}
	registry := &markers.Registry{}
	if err := crdmarkers.Register(registry); err != nil {
		t.Fatal(err)
	}
	parser := &controllertools.Parser{Collector: &markers.Collector{Registry: registry}, Checker: &loader.TypeChecker{}}
	controllertools.AddKnownTypes(parser)
	for _, root := range roots {
		parser.NeedPackage(root)
	}
	none := 0 // the texts of comments are not compared
	all := map[string]any{}
	for _, kind := range controllertools.FindKubeKinds(parser, controllertools.FindMetav1(roots)) {
		parser.NeedCRDFor(kind, &none)
		made := parser.CustomResourceDefinitions[schema.GroupKind{Group: group, Kind: kind.Kind}]
		all[kind.Kind] = plain(t, made)
	}
	// The loader checks the types without the functions of other packages, as controller-gen does, and misses some.
	if loader.PrintErrors(roots, packages.TypeError) {
		t.Fatal("controller-gen has errors")
	}
	return all
}

// plain returns a value as its JSON is decoded.
func plain(t *testing.T, v any) (out any) {
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestTheDefinitionsDifferOnlyWhereTheExceptionsSay(t *testing.T) {
	made, generated := ours(t), theirs(t)
	if got, want := slices.Sorted(maps.Keys(made)), slices.Sorted(maps.Keys(generated)); !slices.Equal(got, want) {
		t.Fatalf("the kinds are %q, and those of controller-gen %q", got, want)
	}
	var lines []string
	// Root members that the server knows anyway.
	known := regexp.MustCompile(`^\.versions\[0\]\.(apiVersion|kind|metadata): -, `)
	for _, kind := range slices.Sorted(maps.Keys(made)) {
		for _, line := range differences("", plain(t, made[kind].Spec), generated[kind].(map[string]any)["spec"]) {
			if !known.MatchString(line) {
				lines = append(lines, kind+line)
			}
		}
	}
	text := strings.Join(lines, "\n") + "\n"
	if *update {
		if err := os.WriteFile("exceptions.txt", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	listed, err := os.ReadFile("exceptions.txt")
	if err != nil || string(listed) != text {
		t.Errorf("exceptions.txt does not have the differences (%v); go test -update writes these:\n%s", err, text)
	}
}

// differences returns a line for each difference: the place, ours, and theirs.
func differences(at string, is, other any) (lines []string) {
	a, isObject := is.(map[string]any)
	b, bothObjects := other.(map[string]any)
	if isObject && bothObjects {
		names := maps.Clone(a)
		maps.Copy(names, b)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			in := at + "." + name
			if name == "openAPIV3Schema" || name == "properties" || name == "schema" {
				in = at // for shorter lines
			}
			lines = append(lines, differences(in, a[name], b[name])...)
		}
		return lines
	}
	x, isList := is.([]any)
	y, bothLists := other.([]any)
	if isList && bothLists && len(x) == len(y) {
		for i := range x {
			lines = append(lines, differences(fmt.Sprintf("%s[%d]", at, i), x[i], y[i])...)
		}
		return lines
	}
	if reflect.DeepEqual(is, other) {
		return nil
	}
	return []string{fmt.Sprintf("%s: %s, controller-gen: %s", at, shown(is), shown(other))}
}

func shown(v any) string {
	if v == nil {
		return "-"
	}
	text, _ := json.Marshal(v) // it was decoded from JSON
	return string(text)
}
