package controller_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/bowline-go/bowline"

// proof is the prefix of the packages that prove the library. Tests and other packages of proof import them.
const proof = module + "/internal/proof/"

// imports says which packages of the module each package imports, tests aside. Bytes flow one way: no arrow points back.
// This test stands here because this package is the top of the graph.
var imports = map[string][]string{
	"client/meta": {"internal/jsonlex"},
	"errors":      {"client/meta", "internal/shown"},
	"patch":       {"client/meta", "internal/fieldset", "internal/gotype", "internal/jsonlex", "internal/patch/govalue", "internal/patch/strategic", "internal/patch/tree"},
	"cache":       {"client/meta", "internal/guard", "internal/store"},
	"workqueue":   {},

	// The parts of patch.
	"internal/patch/tree":      {"internal/jsonlex"},
	"internal/patch/govalue":   {"internal/gotype", "internal/jsonlex", "internal/patch/tree"},
	"internal/patch/carry":     {"internal/jsonlex", "internal/patch/tree"},
	"internal/patch/strategic": {"client/meta", "internal/gotype", "internal/jsonlex", "internal/patch/carry", "internal/patch/tree"},

	"internal/jsonlex":  {},
	"internal/protobuf": {"internal/jsonlex"},
	"client/protobuf": {
		"client", "client/meta", "internal/codec", "internal/content", "internal/jsonstream", "internal/pipeline", "internal/protobuf", "internal/protostream",
	},
	"internal/fieldset":    {"client/meta", "internal/jsonlex"},
	"internal/jsonstream":  {"client/meta", "internal/jsonlex"},
	"internal/protostream": {"client/meta", "internal/jsonstream", "internal/protobuf"},
	"internal/codec":       {"internal/jsonlex", "internal/jsonstream", "internal/protobuf"},
	"internal/pipeline":    {"client/meta", "internal/jsonstream"},
	"internal/content":     {"client/meta", "internal/codec", "internal/jsonstream", "internal/pipeline"},
	"internal/report":      {},
	"internal/retry":       {},
	"internal/guard":       {},
	"internal/version":     {},
	"internal/apiversion":  {},
	"internal/memnet":      {},
	"internal/wsmux":       {},
	"internal/gotype":      {"client/meta"},
	"internal/handle":      {"client/meta", "internal/codec", "internal/packed", "internal/undertest"},
	"internal/election":    {},
	"internal/clustering":  {},
	"internal/runners":     {},
	"internal/follow":      {"client/meta"},
	"internal/overlay":     {"client/meta", "internal/fieldset", "internal/gotype", "internal/jsonlex", "internal/patch/govalue", "internal/patch/tree", "patch"},
	"internal/fights":      {"client/meta", "errors", "internal/fieldset", "internal/follow"},
	"internal/filler":      {"client/meta", "internal/follow", "internal/store"},
	"internal/fresh":       {"client/meta", "internal/follow", "internal/store"},
	"internal/store":       {"client/meta", "internal/guard", "internal/packed"},
	"internal/packed":      {},
	"internal/packing":     {"internal/packed"},
	"internal/hooks":       {},
	"internal/undertest":   {},
	"internal/directive":   {},
	"internal/regular":     {},
	"internal/shown":       {},
	"internal/conn":        {"errors", "internal/guard", "internal/regular", "internal/shown"},
	"internal/copyscript":  {},

	"client": {
		"client/meta", "errors", "internal/codec", "internal/conn", "internal/content", "internal/follow", "internal/gotype", "internal/guard", "internal/handle", "internal/hooks", "internal/jsonstream", "internal/overlay", "internal/packed", "internal/patch/carry", "internal/pipeline", "internal/retry", "internal/shown", "internal/undertest", "internal/version", "patch",
	},
	"client/discovery":  {"client", "client/meta", "errors", "internal/conn", "internal/regular"},
	"client/kubeconfig": {"client", "internal/conn", "internal/directive", "internal/regular", "internal/shown"},
	"client/leader":     {"client", "client/meta", "errors", "internal/election", "internal/follow", "internal/hooks", "internal/report", "internal/retry", "internal/shown"},
	"client/shards":     {"client", "client/leader", "client/meta", "errors", "internal/election", "internal/follow", "internal/hooks", "internal/report", "internal/retry"},
	"client/remote":     {"client", "client/meta", "errors", "internal/conn", "internal/copyscript", "internal/handle", "internal/report", "internal/retry", "internal/shown", "internal/wsmux", "patch"},
	"client/recorder":   {"client", "client/meta", "errors", "internal/hooks", "internal/report", "internal/retry", "internal/shown", "patch"},
	"client/clienttest": {
		"client", "client/meta", "errors", "internal/apiversion", "internal/fieldset", "internal/memnet", "internal/undertest", "patch",
		"client/clienttest/internal/jsontree", "client/clienttest/internal/kinds", "client/clienttest/internal/network",
		"client/clienttest/internal/manifests", "client/clienttest/internal/messages", "client/clienttest/internal/object", "client/clienttest/internal/kubectl",
		"client/clienttest/internal/ownership", "client/clienttest/internal/patching", "client/clienttest/internal/store",
		"client/clienttest/internal/records", "client/clienttest/internal/schema", "client/clienttest/internal/sharding",
		"client/clienttest/internal/status", "client/clienttest/internal/values", "client/clienttest/internal/definitions",
		"client/clienttest/internal/quantity", "client/clienttest/internal/rbac", "client/clienttest/internal/strategy",
		"client/clienttest/internal/admission", "client/clienttest/internal/limits",
		"client/clienttest/internal/quota", "client/clienttest/internal/recording",
	},

	"client/clienttest/explore": {"cache", "client", "client/clienttest", "client/clienttest/controllers", "client/meta", "errors", "internal/memnet", "patch"},
	// A program that records a cluster.
	"client/clienttest/record": {"client", "client/clienttest", "client/discovery", "client/kubeconfig"},

	// A program that writes types.
	"client/typegen":                   {"client", "client/discovery", "client/kubeconfig", "client/meta", "client/typegen/internal/comments", "client/typegen/internal/schema", "client/typegen/internal/source", "internal/apiversion"},
	"client/typegen/internal/comments": {},
	"client/typegen/internal/schema":   {"client/meta", "internal/directive"},
	"client/typegen/internal/define":   {"client", "client/crd", "client/meta"},
	"client/typegen/internal/source":   {"client/crd", "client/meta", "client/protobuf/all", "client/typegen/internal/define", "client/typegen/internal/schema", "internal/protobuf"},
	"client/builtin":                   {}, // only documentation; the packages below it are checked by checkKinds
	"client/crd":                       {"client", "client/meta", "errors", "internal/gotype"},

	"client/webhook": {
		"client", "client/meta", "errors", "internal/codec", "internal/conn", "internal/patch/carry", "internal/regular", "internal/report", "internal/retry", "patch",
	},
	"client/webhook/certificates": {"client", "client/meta", "errors", "internal/conn", "internal/report", "internal/retry", "patch"},

	"client/clienttest/containers": {"client/clienttest", "client/meta", "client/remote", "internal/copyscript", "internal/wsmux"},
	"client/clienttest/controllers": {
		"cache", "client", "client/clienttest", "client/discovery", "client/meta", "client/recorder", "errors", "informer", "informer/controller",
		"patch",
	},

	// The real server for tests. Nobody links it but tests, and only apiserver and proofs import the packages below it.
	"internal/controlplane":                {"internal/controlplane/build", "internal/controlplane/child"},
	"internal/controlplane/build":          {"internal/controlplane/child"},
	"internal/controlplane/build/lifeline": {},
	"internal/controlplane/build/programs": {"internal/controlplane/build"},
	"internal/controlplane/build/update":   {"internal/controlplane/build"},
	"internal/controlplane/child":          {},
	"client/clienttest/apiserver": {
		"client", "client/clienttest", "client/discovery", "client/meta", "errors", "internal/controlplane", "internal/controlplane/build",
		"internal/undertest", "client/clienttest/internal/jsontree", "client/clienttest/internal/manifests",
	},

	// The parts of the server in the process. None of them knows it, and each knows only those above it.
	"client/clienttest/internal/definitions": {
		"client/meta", "client/clienttest/internal/jsontree", "client/clienttest/internal/object", "client/clienttest/internal/status",
		"client/clienttest/internal/values",
	},
	"client/clienttest/internal/admission": {"client/meta", "client/clienttest/internal/jsontree", "client/clienttest/internal/object", "client/clienttest/internal/status"},
	"client/clienttest/internal/demand":    {"client/clienttest/internal/jsontree", "client/clienttest/internal/quantity"},
	"client/clienttest/internal/limits":    {"client/clienttest/internal/demand", "client/clienttest/internal/jsontree", "client/clienttest/internal/quantity"},
	"client/clienttest/internal/quota": {
		"client/clienttest/internal/demand", "client/clienttest/internal/jsontree", "client/clienttest/internal/object",
		"client/clienttest/internal/quantity", "client/clienttest/internal/strategy",
	},
	"client/clienttest/internal/jsonpath":  {"client/clienttest/internal/jsontree"},
	"client/clienttest/internal/jsontree":  {"internal/directive", "internal/jsonlex"},
	"client/clienttest/internal/manifests": {"client/clienttest/internal/jsontree"},
	"client/clienttest/internal/network":   {"internal/memnet"},
	"client/clienttest/internal/sharding":  {},
	"client/clienttest/internal/status":    {"client/meta"},
	"client/clienttest/internal/kinds":     {"client/clienttest/internal/jsontree"},
	"client/clienttest/internal/kubectl":   {"client/meta", "client/clienttest/internal/jsonpath", "client/clienttest/internal/jsontree", "client/clienttest/internal/schema", "client/clienttest/internal/status"},
	"client/clienttest/internal/store":     {"client/meta", "client/clienttest/internal/object", "client/clienttest/internal/status"},
	"client/clienttest/internal/messages":  {"client/protobuf/all", "internal/protobuf"},
	"client/clienttest/internal/schema":    {"client/meta", "internal/fieldset", "patch", "client/clienttest/internal/jsontree", "client/clienttest/internal/quantity", "client/clienttest/internal/status"},
	"client/clienttest/internal/quantity":  {},
	"client/clienttest/internal/rbac":      {"client/meta"},
	"client/clienttest/internal/strategy":  {"client/meta", "client/clienttest/internal/jsonpath", "client/clienttest/internal/jsontree", "client/clienttest/internal/quantity", "client/clienttest/internal/schema", "client/clienttest/internal/status"},
	"client/clienttest/internal/values":    {"client/meta", "client/clienttest/internal/jsontree", "client/clienttest/internal/status"},
	"client/clienttest/internal/object":    {"client/meta", "client/clienttest/internal/jsontree", "client/clienttest/internal/kinds", "client/clienttest/internal/schema", "client/clienttest/internal/status"},
	"client/clienttest/internal/ownership": {"client/meta", "internal/fieldset", "client/clienttest/internal/jsontree", "client/clienttest/internal/schema"},
	"client/clienttest/internal/recording": {"client/meta", "client/clienttest/internal/jsontree"},
	"client/clienttest/internal/records":   {"client/meta", "client/clienttest/internal/jsontree", "client/clienttest/internal/status"},
	"client/clienttest/internal/patching":  {"client/meta", "internal/patch/strategic", "patch", "client/clienttest/internal/jsontree", "client/clienttest/internal/schema", "client/clienttest/internal/status"},

	"informer": {"cache", "client", "client/meta", "errors", "internal/codec", "internal/election", "internal/filler", "internal/follow", "internal/guard", "internal/handle", "internal/hooks", "internal/packed", "internal/report", "internal/retry", "internal/runners", "internal/shown", "internal/store", "internal/undertest"},
	"informer/controller": {
		"cache", "client/meta", "errors", "internal/clustering", "internal/fights", "internal/filler", "internal/follow", "internal/fresh", "internal/guard", "internal/hooks", "internal/report", "internal/runners", "internal/shown", "internal/store", "workqueue",
	},
	"informer/warm":     {"client", "client/meta", "errors", "informer", "internal/codec", "internal/guard", "internal/jsonstream", "internal/regular", "internal/retry"},
	"informer/clusters": {"cache", "client/meta", "informer/controller", "internal/clustering", "internal/filler", "internal/runners", "workqueue"},
	"informer/compact":  {"informer", "internal/packed", "internal/packing"},
	"informer/debug":    {"client", "client/leader", "client/meta", "client/shards", "informer", "informer/controller", "internal/hooks", "internal/shown", "internal/version", "workqueue"},

	// For tests only: the suite that the server in the process and the real one have to pass.
	"internal/proof/conformance": {
		"client", "client/crd", "client/discovery", "client/meta", "client/protobuf", "client/protobuf/apps", "client/protobuf/authorization",
		"client/protobuf/autoscaling", "client/protobuf/certificates", "client/protobuf/coordination", "client/protobuf/core",
		"client/protobuf/events", "errors", "internal/proof/conformance/calls", "internal/jsonlex", "internal/protobuf", "patch",
	},
	// For tests only: which random histories are played, and how those that fail are made short.
	"internal/proof/histories": {},
	// For tests only: caches without an informer.
	"internal/store/storetest": {"cache", "client/meta", "internal/packed", "internal/store"},
	// For tests only: the clocks and the pauses of a computer.
	"internal/proof/machine": {"client"},
	"internal/proof/faults":  {"client/clienttest", "client/meta", "internal/proof/machine"},
	// For tests only: documents that are slow to read for a careless reader.
	"internal/proof/hostile":   {},
	"internal/proof/randomdoc": {},
	// A test that lists what the others export.
	"internal/proof/api": {},
	// A program that changes the code of the others.
	"internal/proof/mutants": {},
	"internal/proof/texts":   {},
	// For tests only: the calls whose requests are kept in files, and are made to both servers.
	"internal/proof/conformance/calls": {"client", "client/meta", "errors", "patch"},
}

