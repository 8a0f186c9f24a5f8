// Package builds measures the costs of a program before it runs: its binary, the packages and modules in it, and the
// time of a build from nothing.
//
// A binary is built without symbols (-s -w), and with -trimpath if its build is timed. Packages are all that are
// linked, including the standard library and main. Modules are all that are linked except this one, including the
// measured library. A cold build starts with an empty build cache, so it also compiles the standard library; the
// modules have been downloaded before. The CPU time is that of all processes of the build.
package builds

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/bowline-go/bowline/internal/proof/bench/report"
)

// Program is a program to build: the name of its side, and its folder relative to this module.
type Program struct{ Name, Path string }

// binary returns the path of the program in dir.
func (p Program) binary(dir string) string {
	return filepath.Join(dir, strings.NewReplacer("./", "", "/", "-").Replace(p.Path))
}

// Result holds the costs of one program. Wall and CPU are medians, and 0 if no cold build was asked for.
type Result struct {
	Program
	Binary            string // the file
	Size              int64
	Packages, Modules int
	Wall, CPU         time.Duration
}

// Measure builds every program, cold in each round, into dir. Without rounds it builds with the usual build cache.
func Measure(ctx context.Context, dir string, programs []Program, rounds int, progress io.Writer) ([]Result, error) {
	samples := make([][]Output, len(programs))
	results := make([]Result, len(programs))
	for round := range max(rounds, 1) {
		for i, p := range programs {
			fmt.Fprintf(progress, "build %s of %s, round %d of %d\n", p.Path, p.Name, round+1, max(rounds, 1))
			out, err := build(ctx, dir, p, rounds > 0)
			if err != nil {
				return nil, err
			}
			samples[i] = append(samples[i], out)
		}
	}
	for i, p := range programs {
		info, err := os.Stat(p.binary(dir))
		if err != nil {
			return nil, err
		}
		results[i] = Result{Program: p, Binary: p.binary(dir), Size: info.Size()}
		if results[i].Packages, results[i].Modules, err = Linked(ctx, p.Path); err != nil {
			return nil, err
		}
		if rounds > 0 {
			results[i].Wall = report.MedianOf(samples[i], func(o Output) time.Duration { return o.Wall })
			results[i].CPU = report.MedianOf(samples[i], func(o Output) time.Duration { return o.CPU })
		}
	}
	return results, nil
}

func build(ctx context.Context, dir string, p Program, cold bool) (Output, error) {
	var env []string
	args := []string{"build", "-ldflags=-s -w", "-o", p.binary(dir)}
	if cold {
		cache, err := os.MkdirTemp(dir, "gocache")
		if err != nil {
			return Output{}, err
		}
		defer os.RemoveAll(cache)
		// A build with the usual cache has no -trimpath, because that cache has most packages as they are without it.
		env, args = []string{"GOCACHE=" + cache}, append(args, "-trimpath")
	}
	return Run(ctx, env, "go", append(args, p.Path)...)
}

// Linked counts the packages of the program in a folder of this module, and the modules that they are in, except this
// one.
func Linked(ctx context.Context, path string) (packages, modules int, err error) {
	// Every package has a line, because go list prints none if the format gives nothing.
	out, err := Run(ctx, nil, "go", "list", "-deps", "-f", "{{.ImportPath}} {{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", path)
	if err != nil {
		return 0, 0, err
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(out.Stdout)) {
		packages++
		if _, module, _ := strings.Cut(strings.TrimSpace(line), " "); module != "" {
			seen[module] = true
		}
	}
	return packages, len(seen), nil
}

// Versions returns what was compared, and where.
func Versions(ctx context.Context) (string, error) {
	out, err := Run(ctx, nil, "go", "list", "-m", "-f", "{{if not .Replace}}{{.Path}} {{.Version}}{{end}}",
		"k8s.io/api", "k8s.io/client-go", "sigs.k8s.io/controller-runtime")
	if err != nil {
		return "", err
	}
	compared := strings.Fields(strings.ReplaceAll(strings.TrimSpace(string(out.Stdout)), " ", "@"))
	return fmt.Sprintf("Bowline of this tree, %s; %s %s/%s, %d CPUs.",
		strings.Join(compared, ", "), runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU()), nil
}

// Output is the output of a command.
type Output struct {
	Stdout    []byte
	Wall, CPU time.Duration
}

// Run runs a command in the folder of this module, with env added to the usual environment.
func Run(ctx context.Context, env []string, name string, args ...string) (Output, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Dir = Module()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	began := time.Now()
	if err := cmd.Run(); err != nil {
		return Output{}, fmt.Errorf("run %s: %w\n%s", strings.Join(cmd.Args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return Output{
		Stdout: stdout.Bytes(), Wall: time.Since(began),
		CPU: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(),
	}, nil
}

// Module returns the folder of this module. It is where this file was compiled: the programs of this module are run by
// `go run` and `go test`.
func Module() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(filepath.Dir(file))
}
