package main

// What a program costs before it runs: its binary, what is linked into it, and the time to build it from nothing.

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// sides are the folders with the same controller, and the modules that their libraries are in; the first is the base of
// ratios.
var sides = []struct{ name, program, module string }{
	{"Bowline", "bowline", "github.com/bowline-go/bowline"},
	{"client-go", "clientgo", "k8s.io/client-go"},
	{"controller-runtime", "controllerruntime", "sigs.k8s.io/controller-runtime"},
}

// A buildResult is what one side weighs. Wall and CPU are medians, and 0 if no cold build was asked for.
type buildResult struct {
	name              string
	size              int64
	packages, modules int
	wall, cpu         time.Duration
}

// measureBuilds builds every side, cold in each round, into dir. Without rounds it builds with the usual build cache.
func measureBuilds(ctx context.Context, dir string, rounds int, progress io.Writer) ([]buildResult, error) {
	type sample struct{ wall, cpu time.Duration }
	samples := make([][]sample, len(sides))
	results := make([]buildResult, len(sides))
	for round := range max(rounds, 1) {
		for i, side := range sides {
			fmt.Fprintf(progress, "build %s, round %d of %d\n", side.name, round+1, max(rounds, 1))
			binary := filepath.Join(dir, side.program)
			var env []string
			if rounds > 0 {
				cache, err := os.MkdirTemp(dir, "gocache")
				if err != nil {
					return nil, err
				}
				env = []string{"GOCACHE=" + cache}
			}
			out, err := runWith(ctx, env, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", binary, "./"+side.program)
			if err != nil {
				return nil, err
			}
			samples[i] = append(samples[i], sample{out.wall, out.cpu})
			info, err := os.Stat(binary)
			if err != nil {
				return nil, err
			}
			results[i].name, results[i].size = side.name, info.Size()
			if rounds > 0 {
				if err := os.RemoveAll(strings.TrimPrefix(env[0], "GOCACHE=")); err != nil {
					return nil, err
				}
			}
		}
	}
	for i, side := range sides {
		var err error
		if results[i].packages, results[i].modules, err = linked(ctx, "./"+side.program); err != nil {
			return nil, err
		}
		if rounds > 0 {
			results[i].wall = medianOf(samples[i], func(s sample) time.Duration { return s.wall })
			results[i].cpu = medianOf(samples[i], func(s sample) time.Duration { return s.cpu })
		}
	}
	return results, nil
}

// linked counts what a program is made of: all its packages, and the modules other than this one that they are in.
func linked(ctx context.Context, program string) (packages, modules int, err error) {
	// Every package has a line, because go list prints none where the format gives nothing.
	out, err := run(ctx, "go", "list", "-deps", "-f", "{{.ImportPath}} {{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", program)
	if err != nil {
		return 0, 0, err
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(out.stdout)) {
		packages++
		if _, path, _ := strings.Cut(strings.TrimSpace(line), " "); path != "" {
			seen[path] = true
		}
	}
	return packages, len(seen), nil
}

func printBuilds(out io.Writer, results []buildResult, rounds int) {
	t := table{header: []string{"", "binary", "packages", "modules"}}
	if rounds > 0 {
		fmt.Fprintf(out, "The same controller (cold builds: medians of %d):\n\n", rounds)
		t.header = append(t.header, "cold build", "its CPU time")
	} else {
		fmt.Fprint(out, "The same controller:\n\n")
	}
	base := results[0]
	for _, r := range results {
		row := []string{
			r.name,
			ratio(megabytes(uint64(r.size)), float64(r.size), float64(base.size)),
			ratio(fmt.Sprint(r.packages), float64(r.packages), float64(base.packages)),
			ratio(fmt.Sprint(r.modules), float64(r.modules), float64(base.modules)),
		}
		if rounds > 0 {
			row = append(row,
				ratio(fmt.Sprintf("%.0f s", r.wall.Seconds()), r.wall.Seconds(), base.wall.Seconds()),
				ratio(fmt.Sprintf("%.0f s", r.cpu.Seconds()), r.cpu.Seconds(), base.cpu.Seconds()))
		}
		t.rows = append(t.rows, row)
	}
	t.print(out)
}
