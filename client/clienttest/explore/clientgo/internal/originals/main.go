package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

const (
	root   = "github.com/bowline-go/bowline"
	nested = root + "/client/clienttest/explore/clientgo"
)

// operator describes an operator of another project, and where its test goes.
type operator struct {
	name    string
	module  string   // a module and version of the module proxy; empty for the folder of -tutorial, and for a port
	port    bool     // it is our port of an operator, in module internal/proof/e2e
	edits   []string // flags of go mod edit
	drop    []dropped
	test    string // the folder of testdata with the test
	pkg     string // the folder of the package that gets the test
	cleared bool   // the package's own tests are removed, because they need a cluster
	cpus    string // the value of go test's -cpu, which bounds concurrent runs; empty means one for each processor
}

func operators() []operator {
	return []operator{
		{name: "sample-controller", module: "k8s.io/sample-controller@v0.37.1", test: "sample", pkg: ".", cleared: true, cpus: "1"}, // each start writes to a scheme of the process
		{name: "cronjob", test: "cronjob", pkg: "internal/controller", cleared: true},
		machineSet(),
		{name: "sample-port", port: true, test: "sampleport", pkg: "sample"},
		{name: "cronjob-port", port: true, test: "cronjobport", pkg: "cronjob"},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // so that a second signal ends the program at once
	p := plan{}
	flag.StringVar(&p.only, "operator", "", "the only operator to explore; empty means all")
	flag.StringVar(&p.tutorial, "tutorial", "", "the folder of the Kubebuilder tutorial's project; empty leaves it out")
	flag.StringVar(&p.directory, "copy", "", "where to make the copies, which stay; empty means a temporary folder")
	flag.StringVar(&p.run, "run", "^Test(Scaling|AnotherFooOfTheName|AnotherDeployment|OneJob|TwoJobs)$", "the tests to run, as for go test")
	flag.Parse()
	p.args = flag.Args()
	if err := p.explore(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "originals:", err)
		stop()
		os.Exit(1)
	}
}

// plan has the command's flags: what to explore, and how.
type plan struct {
	only, tutorial, directory, run string
	args                           []string // flags of the tests
}

func (p plan) explore(ctx context.Context) error {
	chosen := slices.DeleteFunc(operators(), func(o operator) bool {
		return p.only != "" && o.name != p.only || o.name == "cronjob" && p.tutorial == ""
	})
	if len(chosen) == 0 {
		return fmt.Errorf("-operator must be sample-controller, machineset, sample-port, cronjob-port, or cronjob with -tutorial, got %q", p.only)
	}
	if p.directory == "" {
		made, err := os.MkdirTemp("", "bowline-originals-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(made)
		p.directory = made
	}
	var errs []error
	for _, o := range chosen {
		explore := p.operator
		if o.port {
			explore = p.ours
		}
		if err := explore(ctx, o); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", o.name, err))
		}
	}
	return errors.Join(errs...)
}

// operator copies an operator, puts our test into it, and runs the test.
func (p plan) operator(ctx context.Context, o operator) error {
	directory, err := filepath.Abs(filepath.Join(p.directory, o.name))
	if err != nil {
		return err
	}
	if _, err := os.Stat(directory); errors.Is(err, os.ErrNotExist) {
		err = p.copy(ctx, o, directory)
		if err != nil {
			return errors.Join(err, os.RemoveAll(directory))
		}
	}
	text, err := os.ReadFile(filepath.Join("internal", "originals", "testdata", o.test, "explore_test.go"))
	if err != nil {
		return fmt.Errorf("originals runs in the folder of its module: %w", err)
	}
	in := filepath.Join(directory, filepath.FromSlash(o.pkg))
	if err := os.WriteFile(filepath.Join(in, "explore_test.go"), text, 0o600); err != nil {
		return err
	}
	return p.test(ctx, in, "-cpu="+o.cpus)
}

// test runs the tests in a folder.
func (p plan) test(ctx context.Context, in string, flags ...string) error {
	args := append([]string{"test", "-count=1", "-v", "-timeout=30m", "-run", p.run}, flags...)
	return command(ctx, in, os.Stdout, append(append(args, "."), p.args...)...)
}

// ours runs a test among the tests of a port. An overlay adds the test file to the port's package.
func (p plan) ours(ctx context.Context, o operator) error {
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	in := filepath.Join(here, "..", "..", "..", "..", "internal", "proof", "e2e", o.pkg)
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(in, "histories_test.go"): filepath.Join(here, "internal", "originals", "testdata", o.test, "histories_test.go"),
	}})
	if err != nil {
		return err
	}
	file := filepath.Join(p.directory, o.name+".json")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		return err
	}
	if file, err = filepath.Abs(file); err != nil {
		return err
	}
	return p.test(ctx, in, "-overlay="+file)
}

// copy makes a copy of an operator that uses this repository.
func (p plan) copy(ctx context.Context, o operator, directory string) error {
	source := p.tutorial
	if o.module != "" {
		var err error
		if source, err = download(ctx, o.module); err != nil {
			return err
		}
	}
	if err := os.CopyFS(directory, os.DirFS(source)); err != nil {
		return err
	}
	if o.cleared {
		tests, err := filepath.Glob(filepath.Join(directory, filepath.FromSlash(o.pkg), "*_test.go"))
		if err != nil {
			return err
		}
		for _, test := range tests {
			if err := os.Remove(test); err != nil {
				return err
			}
		}
	}
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	repository := filepath.Join(here, "..", "..", "..", "..")
	edits := []string{
		"mod", "edit", "-require=" + root + "@v0.0.0", "-replace=" + root + "=" + repository,
		"-require=" + nested + "@v0.0.0", "-replace=" + nested + "=" + here,
	}
	if err := command(ctx, directory, nil, append(edits, o.edits...)...); err != nil {
		return err
	}
	for _, d := range o.drop {
		if err := d.from(ctx, directory); err != nil {
			return err
		}
	}
	return nil
}

// download returns the folder of a module.
func download(ctx context.Context, module string) (string, error) {
	var out strings.Builder
	err := command(ctx, os.TempDir(), &out, "mod", "download", "-json", module)
	var answer struct{ Dir, Error string }
	if jsonErr := json.Unmarshal([]byte(out.String()), &answer); jsonErr != nil || answer.Dir == "" {
		return "", fmt.Errorf("download %s: %w: %s", module, errors.Join(err, jsonErr), answer.Error)
	}
	return answer.Dir, nil
}

// command runs the go command in a folder, without the user's settings that would change which modules it uses.
func command(ctx context.Context, directory string, out interface{ Write([]byte) (int, error) }, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = directory
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod -buildvcs=false")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return nil
}
