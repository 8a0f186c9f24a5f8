package main

// What a synced cache costs: a process per side and round, against one server.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/bowline-go/bowline/internal/bench/weight/heap"
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

// A heapResult is what one contender used, medians, and how it asked the server.
type heapResult struct {
	contender
	heap.Figures
	cpu   time.Duration // of the process, from its start to its end
	asked string
}

// measureHeaps runs every contender in every round, against n pods. The programs are built into dir.
func measureHeaps(ctx context.Context, dir string, n, rounds int, progress io.Writer) (results []heapResult, podSize int, err error) {
	pods, err := encodedPods(n)
	if err != nil {
		return nil, 0, err
	}
	for _, pod := range pods {
		podSize += len(pod)
	}
	fmt.Fprintln(progress, "build the programs under heap")
	if _, err := run(ctx, "go", "build", "-o", dir+string(filepath.Separator), "./heap/..."); err != nil {
		return nil, 0, err
	}
	s, err := serve(pods)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, s.close()) }()

	samples := make([][]heap.Figures, len(contenders))
	cpus := make([][]time.Duration, len(contenders))
	results = make([]heapResult, len(contenders))
	for round := range rounds {
		for i, c := range contenders {
			fmt.Fprintf(progress, "round %d of %d: %s\n", round+1, rounds, c.name)
			out, err := run(ctx, filepath.Join(dir, c.program), append([]string{"-server", s.URL}, c.args...)...)
			if err != nil {
				return nil, 0, err
			}
			var f heap.Figures
			if err := json.Unmarshal(out.stdout, &f); err != nil {
				return nil, 0, fmt.Errorf("read the figures of %s: %w", c.name, err)
			}
			if err := check(f, n); err != nil {
				return nil, 0, fmt.Errorf("check the cache of %s: %w", c.name, err)
			}
			samples[i], cpus[i] = append(samples[i], f), append(cpus[i], out.cpu)
			results[i].contender, results[i].asked = c, s.takeRequests()
		}
	}
	for i := range results {
		results[i].Figures, results[i].cpu = medians(samples[i]), median(cpus[i])
	}
	return results, podSize / n, nil
}

// check says whether a cache holds what the server serves.
func check(f heap.Figures, pods int) error {
	if want := pods - pods/10; f.Objects != pods || f.Running != want || f.Nodes != min(pods, nodeCount) {
		return fmt.Errorf("it has %d pods, %d running, on %d nodes; want %d, %d and %d",
			f.Objects, f.Running, f.Nodes, pods, want, min(pods, nodeCount))
	}
	return nil
}

func medians(samples []heap.Figures) heap.Figures {
	return heap.Figures{
		Objects: samples[0].Objects, Running: samples[0].Running, Nodes: samples[0].Nodes,
		InUse:       medianOf(samples, func(f heap.Figures) uint64 { return f.InUse }),
		Allocated:   medianOf(samples, func(f heap.Figures) uint64 { return f.Allocated }),
		Allocations: medianOf(samples, func(f heap.Figures) uint64 { return f.Allocations }),
		PeakRSS:     medianOf(samples, func(f heap.Figures) int64 { return f.PeakRSS }),
		Sync:        medianOf(samples, func(f heap.Figures) time.Duration { return f.Sync }),
	}
}

func medianOf[S any, V number](samples []S, of func(S) V) V {
	values := make([]V, len(samples))
	for i, s := range samples {
		values[i] = of(s)
	}
	return median(values)
}

func printHeaps(out io.Writer, results []heapResult, pods, podSize, rounds int) {
	fmt.Fprintf(out, "A synced cache of %d pods of %d bytes (medians of %d):\n\n", pods, podSize, rounds)
	t := table{header: []string{"", "heap in use", "peak RSS", "allocated", "allocations", "time to sync", "CPU time"}}
	base := results[0]
	for _, r := range results {
		t.rows = append(t.rows, []string{
			r.name,
			ratio(megabytes(r.InUse), float64(r.InUse), float64(base.InUse)),
			ratio(megabytes(uint64(r.PeakRSS)), float64(r.PeakRSS), float64(base.PeakRSS)),
			ratio(megabytes(r.Allocated), float64(r.Allocated), float64(base.Allocated)),
			ratio(fmt.Sprint(r.Allocations), float64(r.Allocations), float64(base.Allocations)),
			ratio(fmt.Sprintf("%.2f s", r.Sync.Seconds()), r.Sync.Seconds(), base.Sync.Seconds()),
			ratio(fmt.Sprintf("%.2f s", r.cpu.Seconds()), r.cpu.Seconds(), base.cpu.Seconds()),
		})
	}
	t.print(out)
	fmt.Fprintln(out)
	for _, r := range results {
		fmt.Fprintf(out, "- %s asked for %s\n", r.name, r.asked)
	}
}
