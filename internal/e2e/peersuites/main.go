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
	"slices"
	"strings"
	"syscall"

	"github.com/bowline-go/bowline/internal/e2e/exception"
)

// release is that of controller-runtime.
const release = "v0.25.2"

var (
	//go:embed exceptions.txt
	exceptions string
	//go:embed environment/environment.go
	environment string
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	directory := flag.String("copy", "", "where to make the copy, which stays; empty means a temporary directory")
	only := flag.String("suite", "", "the only suite to run, client or cache; empty means both")
	flag.Parse()
	if err := run(ctx, os.Stdout, *directory, *only); err != nil {
		fmt.Fprintln(os.Stderr, "peersuites:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, directory, only string) error {
	chosen := suites
	if only != "" {
		chosen = slices.DeleteFunc(slices.Clone(suites), func(s suite) bool { return s.name != only })
	}
	if len(chosen) == 0 {
		return fmt.Errorf("-suite must be client or cache, got %q", only)
	}
	list, err := exception.Parse(exceptions)
	if err != nil {
		return fmt.Errorf("read exceptions.txt: %w", err)
	}
	if directory == "" {
		made, err := os.MkdirTemp("", "bowline-peersuites-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(made)
		directory = made
	}
	if err := prepare(ctx, directory); err != nil {
		return err
	}
	failed := map[string]bool{}
	for _, s := range chosen {
		specs, err := s.run(ctx, directory)
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
	if only != "" {
		maps.DeleteFunc(list, func(name, _ string) bool { return !strings.HasPrefix(name, only+": ") })
	}
	wrong := list.Check(failed)
	for _, w := range wrong {
		fmt.Fprintln(out, w)
	}
	if len(wrong) > 0 {
		return fmt.Errorf("exceptions.txt is not what happened, in %d places", len(wrong))
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

// command runs the go command in a directory, with nothing of the user's settings that changes which modules there are.
func command(ctx context.Context, directory string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = directory
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	// An interrupt ends the tests that the go command runs as well.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return out, err
}