// doors are the third-party modules that may be linked, each of which is, and the packages that may import them.
// CONTRIBUTING.md says what for.
var doors = map[string][]string{
	"github.com/cenkalti/backoff/v4": {"internal/retry"},
	"github.com/gorilla/websocket":   {"internal/wsmux"},
	"github.com/klauspost/compress":  {"internal/packing"},
	"github.com/go-logr/logr":        {"client", "client/clienttest/explore", "client/leader", "client/recorder", "client/remote", "client/shards", "client/webhook", "client/webhook/certificates", "informer", "informer/controller", "internal/report"},
	"go.yaml.in/yaml/v3":             {"client/kubeconfig", "client/clienttest/internal/jsontree", "client/typegen/internal/schema", "internal/directive"},
	"golang.org/x/time":              {"client", "workqueue"},
}

type listed struct {
	ImportPath string
	Standard   bool
	Imports    []string
	Deps       []string
	Module     *struct{ Path string }
}

// goList lists packages. env is what the environment has beside this process's, words apart.
func goList(t *testing.T, env string, args ...string) []listed {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-json=ImportPath,Standard,Imports,Deps,Module"}, args...)...)
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), strings.Fields(env)...)
	out, err := cmd.Output()
	if err != nil {
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			t.Fatalf("%v: %s", err, exit.Stderr)
		}
		t.Fatal(err)
	}
	var packages []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

