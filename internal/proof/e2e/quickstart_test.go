package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// buildExample builds an example and returns where it is.
func buildExample(t *testing.T, name string) (binary string) {
	t.Helper()
	binary = filepath.Join(t.TempDir(), name+".exe")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "./examples/"+name)
	build.Dir = filepath.Join("..", "..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return binary
}

// quickstart builds the example and returns how to run it.
func quickstart(t *testing.T) func(args ...string) (stdout, stderr string, err error) {
	t.Helper()
	binary := buildExample(t, "quickstart")
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

// activeQuickstartNamespaces returns the namespaces that a quickstart has made and not removed. The controller manager,
// which is not here, would finish the deletion of the others.
func activeQuickstartNamespaces(t *testing.T) (names []string) {
	t.Helper()
	active, err := plane.Kubectl(t.Context(), "get", "namespaces", "-o",
		`jsonpath={range .items[?(@.status.phase=="Active")]}{.metadata.name}{"\n"}{end}`)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields(active) {
		if strings.HasPrefix(name, "bowline-quickstart-") {
			names = append(names, name)
		}
	}
	return names
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

	if left := activeQuickstartNamespaces(t); len(left) > 0 {
		t.Errorf("the namespaces %v are left", left)
	}
}

func TestQuickstartCleansUpWhenItIsInterrupted(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // no process can be interrupted there
	}
	cmd := exec.CommandContext(t.Context(), buildExample(t, "quickstart"), "-kubeconfig", plane.Kubeconfig, "-objects", "100000")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	if !lines.Scan() { // the first line of progress: it is at work
		t.Fatal("it says nothing")
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	began, last := time.Now(), ""
	for lines.Scan() {
		last = lines.Text()
	}
	err = cmd.Wait()
	if took := time.Since(began); took > time.Second {
		t.Errorf("it took %v to end", took)
	}
	if cmd.ProcessState.ExitCode() != 130 || !strings.HasPrefix(last, "quickstart: interrupted") {
		t.Errorf("it ends with %v and %q", err, last)
	}
	for _, name := range activeQuickstartNamespaces(t) {
		if !strings.Contains(last, name) {
			t.Errorf("the namespace %s is left, and it does not say so: %q", name, last)
		}
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
