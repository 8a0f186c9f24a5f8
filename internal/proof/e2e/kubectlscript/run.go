package kubectlscript

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Server is one of the two that are compared.
type Server struct {
	// URL is its address, CA the authority of its certificate in PEM, and Token that of its administrator.
	URL   string
	CA    []byte
	Token string
	// Kubectl is the path of kubectl.
	Kubectl string
	// Directory is empty. The commands work in it, and kubectl's files are there.
	Directory string

	address, dir string
}

// Result is what a command did, normalised.
type Result struct {
	Code           int
	Stdout, Stderr string
}

// patience is how long a step may take. A step that takes longer is killed, which is a result and not an error.
const patience = time.Minute

const kubeconfig = `apiVersion: v1
kind: Config
current-context: script
clusters:
- name: script
  cluster: {server: %q, certificate-authority-data: %s}
users:
- name: script
  user: {token: %q}
contexts:
- name: script
  context: {cluster: script, user: script, namespace: %q}
`

// begin makes the directory and the namespace of a script.
func (s *Server) begin(ctx context.Context, script string) error {
	s.address = strings.TrimPrefix(s.URL, "https://")
	s.dir = filepath.Join(s.Directory, script)
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	text := fmt.Sprintf(kubeconfig, s.URL, base64.StdEncoding.EncodeToString(s.CA), s.Token, script)
	if err := os.WriteFile(s.config(), []byte(text), 0o600); err != nil {
		return err
	}
	made, err := s.run(ctx, Step{Args: []string{"create", "namespace", script}})
	if err == nil && made.Code != 0 {
		err = errors.New(made.Stderr)
	}
	return err
}

// config returns the path of a script's kubeconfig, which is beside the script's directory. Each script has its own,
// because its current namespace differs from those of the others.
func (s *Server) config() string { return s.dir + ".kubeconfig" }

// run runs one step. The error says why there is no result at all.
func (s *Server) run(ctx context.Context, step Step) (Result, error) {
	if step.File != "" {
		return Result{}, os.WriteFile(filepath.Join(s.dir, step.File), []byte(step.Input), 0o600)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	input, complaints := step.Input, ""
	if step.From != nil {
		from, err := s.kubectl(ctx, step.Env, input, step.From)
		if err != nil {
			return Result{}, err
		}
		input, complaints = from.Stdout, from.Stderr
	}
	r, err := s.kubectl(ctx, step.Env, input, step.Args)
	if step.Args[0] == "explain" {
		r.Stdout = withoutDescriptions(r.Stdout)
	}
	return Result{r.Code, s.normalise(r.Stdout), s.normalise(complaints + r.Stderr)}, err
}

// kubectl runs one kubectl. The code is negative if it was killed, because it took too long.
func (s *Server) kubectl(ctx context.Context, env []string, input string, args []string) (Result, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, s.Kubectl, args...)
	cmd.WaitDelay = 5 * time.Second // an editor may hold the pipes open
	cmd.Dir = s.dir
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &stdout, &stderr
	cmd.Env = append(cmd.Environ(), "KUBECONFIG="+s.config(), "HOME="+s.Directory, "USERPROFILE="+s.Directory, "TMPDIR="+s.dir,
		"TZ=UTC", "SHELL=/bin/sh")
	cmd.Env = append(cmd.Env, env...)
	err := cmd.Run()
	switch {
	case errors.Is(context.Cause(ctx), context.Canceled): // the caller has given up
		return Result{}, context.Cause(ctx)
	case cmd.ProcessState == nil:
		return Result{}, err
	}
	return Result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}, nil
}