func TestPackagesImportWhatTheirRulesSay(t *testing.T) {
	found := make(map[string]bool)
	for _, p := range goList(t, "", "./...") {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		if strings.HasPrefix(name, "examples/") {
			continue // checked below: they import what a user can
		}
		if name == module { // only documentation
			if len(p.Imports) > 0 {
				t.Errorf("the package at the root imports %q", p.Imports)
			}
			continue
		}
		if strings.HasPrefix(name, "client/protobuf/") {
			checkTables(t, p)
			continue
		}
		if strings.HasPrefix(name, "client/builtin/") {
			checkKinds(t, p)
			continue
		}
		found[name] = true
		may, ok := imports[name]
		if !ok {
			t.Errorf("package %s has no rule", name)
			continue
		}
		for _, arrow := range may {
			if !slices.Contains(p.Imports, module+"/"+arrow) {
				t.Errorf("package %s does not import %s, which its rule has", name, arrow)
			}
		}
		for _, i := range p.Imports {
			if ours, ok := strings.CutPrefix(i, module+"/"); ok && !slices.Contains(may, ours) {
				t.Errorf("package %s imports %s, which its rule does not allow", name, ours)
			}
			if strings.HasPrefix(i, proof) && !strings.HasPrefix(p.ImportPath, proof) {
				t.Errorf("package %s of the library imports %s", name, i)
			}
			for theirs, door := range doors {
				if (i == theirs || strings.HasPrefix(i, theirs+"/")) && !slices.Contains(door, name) {
					t.Errorf("package %s imports %s, which only %q may", name, i, door)
				}
			}
		}
	}
	for name := range imports {
		if !found[name] {
			t.Errorf("there is a rule for package %s, which does not exist", name)
		}
	}
}

