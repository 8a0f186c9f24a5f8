package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

func main() {
	builds := flag.Int("builds", 1, "how many cold builds of each side to take the median of; 0 times none")
	heaps := flag.Bool("heap", false, "measure the memory of a synced cache as well")
	pods := flag.Int("pods", 10_000, "how many pods the cache holds")
	rounds := flag.Int("rounds", 3, "how many times each cache is measured, to take the median of")
	flag.Parse()
	if flag.NArg() > 0 || *builds < 0 || *pods < 1 || *rounds < 1 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := measure(ctx, *builds, *heaps, *pods, *rounds, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "weight:", err)
		os.Exit(1)
	}
}

func measure(ctx context.Context, builds int, heaps bool, pods, rounds int, out, progress io.Writer) error {
	dir, err := os.MkdirTemp("", "bowline-weight")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	results, err := measureBuilds(ctx, dir, builds, progress)
	if err != nil {
		return err
	}
	printBuilds(out, results, builds)
	fmt.Fprintln(out)
	if heaps {
		results, size, err := measureHeaps(ctx, dir, pods, rounds, progress)
		if err != nil {
			return err
		}
		printHeaps(out, results, pods, size, rounds)
		fmt.Fprintln(out)
	}
	versions, err := versions(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, versions)
	return nil
}

// versions says what was compared, and where.
func versions(ctx context.Context) (string, error) {
	args := []string{"list", "-m", "-f", "{{if not .Replace}}{{.Path}} {{.Version}}{{end}}", "k8s.io/api"}
	for _, side := range sides {
		args = append(args, side.module)
	}
	out, err := run(ctx, "go", args...)
	if err != nil {
		return "", err
	}
	compared := strings.Fields(strings.ReplaceAll(strings.TrimSpace(string(out.stdout)), " ", "@"))
	return fmt.Sprintf("Bowline of this tree, %s; %s %s/%s, %d CPUs.",
		strings.Join(compared, ", "), runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU()), nil
}

// output is what a command left behind.
type output struct {
	stdout    []byte
	wall, cpu time.Duration
}

func run(ctx context.Context, name string, args ...string) (output, error) {
	return runWith(ctx, nil, name, args...)
}

// runWith runs a command with env beside the usual environment, in the folder of this program's source.
func runWith(ctx context.Context, env []string, name string, args ...string) (output, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Dir = sourceDir()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	began := time.Now()
	if err := cmd.Run(); err != nil {
		return output{}, fmt.Errorf("run %s: %w\n%s", strings.Join(cmd.Args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return output{
		stdout: stdout.Bytes(), wall: time.Since(began),
		cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(),
	}, nil
}

// sourceDir is where this file was compiled from: `go run` and `go test` are the ways to run this program.
func sourceDir() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(file)
}
