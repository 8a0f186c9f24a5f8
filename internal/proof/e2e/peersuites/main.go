package main

import (
	"context"
	_ "embed" // for the exceptions and the environment
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/bowline-go/bowline/internal/proof/e2e/exception"
)

// runtimeRelease is the release of controller-runtime.
const runtimeRelease = "v0.25.2"

var (
	//go:embed exceptions.txt
	exceptions string
	//go:embed environment/environment.go
	environment string
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // so that a second signal ends the program at once
	directory := flag.String("copy", "", "where to make the copies, which stay; empty means a temporary directory")
	only := flag.String("suite", "", "the only suite to run; empty means all")
	focus := flag.String("focus", "", "the only specs to run, as a regular expression on their names; empty means all")
	ours := flag.Bool("ctrlcache", false, "use the cache of informer/ctrlcache, and a real kube-apiserver")
	flag.Parse()
	p := plan{directory: *directory, only: *only, focus: *focus, suites: suites, exceptions: exceptions, ours: *ours}
	if p.ours {
		p.suites, p.exceptions = cached, cacheExceptions
	}
	if err := p.run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "peersuites:", err)
		stop()
		os.Exit(1)
	}
}

// plan says which suites to run, and how.
type plan struct {
	directory  string // for the copies; empty means a temporary one
	only       string // the one suite, or empty
	focus      string // which specs, as Ginkgo reads it, or empty
	suites     []suite
	exceptions string
	ours       bool // use our cache, and a real server
}

func (p plan) run(ctx context.Context, out io.Writer) error {
	chosen := p.suites
	if p.only != "" {
		chosen = slices.DeleteFunc(slices.Clone(p.suites), func(s suite) bool { return s.name != p.only })
	}
	if len(chosen) == 0 {
		return fmt.Errorf("-suite must be the name of a suite, got %q", p.only)
	}
	list, err := exception.Parse(p.exceptions)
	if err != nil {
		return fmt.Errorf("read the exceptions: %w", err)
	}
	directory := p.directory
	if directory == "" {
		made, err := os.MkdirTemp("", "bowline-peersuites-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(made)
		directory = made
	}
	failed := map[string]bool{}
	for _, project := range projects() {
		of := slices.DeleteFunc(slices.Clone(chosen), func(s suite) bool { return s.of != project.name })
		if len(of) == 0 {
			continue
		}
		if err := p.play(ctx, out, project, of, filepath.Join(directory, project.name), list, failed); err != nil {
			return err
		}
	}
	if p.focus != "" { // an exception for a spec that has not run is neither right nor wrong
		maps.DeleteFunc(list, func(name, _ string) bool { _, ran := failed[name]; return !ran })
		if len(failed) == 0 {
			return fmt.Errorf("-focus must be part of the name of a spec, got %q", p.focus)
		}
	}
	if p.only != "" {
		maps.DeleteFunc(list, func(name, _ string) bool { return !strings.HasPrefix(name, p.only+": ") })
	}
	wrong := list.Check(failed)
	for _, w := range wrong {
		fmt.Fprintln(out, w)
	}
	if len(wrong) > 0 {
		return fmt.Errorf("the list of exceptions is not what happened, in %d places", len(wrong))
	}
	return nil
}

// play runs suites of a project in a copy, and adds to failed which specs failed.
func (p plan) play(ctx context.Context, out io.Writer, of project, suites []suite, directory string, list exception.List, failed map[string]bool) error {
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return err
	}
	if err := of.prepare(ctx, directory, p.ours, suites); err != nil {
		return err
	}
	var env []string
	if p.ours {
		assets, err := serverAssets(ctx, directory)
		if err != nil {
			return err
		}
		env = append(env, "KUBEBUILDER_ASSETS="+assets)
	}
	for _, s := range suites {
		specs, err := s.run(ctx, directory, env, p.focus)
		if err != nil {
			return fmt.Errorf("run the %s suite: %w", s.name, err)
		}
		report(out, s.name, specs, list)
		for _, spec := range specs {
			if spec.ran() {
				failed[spec.name] = failed[spec.name] || !spec.passed()
			}
		}
	}
	return nil
}

// report prints the result of a suite.
func report(out io.Writer, suite string, specs []spec, list exception.List) {
	passed, ran := 0, 0
	for _, s := range specs {
		if s.ran() {
			ran++
		}
		if s.passed() {
			passed++
		}
	}
	fmt.Fprintf(out, "%s: %d of %d specs passed, %d were skipped\n", suite, passed, ran, len(specs)-ran)
	for _, s := range specs {
		if !s.ran() || s.passed() {
			continue
		}
		fmt.Fprintf(out, "\n%s %s\n%s\n", s.state, s.name, indent(s.why))
		if reason := list[s.name]; reason != "" {
			fmt.Fprintf(out, "  exception: %s\n", reason)
		}
	}
	fmt.Fprintln(out)
}

func indent(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    ")
}

// command runs the go command in a directory, without the user's settings that would change which modules it uses.
func command(ctx context.Context, directory string, args ...string) ([]byte, error) {
	return commandWith(ctx, directory, nil, args...)
}

func commandWith(ctx context.Context, directory string, env []string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = directory
	cmd.Env = append(append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod -buildvcs=false"), env...)
	// An interrupt ends the tests that the go command runs as well.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return out, err
}