// checkTables checks a package of tables, which imports what a table is, and tables.
func checkTables(t *testing.T, p listed) {
	t.Helper()
	for _, i := range p.Imports {
		ours, ok := strings.CutPrefix(i, module+"/")
		if ours == "client/protobuf/all" {
			t.Errorf("package %s imports the tables of all groups", p.ImportPath) // a program would link all by importing one
		} else if ok && ours != "internal/protobuf" && ours != "client/protobuf" && !strings.HasPrefix(ours, "client/protobuf/") || !ok && i != "embed" {
			t.Errorf("package %s has tables and imports %s", p.ImportPath, i)
		}
	}
}

// checkKinds checks a package of kinds, which imports what a type is made of, and the types of core.
func checkKinds(t *testing.T, p listed) {
	t.Helper()
	allowed := []string{"encoding/json", module + "/client", module + "/client/meta", module + "/client/builtin/core"}
	for _, i := range p.Imports {
		if !slices.Contains(allowed, i) {
			t.Errorf("package %s has kinds and imports %s", p.ImportPath, i)
		}
	}
}

// floor returns how far above those that import nothing a package stands. The packages of tables stand on client/protobuf.
func floor(name string) int {
	n := 0
	if strings.HasPrefix(name, "client/protobuf/") {
		n = floor("client/protobuf") + 1
	}
	for _, below := range imports[name] {
		n = max(n, floor(below)+1)
	}
	return n
}

