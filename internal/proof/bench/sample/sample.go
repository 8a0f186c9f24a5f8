// Package sample is the common code of the programs under sides: what is measured, and how. A side gives the jobs its
// library's informer or cache, so that the same lines start, watch and measure both.
//
// A sample is one process: one job of one side with one setting. It prints a [Report]. The package imports the standard
// library only, because all sides link it.
//
// The figures of a process are the system's: CPU time from getrusage, which includes the garbage collector and all
// threads; resident memory and its peak from /proc/self/status (VmRSS, VmHWM), so on Linux only. Live heap is HeapAlloc
// after two garbage collections: the first one only moves the contents of a sync.Pool to where the second frees them.
package sample

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"
)

// Params are the amounts of a job.
type Params struct {
	Server  string // its URL
	Setting string // the name of the side's setting
	Pods    int    // the number that the server serves
	// Events is the number of events of the watch, and Rate how many the server sends a second. A Rate of 0 means as
	// fast as the client reads them.
	Events, Rate int
	// Ranges is how many of the 256 ranges of pods the informer has; 0 is all, without sharding.
	Ranges int
	// The slow subscriber misses Updates updates. They are of Keys objects.
	Updates, Keys int
	// Replace is the number of objects of a replacement, and Objects the number of those that are read and written.
	Replace, Objects int
	// Found are the sizes of the caches in which one goroutine gets objects.
	Found []int
	// BenchTime is how long each micro-benchmark runs, as for go test.
	BenchTime string
	// Readers is the number of goroutines that list. Each lists all of Listed objects once in each period Every, for
	// the time Duration. At the same time one goroutine makes Writes writes a second.
	Readers, Listed, Writes int
	Every, Duration         time.Duration
	// QueueKeys are the numbers of keys in a queue. Each is repeated until QueueWork keys have gone through.
	QueueKeys []int
	QueueWork int
	// Prioritised is how many keys have priorities, in each of the Repetitions.
	Prioritised, Repetitions int
	// Elections are held at once. In each the second contender waits between Contending and twice that.
	Elections  int
	Contending time.Duration
	// Written objects are written and read, from a cache that is Lag behind.
	Written int
	Lag     time.Duration
	// Streamed bytes are read and written by a command. Sessions is the number of commands at once, and of those that
	// are timed.
	Streamed, Sessions int
	// Informers wait for events that do not come. Profiles is the beginning of the names of profiles to write; empty
	// writes none.
	Informers int
	Profiles  string
}

// Report is the result of a sample.
type Report struct {
	// Settings are the public settings that the side was run with.
	Settings string
	// Counts are exact: the caller knows what they must be.
	Counts map[string]int
	// Figures are the measurements. Those that this system cannot make are absent.
	Figures map[string]float64
}

// Job takes one sample.
type Job func(context.Context, Params) (Report, error)

// Main is the main function of a side: it does the job that the flags name and prints the report in JSON.
func Main(jobs map[string]Job) {
	name := flag.String("job", "", "what to measure")
	params := flag.String("params", "{}", "the sample.Params, in JSON")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // so that a second signal ends the program at once
	if err := run(ctx, jobs[*name], *params); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", *name, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, job Job, params string) error {
	if job == nil {
		return errors.New("this side has no such job")
	}
	var p Params
	if err := json.Unmarshal([]byte(params), &p); err != nil {
		return fmt.Errorf("read the params: %w", err)
	}
	report, err := job(ctx, p)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(report)
}
