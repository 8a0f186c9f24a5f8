package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
)

//go:embed argued.txt
var arguments string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // so that a second signal ends the program at once
	c := campaign{w: os.Stdout}
	only, again, tests := "", "", ""
	flag.IntVar(&c.n, "n", 720, "how many mutants to try, in all packages together")
	flag.IntVar(&c.seed, "seed", 1, "which mutants are tried")
	flag.IntVar(&c.most, "most", 0, "fail only if more than this percentage of the mutants survives")
	flag.DurationVar(&c.limit, "for", 0, "try no further mutants after this time, and take the packages in an order that the seed decides")
	flag.IntVar(&c.jobs, "jobs", 2, "how many mutants to try at once")
	flag.StringVar(&only, "packages", "", "try the mutants of these packages alone, separated by commas")
	flag.StringVar(&c.run, "run", "", "try every mutant whose identity has this text")
	flag.StringVar(&again, "again", "", "try again the mutants that survived, as this file says, the output of a run")
	flag.StringVar(&tests, "tests", "", "further flags of the tests, separated by spaces, such as -test.run=Oracle")
	flag.BoolVar(&c.list, "list", false, "print the mutants, and run nothing")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "mutants: takes no arguments, got %q\n", flag.Args())
		os.Exit(2)
	}
	c.tests = strings.Fields(tests)
	if only != "" {
		c.packages = strings.Split(only, ",")
	}
	if again != "" {
		output, err := os.ReadFile(again)
		if err != nil {
			fmt.Fprintln(os.Stderr, "mutants:", err)
			os.Exit(2)
		}
		c.again = survivors(string(output))
	}
	switch err := c.do(ctx); {
	case errors.Is(err, errFound):
		os.Exit(1)
	case err != nil:
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(2)
	}
}
