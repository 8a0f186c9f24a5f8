package e2e

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bowline-go/bowline/client/discovery"
	"github.com/bowline-go/bowline/internal/controlplane/build"
)

// builtinFolder has the packages of client/builtin.
const builtinFolder = "../../../client/builtin"

// The types in client/builtin are what their go:generate lines write for the server. After a change of its version, run
// this test with -update.
func TestBuiltinTypesAreThoseOfTheServer(t *testing.T) {
	if newest := build.Minors()[0]; plane.Kubernetes != newest {
		t.Skipf("the types of client/builtin are those of Kubernetes %s", newest)
	}
	typegen := filepath.Join(t.TempDir(), "typegen")
	compile := exec.CommandContext(t.Context(), "go", "build", "-o", typegen, "./client/typegen")
	compile.Dir = "../../.."
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	commands := builtinCommands(t)
	for _, name := range append([]string{"core"}, slices.Sorted(maps.Keys(commands))...) { // the others import core
		args := commands[name]
		if !*update {
			args = append([]string{"-check"}, args...)
		}
		cmd := exec.CommandContext(t.Context(), typegen, append([]string{"-kubeconfig", plane.Kubeconfig}, args...)...)
		cmd.Dir = filepath.Join(must(os.Getwd())(t), builtinFolder, name)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: typegen %q: %v: %s", name, args, err, out)
		}
	}
}

// builtinCommands returns the arguments of typegen for each package.
func builtinCommands(t *testing.T) map[string][]string {
	t.Helper()
	commands := make(map[string][]string)
	line := regexp.MustCompile(`(?m)^//go:generate go run github\.com/bowline-go/bowline/client/typegen (.+)$`)
	for _, file := range must(filepath.Glob(builtinFolder + "/*/doc.go"))(t) {
		found := line.FindStringSubmatch(string(must(os.ReadFile(file))(t)))
		if found == nil {
			t.Fatalf("%s has no go:generate line", file)
		}
		commands[filepath.Base(filepath.Dir(file))] = strings.Fields(found[1])
	}
	if len(commands) < 20 {
		t.Fatalf("there are too few packages: %q", commands)
	}
	return commands
}

// Each group that a server has by default has a package, with all kinds of the group.
func TestEachGroupOfTheServerHasABuiltinPackage(t *testing.T) {
	packages := make(map[string]bool)
	for name, args := range builtinCommands(t) {
		i := slices.Index(args, "-groups")
		if i < 0 {
			t.Fatalf("%s: %q names no group", name, args)
		}
		packages[strings.TrimPrefix(args[i+1], "core")] = true
	}
	resources := must(discovery.New(open(t, adminConfig()), discovery.Options{}).Resources(context.Background()))(t)
	groups := make(map[string]bool)
	for _, r := range resources {
		if group := r.Type().Group; isBuiltin(group) {
			groups[group] = true
		}
	}
	if !maps.Equal(groups, packages) {
		t.Errorf("the server has the groups %q, and there are packages for %q", slices.Sorted(maps.Keys(groups)), slices.Sorted(maps.Keys(packages)))
	}
}

// isBuiltin reports whether a group is of Kubernetes. Other tests define custom resources in groups of their own.
func isBuiltin(group string) bool {
	return !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io")
}