// The packages below clienttest are in its own DESIGN.md.
func TestTheTableOfFloorsIsTheGraph(t *testing.T) {
	text, err := os.ReadFile("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	drawn := make(map[string]int)
	for _, line := range regexp.MustCompile(`(?m)^(\d+) +([\w/]+) `).FindAllStringSubmatch(string(text), -1) {
		drawn[line[2]], _ = strconv.Atoi(line[1])
	}
	for name := range imports {
		if strings.HasPrefix(name, "client/clienttest/internal/") {
			continue
		}
		if n, ok := drawn[name]; !ok || n != floor(name) {
			t.Errorf("CONTRIBUTING.md has package %s on floor %d (%v), and it stands on %d", name, n, ok, floor(name))
		}
		delete(drawn, name)
	}
	for name := range drawn {
		t.Errorf("CONTRIBUTING.md has package %s, which does not exist", name)
	}
}

// The types of client.Config.Logger and Limiter are the only ones of the API that are not of the module.
func TestExamplesImportOnlyTheModuleTheTypesOfItsOptionsAndTheStandardLibrary(t *testing.T) {
	standard := make(map[string]bool)
	examples := goList(t, "", "./examples/...")
	for _, p := range goList(t, "", "-deps", "./examples/...") {
		standard[p.ImportPath] = p.Standard
	}
	if len(examples) == 0 {
		t.Fatal("there are no examples")
	}
	for _, p := range examples {
		for _, i := range p.Imports {
			if !standard[i] && !strings.HasPrefix(i, module+"/") && i != "github.com/go-logr/logr" && i != "golang.org/x/time/rate" {
				t.Errorf("example %s imports %s", p.ImportPath, i)
			}
			if strings.HasPrefix(i, module+"/internal/") {
				t.Errorf("example %s imports %s, which a user cannot", p.ImportPath, i)
			}
		}
	}
}

// extras are what a program links only if it imports them, as are their folders.
var extras = []string{
	module + "/client/leader", module + "/client/recorder", module + "/client/remote", module + "/client/webhook", module + "/client/crd", module + "/client/builtin", module + "/client/clienttest/containers", module + "/client/clienttest/controllers", module + "/client/clienttest/cel", module + "/client/clienttest/explore/clientgo", module + "/informer/debug", module + "/informer/warm", module + "/informer/metrics", module + "/informer/tracing", module + "/informer/ctrlcache",
	"github.com/prometheus", "github.com/google/cel-go", "go.opentelemetry.io", "sigs.k8s.io/controller-runtime", "k8s.io/client-go",
}

// guarantee S21: a program without leader election, records, metrics, traces, a page of itself or commands in containers links nothing of them. No package of the module brings
// them along.
func TestAProgramLinksOnlyTheExtrasThatItImports(t *testing.T) {
	imported := make(map[string][]string)
	for _, p := range goList(t, "", "-deps", "./...") {
		imported[p.ImportPath] = p.Imports
	}
	// The page shows elections and groups of replicas, so it links their packages.
	page := module + "/informer/debug"
	imported[page] = slices.DeleteFunc(imported[page], func(i string) bool { return i == module+"/client/leader" || i == module+"/client/shards" })
	// A test that explores has the controllers of a cluster, which write records.
	explores := module + "/client/clienttest/explore"
	imported[explores] = append(imported[explores], module+"/client/recorder")
	// The program that writes types asks package crd what it makes of them.
	writes := module + "/client/typegen"
	imported[writes] = append(imported[writes], module+"/client/crd")
	extra := func(i string) bool {
		return slices.ContainsFunc(extras, func(e string) bool { return i == e || strings.HasPrefix(i, e+"/") })
	}
	// brought returns the extras that p links without having imported them itself.
	brought := func(p string) (found []string) {
		seen := map[string]bool{p: true}
		for next := slices.Clone(imported[p]); len(next) > 0; {
			i := next[len(next)-1]
			next = next[:len(next)-1]
			if seen[i] {
				continue
			}
			seen[i] = true
			if extra(i) && !slices.Contains(imported[p], i) {
				found = append(found, i)
			}
			next = append(next, imported[i]...)
		}
		return found
	}
	for p := range imported {
		if found := brought(p); strings.HasPrefix(p, module+"/") && len(found) > 0 {
			t.Errorf("%s links %q, which it does not import", p, found)
		}
	}
	// The rule has something to say of both kinds of program.
	for program, want := range map[string]bool{"watch": false, "controller": true, "quickstart": true, "operator": true} {
		direct := imported[module+"/examples/"+program]
		if len(direct) == 0 || slices.ContainsFunc(direct, extra) != want {
			t.Errorf("examples/%s imports %q; that it imports extras should be %t", program, direct, want)
		}
	}
	for _, file := range []string{"../../go.mod", "../../go.sum"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range extras {
			if strings.Contains(string(text), e) {
				t.Errorf("%s has %s", file, e)
			}
		}
	}
}

// guarantee S21: nothing but client/remote, and what clienttest has for it, brings WebSockets into a program.
func TestAProgramWithoutClientRemoteLinksNoWebSockets(t *testing.T) {
	linking := 0
	for _, p := range goList(t, "", "./...") {
		has := func(path string) bool { return p.ImportPath == path || slices.Contains(p.Deps, path) }
		sockets := has("github.com/gorilla/websocket")
		wanted := has(module+"/client/remote") || has(module+"/client/clienttest/containers") || p.ImportPath == module+"/internal/wsmux"
		if sockets != wanted {
			t.Errorf("%s links WebSockets: %t, want %t", p.ImportPath, sockets, wanted)
		}
		if sockets {
			linking++
		}
	}
	if linking == 0 {
		t.Error("nothing links WebSockets")
	}
}

// guarantee S21: a program that links every package of the module links these modules and no others, on every platform, and go.mod
// asks for nothing else, tests included. So no flaw in another module is one of its users'.
func TestLinkedModulesAreExactlyTheAllowedOnes(t *testing.T) {
	allowed := slices.Sorted(maps.Keys(doors))
	for _, platform := range []string{"linux/amd64", "darwin/arm64", "windows/amd64"} {
		system, machine, _ := strings.Cut(platform, "/")
		linked := make(map[string]bool)
		for _, p := range goList(t, "GOOS="+system+" GOARCH="+machine+" CGO_ENABLED=0", "-deps", "./...") {
			if p.Module != nil && p.Module.Path != module {
				linked[p.Module.Path] = true
			}
		}
		if got := slices.Sorted(maps.Keys(linked)); !slices.Equal(got, allowed) {
			t.Errorf("modules linked on %s are %q, want %q", platform, got, allowed)
		}
	}
	mod, err := exec.CommandContext(t.Context(), "go", "mod", "edit", "-json", "../../go.mod").Output()
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Require []struct {
			Path     string
			Indirect bool
		}
		Replace, Exclude, Tool []any
	}
	if err := json.Unmarshal(mod, &file); err != nil {
		t.Fatal(err)
	}
	var required []string
	for _, r := range file.Require {
		required = append(required, r.Path)
	}
	slices.Sort(required)
	if !slices.Equal(required, allowed) || len(file.Replace)+len(file.Exclude)+len(file.Tool) > 0 {
		t.Errorf("go.mod requires %q and has %d replacements, %d exclusions and %d tools; want %q and none",
			required, len(file.Replace), len(file.Exclude), len(file.Tool), allowed)
	}
}
