// Quickstart is a controller that mirrors ConfigMaps, and a storm that it has to survive.
//
//	go run ./examples/quickstart                       # with nothing but Go: the API server is in the process
//	go run ./examples/quickstart -kubeconfig FILE      # the same against a real cluster, without injected faults
//	go run ./examples/quickstart -debug 127.0.0.1:8080 # a page at that address shows the storm; an interrupt ends it
//
// The controller is in mirror.go and its types are in configmap.go; the rest makes the work, the faults and the
// report.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

type options struct {
	objects    int
	kubeconfig string
	context    string
	workers    int
	seed       uint64
	protobuf   bool
	compact    bool
	timeout    time.Duration
	json       bool
	debug      string
}

func main() {
	o, err := parse(os.Args[1:], os.Stdout)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // so that a second signal ends the program at once
	os.Exit(run(ctx, o, os.Stdout, os.Stderr))
}

// run is the program; it returns the exit status.
func run(ctx context.Context, o options, stdout, stderr io.Writer) int {
	summary, left, err := play(ctx, o, &progress{out: stderr})
	code := 0
	if summary != nil {
		err = errors.Join(err, summary.print(stdout, o.json))
		if len(summary.problems) > 0 {
			summary.printProblems(stderr)
			code = 1
		}
	} else if ctx.Err() != nil { // interrupted before there was a summary; with -debug, the interrupt comes after it
		code, err = 130, errors.New("interrupted")
	}
	if err = errors.Join(err, left); err != nil {
		fmt.Fprintln(stderr, "quickstart:", strings.ReplaceAll(err.Error(), "\n", "; "))
		code = max(code, 1)
	}
	return code
}

func parse(args []string, stdout io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("quickstart", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.IntVar(&o.objects, "objects", 1000, "how many ConfigMaps to mirror")
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "use the cluster of this `file`, or of KUBECONFIG, instead of the server in the process")
	f.StringVar(&o.context, "context", "", "the kubeconfig's context; empty is its current one")
	f.IntVar(&o.workers, "workers", 8, "how many ConfigMaps to reconcile at a time")
	f.Uint64Var(&o.seed, "seed", 1, "chooses what the storm hits")
	f.BoolVar(&o.protobuf, "protobuf", false, "have the controller's cache read protobuf instead of JSON")
	f.BoolVar(&o.compact, "compact", false, "have the controller's cache keep its objects compressed")
	f.DurationVar(&o.timeout, "timeout", 5*time.Minute, "how long all may take")
	f.BoolVar(&o.json, "json", false, "print the summary as JSON")
	f.StringVar(&o.debug, "debug", "", "serve a page of what goes on at this `address`, such as 127.0.0.1:8080, until an interrupt")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(stdout, "usage: quickstart [flags]")
			f.SetOutput(stdout)
			f.PrintDefaults()
		}
		return o, err
	}
	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q; see -help", f.Arg(0))
	case o.objects < 1 || o.objects > 1_000_000:
		return o, fmt.Errorf("-objects must be between 1 and 1000000, got %d", o.objects)
	case o.workers < 1 || o.workers > 1000:
		return o, fmt.Errorf("-workers must be between 1 and 1000, got %d", o.workers)
	case o.timeout <= 0:
		return o, fmt.Errorf("-timeout must be positive, got %v", o.timeout)
	}
	return o, nil
}
