package main

import (
	"context"
	_ "embed"
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
	"text/tabwriter"
)

//go:embed argued.txt
var arguments string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var c campaign
	only := ""
	flag.IntVar(&c.n, "n", 600, "how many mutants to try, in all packages together")
	flag.IntVar(&c.seed, "seed", 1, "which mutants are tried")
	flag.StringVar(&only, "packages", "", "try the mutants of these packages alone, separated by commas")
	flag.StringVar(&c.run, "run", "", "try every mutant whose identity has this text")
	flag.BoolVar(&c.list, "list", false, "print the mutants, and run nothing")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "mutants: takes no arguments, got %q\n", flag.Args())
		os.Exit(2)
	}
	if only != "" {
		c.packages = strings.Split(only, ",")
	}
	switch err := c.do(ctx, os.Stdout); {
	case errors.Is(err, errFound):
		os.Exit(1)
	case err != nil:
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(2)
	}
}

// errFound says that there is something to mend. What it is has been printed.
var errFound = errors.New("tests that would not notice")

// campaign is one run of the command.
type campaign struct {
	n, seed  int
	packages []string // nil for all
	run      string
	list     bool
}

// tally counts the mutants of a package.
type tally struct{ tried, killed, argued, open int }

// do tries the mutants and prints what becomes of each, and a table at the end.
func (c campaign) do(ctx context.Context, w io.Writer) error {
	argued, err := parseArguments(arguments)
	if err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return fmt.Errorf("find the module: %w", err)
	}
	root := strings.TrimSpace(string(out))
	tmp, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp) //nolint:errcheck // a folder that stays is no error of the campaign
	t := trier{root: root, tmp: tmp}

	found := false
	known := map[string]bool{} // every mutant of the packages
	tallies := map[string]*tally{}
	chosen := c.targets()
	if len(chosen) == 0 {
		return fmt.Errorf("-packages must name packages of the campaign, got %q", c.packages)
	}
	for _, g := range chosen {
		all, err := mutantsOf(root, g.dir, g.has)
		if err != nil {
			return err
		}
		for _, m := range all {
			known[m.String()] = true
		}
		n := &tally{}
		tallies[g.dir] = n
		if err := c.target(ctx, w, t, g, all, argued, n); err != nil {
			return err
		}
		found = found || n.open > 0
	}
	if c.list {
		return nil
	}
	for identity := range argued {
		in := slices.ContainsFunc(chosen, func(g target) bool { return filepath.ToSlash(filepath.Dir(strings.Fields(identity)[0])) == g.dir })
		if in && !known[identity] {
			fmt.Fprintf(w, "argued.txt: the code no longer has this mutant: %s\n", identity)
			found = true
		}
	}
	printTable(w, chosen, tallies)
	if found {
		return errFound
	}
	return nil
}

// targets returns the packages that the flags choose.
func (c campaign) targets() []target {
	return slices.DeleteFunc(targets(), func(g target) bool { return c.packages != nil && !slices.Contains(c.packages, g.dir) })
}

// target tries the mutants of one package.
func (c campaign) target(ctx context.Context, w io.Writer, t trier, g target, all []mutant, argued map[string]string, n *tally) error {
	want := c.n * g.part / 100
	if c.run != "" {
		all = slices.DeleteFunc(all, func(m mutant) bool { return !strings.Contains(m.String(), c.run) })
		want = len(all)
	}
	if c.list {
		for _, m := range shuffled(all, c.seed)[:min(want, len(all))] {
			fmt.Fprintln(w, m)
		}
		return nil
	}
	if want == 0 || len(all) == 0 {
		return nil
	}
	packages := append([]string{g.dir}, g.also...)
	for _, p := range packages {
		if err := os.WriteFile(t.overlay(), []byte("{}"), 0o600); err != nil {
			return err
		}
		if why, err := t.test(ctx, p); err != nil || why != "" {
			return fmt.Errorf("the tests of %s do not pass without a mutant: %s %w", p, why, err)
		}
	}
	for _, m := range shuffled(all, c.seed) {
		if n.tried == want {
			break
		}
		v, why, err := t.try(ctx, m, packages)
		if err != nil {
			return err
		}
		if v == invalid {
			continue
		}
		n.tried++
		argument, isArgued := argued[m.String()]
		switch {
		case v == killed && isArgued:
			n.killed++
			n.open++
			fmt.Fprintf(w, "KILLED   %s\n         by %s, but argued.txt says why it cannot be: %s\n", m, why, argument)
		case v == killed:
			n.killed++
			fmt.Fprintf(w, "killed   %s\n         by %s\n", m, why)
		case isArgued:
			n.argued++
			fmt.Fprintf(w, "argued   %s\n         %s\n", m, argument)
		default:
			n.open++
			fmt.Fprintf(w, "SURVIVED %s\n         line %d\n", m, m.line)
		}
	}
	return nil
}

func printTable(w io.Writer, chosen []target, tallies map[string]*tally) {
	tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "\npackage\ttried\tkilled\targued\tto mend\t")
	var sum tally
	for _, g := range chosen {
		n := tallies[g.dir]
		fmt.Fprintf(tw, "%s\t%d\t%d\t%d\t%d\t\n", g.dir, n.tried, n.killed, n.argued, n.open)
		sum.tried, sum.killed, sum.argued, sum.open = sum.tried+n.tried, sum.killed+n.killed, sum.argued+n.argued, sum.open+n.open
	}
	fmt.Fprintf(tw, "all\t%d\t%d\t%d\t%d\t\n", sum.tried, sum.killed, sum.argued, sum.open)
	_ = tw.Flush() // nothing is left to do for a reader who has gone
}
