// Command idle compares the costs of informers that wait for events: many informers of pods, each of one empty
// namespace, on one client, with the defaults of each side. It prints a table of medians:
//
//	go run ./cmd/idle              # 1,000 informers, three rounds, HTTP/2
//	go run ./cmd/idle -http1       # the same over HTTP/1.1, where each watch has a connection
//	go run ./cmd/idle -profiles p  # writes profiles of the last round too: p-bowline.heap and others
//
// A sample is one process, which starts the informers, waits until the number of its goroutines no longer changes, and
// reports its memory and its goroutines; sample.Waiting says what is measured. The sides take turns, in every other
// round backwards. Each sample has its own process with the server of package clienttest, which is in no figure.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/internal/proof/bench/builds"
	"github.com/bowline-go/bowline/internal/proof/bench/report"
	"github.com/bowline-go/bowline/internal/proof/bench/sample"
)

// options are the flags.
type options struct {
	informers, rounds int
	http1             bool
	profiles          string
}

// side is a side of the comparison.
type side struct {
	name, program string
	settings      string
	samples       []map[string]float64
}

func main() {
	var o options
	flag.IntVar(&o.informers, "n", 1_000, "how many `informers` a sample has")
	flag.IntVar(&o.rounds, "rounds", 3, "how many `samples` of each side the medians are of")
	flag.BoolVar(&o.http1, "http1", false, "HTTP/1.1 without TLS in place of HTTP/2 with TLS")
	flag.StringVar(&o.profiles, "profiles", "", "the `beginning` of the names of profiles to write")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // so that a second signal ends the program at once
	if err := run(ctx, o, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "idle:", err)
		os.Exit(1)
	}
}

// run builds the programs, takes the samples and prints the table.
func run(ctx context.Context, o options, out, progress io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "bowline-idle")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	fmt.Fprintln(progress, "build the sides and the server")
	if _, err := builds.Run(ctx, nil, "go", "build", "-ldflags=-s -w", "-o", dir+string(filepath.Separator),
		"./sides/bowline", "./sides/clientgo", "./cmd/cluster"); err != nil {
		return err
	}
	sides := []*side{{name: "client-go", program: "clientgo"}, {name: "Bowline", program: "bowline"}}
	before := report.Load()
	for round := range o.rounds {
		for _, s := range sides {
			fmt.Fprintf(progress, "round %d of %d: %s\n", round+1, o.rounds, s.name)
			if err := s.take(ctx, dir, o, progress); err != nil {
				return fmt.Errorf("measure %s: %w", s.name, err)
			}
		}
		slices.Reverse(sides)
	}
	slices.SortFunc(sides, func(a, b *side) int { return strings.Compare(b.name, a.name) }) // client-go first
	fmt.Fprintf(out, "%d informers; medians of %d. The load of the machine was %s before and %s after.\n\n",
		o.informers, o.rounds, before, report.Load())
	table(sides).Print(out)
	fmt.Fprintln(out)
	for _, s := range sides {
		fmt.Fprintf(out, "- %s: %s\n", s.name, s.settings)
	}
	return nil
}

// take runs one process with its server.
func (s *side) take(ctx context.Context, dir string, o options, progress io.Writer) (err error) {
	server := exec.CommandContext(ctx, filepath.Join(dir, "cluster"), fmt.Sprintf("-http2=%t", !o.http1))
	server.Stderr = progress
	in, err := server.StdinPipe()
	if err != nil {
		return err
	}
	said, err := server.StdoutPipe()
	if err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close(), server.Wait()) }()
	url, err := bufio.NewReader(said).ReadString('\n')
	if err != nil {
		return fmt.Errorf("read the URL of the server: %w", err)
	}
	p := sample.Params{Server: strings.TrimSpace(url), Informers: o.informers}
	if o.profiles != "" {
		p.Profiles = o.profiles + "-" + s.program + "."
	}
	params, err := json.Marshal(p)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(dir, s.program), "-job", "waiting", "-params", string(params))
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); !strings.HasPrefix(name, "GO") && !strings.HasPrefix(name, "KUBE") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	cmd.Stderr = progress
	text, err := cmd.Output()
	if err != nil {
		return err
	}
	var r sample.Report
	if err := json.Unmarshal(text, &r); err != nil {
		return fmt.Errorf("read the report: %w", err)
	}
	if n, found := r.Counts["pods"]; !found || n != 0 {
		return fmt.Errorf("it counted %v, want no pods", r.Counts)
	}
	s.settings, s.samples = r.Settings, append(s.samples, r.Figures)
	return nil
}

// table returns the medians for one informer.
func table(sides []*side) report.Table {
	t := report.Table{Header: []string{"one informer"}}
	for _, s := range sides {
		t.Header = append(t.Header, s.name)
	}
	for _, figure := range []struct {
		name, key string
		text      func(float64) string
	}{
		{"heap and stacks", "memory", kilobytes},
		{"live heap", "heap", kilobytes},
		{"stacks", "stacks", kilobytes},
		{"resident memory", "rss", kilobytes},
		{"goroutines", "goroutines", func(n float64) string { return fmt.Sprintf("%.1f", n) }},
	} {
		row := []string{figure.name}
		for _, s := range sides {
			row = append(row, figure.text(report.MedianOf(s.samples, func(f map[string]float64) float64 { return f[figure.key] })))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func kilobytes(n float64) string { return fmt.Sprintf("%.1f kB", n/1e3) }
