package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bowline-go/bowline/internal/proof/bench/builds"
	"github.com/bowline-go/bowline/internal/proof/bench/sample"
)

// full are the amounts without -short.
var full = sample.Params{
	Pods: 20_000, Events: 60_000, Updates: 1_000_000, Keys: 1_000, Replace: 100_000, Objects: 10_000, BenchTime: "1s",
	Found:   []int{1_000, 10_000, 100_000, 1_000_000},
	Readers: 100, Listed: 50_000, Every: time.Second, Writes: 5_000, Duration: 10 * time.Second,
	QueueKeys: []int{1_000, 100_000, 1_000_000}, QueueWork: 1_000_000, Prioritised: 100_000, Repetitions: 5,
	Elections: 20, Contending: 5 * time.Second, Written: 200, Lag: 100 * time.Millisecond,
	Streamed: 4 << 30, Sessions: 200,
}

// short are the amounts with -short: enough to see that every row works.
var short = sample.Params{
	Pods: 300, Events: 900, Updates: 5_000, Keys: 100, Replace: 1_000, Objects: 1_000, BenchTime: "5ms",
	Found:   []int{10, 100, 1_000, 2_000},
	Readers: 10, Listed: 1_000, Every: 20 * time.Millisecond, Writes: 1_000, Duration: 300 * time.Millisecond,
	QueueKeys: []int{100, 200, 500}, QueueWork: 1_000, Prioritised: 500, Repetitions: 1,
	Elections: 3, Contending: 100 * time.Millisecond, Written: 20, Lag: 10 * time.Millisecond,
	Streamed: 1 << 20, Sessions: 5,
}

// options are the flags.
type options struct {
	rows   []row
	params sample.Params
	rounds int
	builds int
	budget time.Duration // 0 is no limit
}

func main() {
	pods := flag.Int("pods", 0, fmt.Sprintf("how many `pods` the server has (default %d)", full.Pods))
	rate := flag.Int("rate", 0, "how many `events` a second the watch gets; 0 is as many as it takes")
	rounds := flag.Int("rounds", 0, "how many `samples` of each row the medians are of (default 3)")
	coldBuilds := flag.Int("builds", -1, "how many cold `builds` of each side to take the median of; 0 measures none (default 1)")
	limit := flag.Duration("budget", 0, "the `time` after which nothing more is begun, such as 20m; 0 is no limit")
	names := flag.String("row", "", "the `rows` to measure, with commas: "+strings.Join(rowNames(), ", ")+" (default all)")
	quick := flag.Bool("short", false, "a check that all works: small numbers, one round, no cold build")
	file := flag.String("json", "", "write all samples and the table to a `file` too")
	flag.Parse()
	o := options{params: full, rounds: 3, builds: 1}
	if *quick {
		o = options{params: short, rounds: 1}
	}
	if *pods > 0 {
		o.params.Pods = *pods
	}
	if *rounds > 0 {
		o.rounds = *rounds
	}
	if *coldBuilds >= 0 {
		o.builds = *coldBuilds
	}
	o.params.Rate, o.budget = *rate, *limit
	var err error
	if o.rows, err = selectRows(*names); err != nil || flag.NArg() > 0 || *rate < 0 || *limit < 0 {
		if err != nil {
			fmt.Fprintln(os.Stderr, "compare:", err)
		}
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // so that a second signal ends the program at once
	if err := run(ctx, o, *file); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, file string) error {
	res, err := compare(ctx, o, os.Stdout, os.Stderr)
	if file != "" {
		err = errors.Join(err, res.save(file))
	}
	return err
}

func rowNames() []string {
	names := make([]string, len(rows))
	for i, r := range rows {
		names[i] = r.name
	}
	return names
}

// selectRows returns the rows of a comma-separated list, in the table's order, or all rows if it is empty.
func selectRows(names string) ([]row, error) {
	if names == "" {
		return rows, nil
	}
	wanted := strings.Split(names, ",")
	for _, name := range wanted {
		if !slices.Contains(rowNames(), name) {
			return nil, fmt.Errorf("no row is called %q, the rows are %s", name, strings.Join(rowNames(), ", "))
		}
	}
	var selected []row
	for _, r := range rows {
		if slices.Contains(wanted, r.name) {
			selected = append(selected, r)
		}
	}
	return selected, nil
}

// compare builds the programs, starts the server and measures the rows. It prints each row to out as soon as it is
// measured, so that a run that fails or is ended has printed those before.
func compare(ctx context.Context, o options, out, progress io.Writer) (res result, err error) {
	limit := budgetOf(o.budget)
	dir, err := os.MkdirTemp("", "bowline-compare")
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	fmt.Fprintln(progress, "build the sides and the server")
	if _, err := builds.Run(ctx, nil, "go", "build", "-ldflags=-s -w", "-o", dir+string(filepath.Separator),
		"./sides/bowline", "./sides/projection", "./sides/clientgo", "./sides/controllerruntime", "./sides/ctrlcache", "./cmd/server", "./cmd/cluster"); err != nil {
		return result{}, err
	}
	url, stop, err := startServer(ctx, dir, "server", "-pods", fmt.Sprint(o.params.Pods))
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	b := &bench{dir: dir, params: o.params, progress: progress}
	b.params.Server = url
	res = result{Rounds: o.rounds, Params: o.params}
	if res.Versions, err = builds.Versions(ctx); err != nil {
		return result{}, err
	}
	res.printHead(out)
	return res, res.take(ctx, b, o, limit, out)
}

// take measures the rows. Rows of one job are measured at once.
func (res *result) take(ctx context.Context, b *bench, o options, limit budget, out io.Writer) error {
	for _, job := range jobsOf(o.rows) {
		m, err := b.measure(ctx, job, o, limit)
		if err != nil {
			return fmt.Errorf("measure %s: %w", job, err)
		}
		for _, r := range o.rows {
			switch {
			case r.job != job:
			case m.rounds == 0:
				res.Left = append(res.Left, r.name)
			default:
				res.Lines = append(res.Lines, m.print(out, r)...)
			}
		}
		res.Outcomes = append(res.Outcomes, m.outcomes...)
	}
	res.printLeft(out)
	return nil
}

// jobsOf returns the jobs of the rows, each once.
func jobsOf(rows []row) (jobs []string) {
	for _, r := range rows {
		if !slices.Contains(jobs, r.job) {
			jobs = append(jobs, r.job)
		}
	}
	return jobs
}
