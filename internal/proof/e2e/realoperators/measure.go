package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// figures are the measurements of one quiet run.
type figures struct {
	start     time.Duration // until every object has been reconciled once
	startCPU  time.Duration // used until then
	rest      int64         // resident memory two seconds after the last reconcile of the start
	changeCPU time.Duration // used for the changes
	peak      int64
}

// changes is how many objects change in a quiet run.
const changes = 1000

// measure runs both builds without faults over many objects, in turns, and prints the medians.
func (p plan) measure(ctx context.Context, out io.Writer, o *operator, b binaries, directory string) error {
	c, err := startCluster(ctx)
	if err != nil {
		return err
	}
	defer c.plane.Stop()
	if err := c.install(ctx, o, b); err != nil {
		return err
	}
	reconciles, err := o.fill(ctx, c)
	if err != nil {
		return fmt.Errorf("make many objects: %w", err)
	}
	// The first run brings everything into its final state, and is not counted.
	if _, err := o.quiet(ctx, c, b.before, reconciles, filepath.Join(directory, "quiet.log")); err != nil {
		return err
	}
	load := loadAverage()
	got := map[string][]figures{}
	for round := range p.rounds {
		builds := b.both()
		if round%2 == 1 {
			slices.Reverse(builds)
		}
		for _, build := range builds {
			f, err := o.quiet(ctx, c, build.path, reconciles, filepath.Join(directory, "quiet.log"))
			if err != nil {
				return fmt.Errorf("%s, quiet: %w", build.name, err)
			}
			got[build.name] = append(got[build.name], f)
		}
	}
	fmt.Fprintf(out, "  quiet, medians of %d; the load of the machine was %s before and %s after:\n\n", p.rounds, load, loadAverage())
	fmt.Fprintf(out, "  | %-48s | before | after | times less |\n  |---|---:|---:|---:|\n", o.name)
	for _, row := range []struct {
		name, unit string
		of         func(figures) float64
	}{
		{fmt.Sprintf("start, until the controller has reconciled %d", reconciles), "s", func(f figures) float64 { return f.start.Seconds() }},
		{"CPU time of the start", "s", func(f figures) float64 { return f.startCPU.Seconds() }},
		{"memory at rest", "MB", func(f figures) float64 { return float64(f.rest) / 1e6 }},
		{"peak memory", "MB", func(f figures) float64 { return float64(f.peak) / 1e6 }},
		{fmt.Sprintf("CPU time of %d changes", changes), "s", func(f figures) float64 { return f.changeCPU.Seconds() }},
	} {
		before, after := median(got["before"], row.of), median(got["after"], row.of)
		fmt.Fprintf(out, "  | %-48s | %.2f %s | %.2f %s | %.2f |\n", row.name, before, row.unit, after, row.unit, before/after)
	}
	fmt.Fprintln(out)
	return nil
}

func median(of []figures, value func(figures) float64) float64 {
	var values []float64
	for _, f := range of {
		values = append(values, value(f))
	}
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// quiet runs a build over the existing objects, and ends it.
func (o *operator) quiet(ctx context.Context, c *cluster, binary string, reconciles int, log string) (f figures, err error) {
	p, err := o.start(binary, c.plane.Kubeconfig, log)
	if err != nil {
		return f, err
	}
	defer p.stop()
	count := func() (float64, error) {
		select {
		case <-p.ended:
			return 0, fmt.Errorf("the operator ended: %w; see its log", p.err)
		default:
		}
		n, err := p.metric(ctx, "controller_runtime_reconcile_total", `controller="`+o.controller+`"`)
		if err != nil {
			return 0, nil //nolint:nilerr // it does not serve metrics yet
		}
		return n, ctx.Err()
	}
	err = wait(ctx, 5*time.Minute, 10*time.Millisecond, func() (string, error) {
		n, err := count()
		if n < float64(reconciles) {
			return fmt.Sprintf("%v of %d objects are reconciled", n, reconciles), err
		}
		return "", err
	})
	if err != nil {
		return f, err
	}
	f.start = time.Since(p.began)
	started, err := p.used()
	if err != nil {
		return f, err
	}
	rest := func() (usage, error) { // once nothing has been reconciled for two seconds
		last, since := -1.0, time.Now()
		err := wait(ctx, 5*time.Minute, 200*time.Millisecond, func() (string, error) {
			n, err := count()
			if n != last {
				last, since = n, time.Now()
			}
			if time.Since(since) < 2*time.Second {
				return "it is still at work", err
			}
			return "", err
		})
		if err != nil {
			return usage{}, err
		}
		return p.used()
	}
	rested, err := rest()
	if err != nil {
		return f, err
	}
	if err := each(ctx, changes, func(i int) error { return o.touch(ctx, c, i) }); err != nil {
		return f, err
	}
	end, err := rest()
	f.startCPU, f.rest, f.changeCPU, f.peak = started.cpu, rested.resident, end.cpu-rested.cpu, end.peak
	return f, err
}

// loadAverage is that of the last minute.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	load, _, _ := strings.Cut(string(text), " ")
	return load
}
