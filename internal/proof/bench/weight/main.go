package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/bowline-go/bowline/internal/proof/bench/builds"
)

func main() {
	coldBuilds := flag.Int("builds", 1, "how many cold builds of each side to take the median of; 0 times none")
	names := flag.String("tasks", "", "the `NAMES` of the tasks whose programs are built, with commas between them (default all)")
	heaps := flag.Bool("heap", false, "measure the memory of a synced cache as well")
	pods := flag.Int("pods", 10_000, "how many pods the cache holds")
	rounds := flag.Int("rounds", 3, "how many times each cache is measured, to take the median of")
	flag.Parse()
	if flag.NArg() > 0 || *coldBuilds < 0 || *pods < 1 || *rounds < 1 {
		flag.Usage()
		os.Exit(2)
	}
	some, err := chosen(*names)
	if err != nil {
		fmt.Fprintln(os.Stderr, "weight:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // so that a second signal ends the program at once
	if err := measure(ctx, some, *coldBuilds, *heaps, *pods, *rounds, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "weight:", err)
		os.Exit(1)
	}
}

func measure(ctx context.Context, some []task, coldBuilds int, heaps bool, pods, rounds int, out, progress io.Writer) error {
	dir, err := os.MkdirTemp("", "bowline-weight")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	results, err := builds.Measure(ctx, dir, programsOf(some), coldBuilds, progress)
	if err != nil {
		return err
	}
	printBuilds(out, some, results, coldBuilds)
	fmt.Fprintln(out)
	if heaps {
		results, size, err := measureHeaps(ctx, dir, pods, rounds, progress)
		if err != nil {
			return err
		}
		printHeaps(out, results, pods, size, rounds)
		fmt.Fprintln(out)
	}
	versions, err := builds.Versions(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, versions)
	return nil
}
