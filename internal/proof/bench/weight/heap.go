package main

// The costs of a synced cache: a process per side and round, against one server.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/bowline-go/bowline/internal/proof/bench/builds"
	"github.com/bowline-go/bowline/internal/proof/bench/canned"
	"github.com/bowline-go/bowline/internal/proof/bench/report"
	"github.com/bowline-go/bowline/internal/proof/bench/weight/heap"
)

// A contender is a side in the comparison of heaps: a program under heap, and its arguments.
type contender struct {
	name, program string
	args          []string
}

var contenders = []contender{
	{"Bowline, struct of 6 fields", "bowline", nil},
	{"Bowline, `*corev1.Pod`", "bowlineapi", nil},
	{"client-go", "clientgo", nil},
	{"client-go, transform to 6 fields", "clientgo", []string{"-transform"}},
}

// A heapResult is what one contender used, as medians, and how it asked the server.
type heapResult struct {
	contender
	heap.Figures
	cpu   time.Duration // of the process, from its start to its end
	asked string
}

// measureHeaps runs every contender in every round, against n pods. The programs are built into dir.
func measureHeaps(ctx context.Context, dir string, n, rounds int, progress io.Writer) (results []heapResult, podSize int, err error) {
	pods, err := canned.Collect(canned.Plain, n)
	if err != nil {
		return nil, 0, err
	}
	fmt.Fprintln(progress, "build the programs under heap")
	if _, err := builds.Run(ctx, nil, "go", "build", "-ldflags=-s -w", "-o", dir+string(filepath.Separator), "./weight/heap/..."); err != nil {
		return nil, 0, err
	}
	s, err := canned.Serve(pods)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()

	samples := make([][]heap.Figures, len(contenders))
	cpus := make([][]time.Duration, len(contenders))
	results = make([]heapResult, len(contenders))
	for round := range rounds {
		for i, c := range contenders {
			fmt.Fprintf(progress, "round %d of %d: %s\n", round+1, rounds, c.name)
			out, err := builds.Run(ctx, nil, filepath.Join(dir, c.program), append([]string{"-server", s.URL}, c.args...)...)
			if err != nil {
				return nil, 0, err
			}
			var f heap.Figures
			if err := json.Unmarshal(out.Stdout, &f); err != nil {
				return nil, 0, fmt.Errorf("read the figures of %s: %w", c.name, err)
			}
			if err := check(f, n); err != nil {
				return nil, 0, fmt.Errorf("check the cache of %s: %w", c.name, err)
			}
			samples[i], cpus[i] = append(samples[i], f), append(cpus[i], out.CPU)
			results[i].contender, results[i].asked = c, s.TakeRequests()
		}
	}
	for i := range results {
		results[i].Figures, results[i].cpu = medians(samples[i]), report.Median(cpus[i])
	}
	return results, pods.Size() / n, nil
}

// check returns an error unless the cache holds what the server serves.
func check(f heap.Figures, pods int) error {
	if want := pods - pods/10; f.Objects != pods || f.Running != want || f.Nodes != min(pods, canned.Nodes) {
		return fmt.Errorf("it has %d pods, %d running, on %d nodes; want %d, %d and %d",
			f.Objects, f.Running, f.Nodes, pods, want, min(pods, canned.Nodes))
	}
	return nil
}

func medians(samples []heap.Figures) heap.Figures {
	return heap.Figures{
		Objects: samples[0].Objects, Running: samples[0].Running, Nodes: samples[0].Nodes,
		InUse:       report.MedianOf(samples, func(f heap.Figures) uint64 { return f.InUse }),
		Allocated:   report.MedianOf(samples, func(f heap.Figures) uint64 { return f.Allocated }),
		Allocations: report.MedianOf(samples, func(f heap.Figures) uint64 { return f.Allocations }),
		PeakRSS:     report.MedianOf(samples, func(f heap.Figures) int64 { return f.PeakRSS }),
		Sync:        report.MedianOf(samples, func(f heap.Figures) time.Duration { return f.Sync }),
	}
}

func printHeaps(out io.Writer, results []heapResult, pods, podSize, rounds int) {
	fmt.Fprintf(out, "A synced cache of %d pods of %d bytes (medians of %d):\n\n", pods, podSize, rounds)
	t := report.Table{Header: []string{"", "heap in use", "peak RSS", "allocated", "allocations", "time to sync", "CPU time"}}
	base := results[0]
	for _, r := range results {
		t.Rows = append(t.Rows, []string{
			r.name,
			report.Ratio(report.Megabytes(r.InUse), float64(r.InUse), float64(base.InUse)),
			report.Ratio(report.Megabytes(r.PeakRSS), float64(r.PeakRSS), float64(base.PeakRSS)),
			report.Ratio(report.Megabytes(r.Allocated), float64(r.Allocated), float64(base.Allocated)),
			report.Ratio(fmt.Sprint(r.Allocations), float64(r.Allocations), float64(base.Allocations)),
			report.Ratio(fmt.Sprintf("%.2f s", r.Sync.Seconds()), r.Sync.Seconds(), base.Sync.Seconds()),
			report.Ratio(fmt.Sprintf("%.2f s", r.cpu.Seconds()), r.cpu.Seconds(), base.cpu.Seconds()),
		})
	}
	t.Print(out)
	fmt.Fprintln(out)
	for _, r := range results {
		fmt.Fprintf(out, "- %s asked for %s\n", r.name, r.asked)
	}
}
