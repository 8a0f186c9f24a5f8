package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"
)

// errFound says that the campaign has found and printed mutants or arguments that need to be mended.
var errFound = errors.New("tests that would not notice")

// campaign is one run of the command.
type campaign struct {
	n, seed  int
	jobs     int
	packages []string // nil for all
	run      string
	tests    []string        // further flags of the tests
	again    map[string]bool // nil, or the identities of the mutants to try
	list     bool
	w        io.Writer

	argued map[string]string
	most   int           // the percentage of mutants that may survive; 0 means none
	limit  time.Duration // how long it goes on; 0 means until all have been tried
	ends   time.Time     // when limit has passed; the zero time means never
}

// tally counts the mutants of a package.
type tally struct{ tried, killed, argued, open int }

func (n *tally) add(o tally) {
	n.tried += o.tried
	n.killed += o.killed
	n.argued += o.argued
	n.open += o.open
}

// do tries the mutants and prints what becomes of each, and a table at the end.
func (c *campaign) do(ctx context.Context) error {
	var err error
	if c.argued, err = parseArguments(arguments); err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return fmt.Errorf("find the module: %w", err)
	}
	root := strings.TrimSpace(string(out))
	chosen := slices.DeleteFunc(targets(), func(g target) bool { return c.packages != nil && !slices.Contains(c.packages, g.dir) })
	if len(chosen) == 0 {
		return fmt.Errorf("-packages must name packages of the campaign, got %q", c.packages)
	}
	whole := 0
	for _, g := range targets() {
		whole += g.part
	}
	if c.limit > 0 {
		c.ends = time.Now().Add(c.limit)
		random := rand.New(rand.NewPCG(uint64(c.seed), 0)) // so that no package is always the one without time
		random.Shuffle(len(chosen), func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] })
	}
	var total tally
	var rows []string
	for _, g := range chosen {
		n, err := c.target(ctx, root, g, c.n*g.part/whole)
		if baseline := (*baselineError)(nil); errors.As(err, &baseline) {
			fmt.Fprintf(c.w, "AGAIN    %v\n", err) // a flaky test does not end a campaign of hours
			n, err = c.target(ctx, root, g, c.n*g.part/whole)
		}
		if err != nil {
			return err
		}
		total.add(n)
		rows = append(rows, row(g.dir, n))
	}
	if c.list {
		return nil
	}
	tw := tabwriter.NewWriter(c.w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "\npackage\ttried\tkilled\targued\tto mend\t")
	for _, r := range append(rows, row("all", total)) {
		fmt.Fprintln(tw, r)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	if c.isTooMuch(total) {
		return errFound
	}
	return nil
}

// isOver reports whether the time is over.
func (c *campaign) isOver() bool { return !c.ends.IsZero() && time.Now().After(c.ends) }

// isTooMuch reports whether there is more to mend than most percent of the tried mutants: mutants that have survived
// without an argument, arguments for mutants that were killed, and arguments for mutants that the code no longer has.
func (c *campaign) isTooMuch(n tally) bool { return n.open*100 > n.tried*c.most }

func row(name string, n tally) string {
	return fmt.Sprintf("%s\t%d\t%d\t%d\t%d\t", name, n.tried, n.killed, n.argued, n.open)
}

// target tries the mutants of one package: want of them, or those that the flags name.
func (c *campaign) target(ctx context.Context, root string, g target, want int) (n tally, _ error) {
	all, err := mutantsOf(root, g.dir, g.has)
	if err != nil {
		return n, err
	}
	known := map[string]bool{}
	for _, m := range all {
		known[m.String()] = true
	}
	if c.run != "" {
		all = slices.DeleteFunc(all, func(m mutant) bool { return !strings.Contains(m.String(), c.run) })
		want = len(all)
	}
	if c.again != nil {
		all = slices.DeleteFunc(all, func(m mutant) bool { return !c.again[m.String()] })
		want = len(all)
	}
	all = shuffled(all, c.seed)
	if c.list {
		for _, m := range all[:min(want, len(all))] {
			fmt.Fprintln(c.w, m)
		}
		return n, nil
	}
	if want == 0 || len(all) == 0 || c.isOver() {
		return n, nil
	}
	all = all[:min(want+want/10+5, len(all))] // some will not compile
	tmp, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return n, err
	}
	defer func() { _ = os.RemoveAll(tmp) }() // a folder that stays does not make the campaign wrong
	t, err := newTrier(ctx, root, tmp, g, all, c.tests)
	if err != nil {
		return n, err
	}
	for i, r := range c.tryAll(ctx, t) {
		if r.err != nil {
			return n, r.err
		}
		if r.verdict != invalid {
			n.add(c.judge(all[i], r.verdict, r.why))
		}
		if n.tried == want || c.isOver() {
			break
		}
	}
	for _, identity := range slices.Sorted(maps.Keys(c.argued)) {
		if file, _, _ := strings.Cut(identity, " "); path.Dir(file) == g.dir && g.has(path.Base(file)) && !known[identity] {
			fmt.Fprintf(c.w, "GONE     %s\n         argued.txt has it, and the code does not\n", identity)
			n.open++
		}
	}
	return n, nil
}

// result is what became of a mutant.
type result struct {
	verdict verdict
	why     string
	err     error
}

// tryAll tries the mutants, several at once, and yields the results in the order of their numbers.
func (c *campaign) tryAll(ctx context.Context, t *trier) iter.Seq2[int, result] {
	return func(yield func(int, result) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var all sync.WaitGroup
		defer all.Wait()
		defer cancel()
		results := make([]chan result, len(t.b.mutants))
		for i := range results {
			results[i] = make(chan result, 1)
		}
		next := make(chan int)
		all.Go(func() {
			defer close(next)
			for i := range results {
				select {
				case next <- i:
				case <-ctx.Done():
					return
				}
			}
		})
		for range max(1, c.jobs) {
			all.Go(func() {
				for i := range next {
					var r result
					r.verdict, r.why, r.err = t.try(ctx, i+1)
					results[i] <- r
				}
			})
		}
		for i, r := range results {
			select {
			case r := <-r:
				if !yield(i, r) {
					return
				}
			case <-ctx.Done():
				yield(i, result{err: ctx.Err()})
				return
			}
		}
	}
}

// survivors finds in the output of a run the identities of the mutants that survived.
func survivors(output string) map[string]bool {
	found := map[string]bool{}
	for line := range strings.SplitSeq(output, "\n") {
		if identity, ok := strings.CutPrefix(line, "SURVIVED "); ok {
			found[identity] = true
		}
	}
	return found
}

// judge prints what became of a mutant, and counts it.
func (c *campaign) judge(m mutant, v verdict, why string) tally {
	argument, argued := c.argued[m.String()]
	switch {
	case v == killed && argued:
		fmt.Fprintf(c.w, "KILLED   %s\n         by %s, but argued.txt says: %s\n", m, why, argument)
		return tally{tried: 1, killed: 1, open: 1}
	case v == killed:
		fmt.Fprintf(c.w, "killed   %s\n         by %s\n", m, why)
		return tally{tried: 1, killed: 1}
	case argued:
		fmt.Fprintf(c.w, "argued   %s\n         %s\n", m, argument)
		return tally{tried: 1, argued: 1}
	}
	fmt.Fprintf(c.w, "SURVIVED %s\n         line %d\n", m, m.line)
	return tally{tried: 1, open: 1}
}
