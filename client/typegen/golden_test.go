package main

import (
	"bytes"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/typegen/internal/source"
)

var update = flag.Bool("update", false, "write the files that the tests compare")

// severalVersions are the folders of which the types are those of all versions.
var severalVersions = []string{"gateways", "machines", "words"}

// definitions returns the folders of testdata with a definition.
func definitions(t *testing.T) (folders []string) {
	t.Helper()
	files, err := filepath.Glob("testdata/*/*.yaml")
	if err != nil || len(files) < 13 {
		t.Fatalf("%v, %q", err, files)
	}
	for _, file := range files {
		folders = append(folders, filepath.Base(filepath.Dir(file)))
	}
	return folders
}

// TestTheTypesOfDefinitionsAreThoseInTestdata runs the command on each definition.
func TestTheTypesOfDefinitionsAreThoseInTestdata(t *testing.T) {
	for _, name := range definitions(t) {
		t.Run(name, func(t *testing.T) {
			args := []string{"-o", "testdata/" + name + "/types.go", "testdata/" + name + "/" + name + ".yaml"}
			if slices.Contains(severalVersions, name) {
				args = append([]string{"-versions", "all"}, args...)
			}
			if !*update {
				args = append([]string{"-check"}, args...)
			}
			var out bytes.Buffer
			if code := run(t.Context(), args, nil, &out, &out); code != 0 || out.Len() > 0 {
				t.Errorf("typegen %q ends with %d and says %s", args, code, out.String())
			}
		})
	}
}

func newClient(t *testing.T, o clienttest.Options) *client.Client {
	t.Helper()
	c, err := client.New(clienttest.Start(t, o).Config())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// must returns a function that returns v unless err is set.
func must[V any](v V, err error) func(t *testing.T) V {
	return func(t *testing.T) V {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// All that is written compiles, since other tests import it, and go vet has nothing to say about it.
func TestVetHasNothingToSayAboutTheTypesInTestdata(t *testing.T) {
	args := []string{"vet"}
	for _, pattern := range []string{"testdata/*/types.go", "testdata/*/defined/types.go"} {
		for _, folder := range must(filepath.Glob(pattern))(t) {
			args = append(args, "./"+filepath.Dir(folder))
		}
	}
	if len(args) < 1+2*13 {
		t.Fatalf("there are too few: %q", args)
	}
	if out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// askedFor returns what the command with the flags writes of the kinds of a server in the process.
func askedFor(t *testing.T, args ...string) string {
	t.Helper()
	s := must(parse(args, io.Discard))(t)
	kinds := must(askServer(t.Context(), newClient(t, clienttest.Options{CRDs: []string{"testdata/gateways/gateways.yaml"}, Lenient: true}), s))(t)
	hints := must(source.BuiltinHints())(t)
	return string(must(source.Write(kinds, source.Options{Package: s.packageName, Command: s.command, Fields: s.fields, Hints: hints}))(t))
}

// isFile compares a text with a file.
func isFile(t *testing.T, file, text string) {
	t.Helper()
	if *update {
		if err := write(file, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if had := string(must(os.ReadFile(file))(t)); had != text {
		t.Errorf("%s differs from\n%s", file, text)
	}
}

// These ask a server, as the command does without a file.
func TestTheFieldsOfAServersKindMakeASmallStruct(t *testing.T) {
	text := askedFor(t, "-kinds", "po", "-fields", "spec.nodeName,status.phase,metadata.labels,metadata.deletionTimestamp,metadata.annotations,"+
		"spec.containers.image,spec.containers.resources.limits", "-package", "fields")
	isFile(t, "testdata/fields/types.go", text)
	if !strings.Contains(text, "	NodeName   string ") || strings.Contains(text, "TypeMeta") || strings.Contains(text, "patchMergeKey") {
		t.Errorf("the struct is\n%s", text)
	}
}

// The server in the process has no descriptions, which a real one has.
func TestTheTypesOfTheExampleAreWhatItsCommandWrites(t *testing.T) {
	isFile(t, "../../examples/typegen/pods.go", askedFor(t, "-o", "pods.go", "-kinds", "pods", "-fields", "spec.nodeName,status.phase"))
}

func TestAllVersionsOfAServersKindAreWritten(t *testing.T) {
	text := askedFor(t, "-kinds", "gateways.net.example.com", "-versions", "all", "-package", "p")
	for _, want := range []string{
		"GatewaysV1 = client.Type[*GatewayV1]", "GatewaysV1beta1 = client.Type[*GatewayV1beta1]",
		"	Listeners        []GatewayV1SpecListener `json:\"listeners\" patchStrategy:\"merge\" patchMergeKey:\"name\"`\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %s in\n%s", want, text)
		}
	}
}

// The documents of the groups have the components of pods in common, which become one type each.
func TestKindsOfSeveralGroupsShareTheirTypes(t *testing.T) {
	text := askedFor(t, "-kinds", "pods,deployments,jobs", "-package", "p")
	for _, typ := range []string{"PodSpec", "PodTemplateSpec", "Container"} {
		if n := strings.Count(text, "type "+typ+" struct {"); n != 1 {
			t.Errorf("there are %d types %s", n, typ)
		}
	}
}
