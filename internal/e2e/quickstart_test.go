package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// quickstart builds the example and returns how to run it.
func quickstart(t *testing.T) func(args ...string) (stdout, stderr string, err error) {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "quickstart.exe")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "./examples/quickstart")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return func(args ...string) (string, string, error) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		var stdout, stderr bytes.Buffer
		cmd := exec.CommandContext(ctx, binary, args...)
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		return stdout.String(), stderr.String(), err
	}
}

func TestQuickstartKeepsTwoThousandObjectsInSync(t *testing.T) {
	run := quickstart(t)
	stdout, stderr, err := run("-kubeconfig", plane.Kubeconfig, "-objects", "2000", "-workers", "16", "-json")
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	var got struct{ Objects, InSync, Wrong, Orphans, Reconciles int }
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatalf("%v in %q", err, stdout)
	}
	// 5 % are deleted and 2 % lose their label.
	if got.Objects < 1800 || got.InSync != got.Objects || got.Wrong != 0 || got.Orphans != 0 || got.Reconciles < got.Objects {
		t.Errorf("summary is %s", stdout)
	}
	t.Log(strings.TrimSpace(stdout))

	// The controller manager, which is not here, would finish the deletion of its namespaces.
	left, err := plane.Kubectl(t.Context(), "get", "namespaces", "-o",
		`jsonpath={range .items[?(@.status.phase=="Active")]}{.metadata.name}{"\n"}{end}`)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(left, "bowline-quickstart-") {
		t.Errorf("namespaces are left:\n%s", left)
	}
}

func TestQuickstartSaysInOneLineWhyItCannotRun(t *testing.T) {
	run := quickstart(t)
	for _, test := range []struct {
		name, want string
		args       []string
	}{
		{"a user without rights", "Forbidden (403)", []string{"-kubeconfig", plane.Kubeconfig, "-context", "outsider"}},
		{"a context that is not there", `"nowhere"`, []string{"-kubeconfig", plane.Kubeconfig, "-context", "nowhere"}},
		{"a file that is not there", "absent.yaml", []string{"-kubeconfig", "absent.yaml"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			stdout, stderr, err := run(test.args...)
			if err == nil || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, test.want) {
				t.Errorf("it ends with %v, stdout %q and stderr %q; want an exit status, and one line with %s", err, stdout, stderr, test.want)
			}
		})
	}
}
