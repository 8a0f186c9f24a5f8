package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/clienttest/containers"
	"github.com/bowline-go/bowline/client/meta"
)

// A real kubectl enters the containers of the server in the process, over WebSockets: exec, attach and cp. It reads their logs.
func TestKubectlEntersContainersOfClienttest(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var logs containers.Logs
	server := clienttest.Start(t, clienttest.Options{Listener: listener, Containers: &containers.Server{Run: local, Logs: logs.Serve}})
	server.Intercept(func(r *http.Request) http.HandlerFunc {
		if up := r.Header.Get("Upgrade"); up != "" && !strings.EqualFold(up, "websocket") {
			t.Errorf("kubectl asks for %s", up)
		}
		return nil
	})
	url := "http://" + listener.Addr().String()
	r := client.For(open(t, server.Config()), pods)
	create(t, r, "default", `{"metadata": {"name": "web"}, "spec": {"containers": [{"name": "app", "image": "none", "stdin": true}]}, "status": {"phase": "Running"}}`)
	create(t, r, "default", `{"metadata": {"name": "many"}, "spec": {"containers": [{"name": "app", "image": "none"}, {"name": "sidecar", "image": "none"}]}}`)
	// kubectl returns both outputs and the exit code.
	kubectl := func(input string, args ...string) (out, errs string, code int) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, plane.KubectlPath(), append([]string{"--server=" + url}, args...)...)
		cmd.Env = append(os.Environ(), "KUBECONFIG="+plane.Kubeconfig, "HOME="+t.TempDir())
		var stdout, stderr bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &stdout, &stderr
		err := cmd.Run()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			t.Fatalf("kubectl %s: %v", strings.Join(args, " "), err)
		}
		return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
	}
	check := func(name string, got, want any) {
		t.Helper()
		if got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}

	out, errs, code := kubectl("", "exec", "web", "--", "sh", "-c", "echo out; echo err >&2; exit 7")
	check("the output", out, "out\n")
	check("the errors", errs, "err\ncommand terminated with exit code 7\n")
	check("the exit code", code, 7)

	out, errs, code = kubectl("hello", "exec", "-i", "web", "--", "tr", "a-z", "A-Z") // which ends with its input
	check("the output", out+errs, "HELLO")
	check("the exit code", code, 0)

	out, errs, _ = kubectl("", "exec", "many", "--", "echo", "x")
	check("the output", out, "x\n")
	if want := "Defaulted container \"app\" out of: app, sidecar\n"; errs != want {
		t.Errorf("kubectl says %q, want %q", errs, want)
	}
	out, _, _ = kubectl("", "exec", "many", "-c", "sidecar", "--", "sh", "-c", "echo $CONTAINER")
	check("the container", out, "sidecar\n")
	if _, errs, code = kubectl("", "exec", "many", "-c", "none", "--", "true"); code == 0 || !strings.Contains(errs, "container none") {
		t.Errorf("a container that is not there: %q, %d", errs, code)
	}
	if _, errs, code = kubectl("", "exec", "none", "--", "true"); code == 0 || !strings.Contains(errs, `pods "none" not found`) {
		t.Errorf("a pod that is not there: %q, %d", errs, code)
	}

	out, _, code = kubectl("hello", "attach", "-i", "web")
	check("what attach writes", out, "attached\nhello")
	check("the exit code of attach", code, 0)

	log := logs.Of(meta.Key{Namespace: "default", Name: "many"}, "sidecar")
	at := time.Date(2026, time.November, 1, 12, 0, 0, 5, time.UTC)
	log.Add(containers.Entry{Time: at, Text: "first run"})
	log.End()
	log.Start()
	log.Add(containers.Entry{Time: at.Add(time.Second), Text: "one"}, containers.Entry{Time: at.Add(2 * time.Second), Text: "two"})
	log.End()
	for _, tc := range []struct{ args, want string }{
		{"", "one\ntwo\n"},
		{"--tail=1", "two\n"},
		{"--previous", "first run\n"},
		{"--follow", "one\ntwo\n"},
		{"--timestamps --since-time=2026-11-01T12:00:02Z", "2026-11-01T12:00:02.000000005Z two\n"},
		{"--limit-bytes=5", "one\nt"},
	} {
		out, errs, code = kubectl("", append([]string{"logs", "many", "-c", "sidecar"}, strings.Fields(tc.args)...)...)
		if out != tc.want || errs != "" || code != 0 {
			t.Errorf("kubectl logs %s: got %q, %q, %d, want %q", tc.args, out, errs, code, tc.want)
		}
	}
	if _, errs, code = kubectl("", "logs", "web"); code == 0 || !strings.Contains(errs, "waiting to start") {
		t.Errorf("a container that has not started: %q, %d", errs, code)
	}

	// A file and a tree, there and back.
	from, there, back := t.TempDir(), t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"a": "text", "folder/b c": strings.Repeat("0123456789", 100_000), "folder/deep/ü": ""} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(from, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(from, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, errs, code = kubectl("", "cp", from, "web:"+there+"/tree"); code != 0 {
		t.Fatalf("kubectl cp to a container: %s", errs)
	}
	sameTree(t, from, filepath.Join(there, "tree"))
	if _, errs, code = kubectl("", "cp", "web:"+there+"/tree", filepath.Join(back, "tree")); code != 0 {
		t.Fatalf("kubectl cp from a container: %s", errs)
	}
	sameTree(t, from, filepath.Join(back, "tree"))
}

// local runs the programs of this machine. The main process repeats its input.
func local(ctx context.Context, p *containers.Process) int {
	if p.Args == nil {
		fmt.Fprintln(p.Stdout, "attached")
		_, _ = io.Copy(p.Stdout, p.Stdin)
		return 0
	}
	cmd := exec.CommandContext(ctx, p.Args[0], p.Args[1:]...)
	cmd.Env = append(os.Environ(), "CONTAINER="+p.Container, "LC_ALL=C")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.Stdin, p.Stdout, p.Stderr
	if err := cmd.Run(); cmd.ProcessState == nil {
		fmt.Fprintln(p.Stderr, err)
		return 127
	}
	return cmd.ProcessState.ExitCode()
}

// sameTree fails the test unless two folders have the same files.
func sameTree(t *testing.T, a, b string) {
	t.Helper()
	files := func(root string) map[string]string {
		all := map[string]string{}
		err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			name, _ := filepath.Rel(root, path)
			all[name] = string(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	want, got := files(a), files(b)
	if len(got) != len(want) {
		t.Errorf("%s has %d files, %s has %d", b, len(got), a, len(want))
	}
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s has %d bytes, want %d", filepath.Join(b, name), len(got[name]), len(text))
		}
	}
}
