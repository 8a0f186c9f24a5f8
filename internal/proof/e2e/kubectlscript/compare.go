package kubectlscript

import (
	"context"
	_ "embed" // for the exceptions
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/bowline-go/bowline/internal/proof/e2e/exception"
)

//go:embed exceptions.txt
var exceptions string

// Exceptions returns the list of what may differ. The names are those of Comparison.Differs.
func Exceptions() (exception.List, error) { return exception.Parse(exceptions) }

// Comparison has the differences between the results of scripts at two servers.
type Comparison struct {
	// Commands is how many commands were run against each.
	Commands int
	// Differs has names of the form "SCRIPT OUTPUTS: COMMAND", in which OUTPUTS is a set of code, stdout and stderr. A
	// name is true if exactly these outputs of the command differ. So an exception says which outputs differ, and
	// covers no others.
	Differs map[string]bool
	// Details are the outputs that differ, by the same names.
	Details map[string]string
}

// Compare runs scripts against both servers, each command against both at once, and compares the outputs. The servers
// should have the same history; new ones have.
func Compare(ctx context.Context, scripts []Script, reference, subject *Server) (Comparison, error) {
	c := Comparison{Differs: map[string]bool{}, Details: map[string]string{}}
	servers := []*Server{reference, subject}
	for _, script := range scripts {
		for _, s := range servers {
			if err := s.begin(ctx, script.Name); err != nil {
				return c, fmt.Errorf("begin script %s at %s: %w", script.Name, s.URL, err)
			}
		}
		for _, step := range script.Steps {
			var results [2]Result
			var errs [2]error
			var running sync.WaitGroup
			for i, s := range servers {
				running.Go(func() { results[i], errs[i] = s.run(ctx, step) })
			}
			running.Wait()
			if err := errors.Join(errs[:]...); err != nil {
				return c, fmt.Errorf("%s: %s: %w", script.Name, step.Name, err)
			}
			if step.File != "" {
				continue
			}
			c.Commands++
			c.add(script.Name, step.Name, results[0], results[1])
		}
	}
	return c, nil
}

// add compares the results of a command.
func (c *Comparison) add(script, command string, want, got Result) {
	outputs := []struct{ name, want, got string }{
		{"code", strconv.Itoa(want.Code), strconv.Itoa(got.Code)},
		{"stdout", want.Stdout, got.Stdout},
		{"stderr", want.Stderr, got.Stderr},
	}
	differ, details := 0, ""
	for i, o := range outputs {
		if o.want != o.got {
			differ |= 1 << i
			details += o.name + ":\n" + difference(o.want, o.got) + "\n"
		}
	}
	// Each set of outputs gets an entry, so that Check notices an exception that names another set than the one
	// that differs.
	for set := 1; set < 1<<len(outputs); set++ {
		name := script
		for i, o := range outputs {
			if set&(1<<i) != 0 {
				name += " " + o.name
			}
		}
		name += ": " + command
		c.Differs[name] = set == differ
		if set == differ {
			c.Details[name] = details
		}
	}
}

// difference shows the lines in which two texts differ, with - before those of want and + before those of got, and one
// line that is equal before and after them.
func difference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	// common[i][j] is how many lines the rests a[i:] and b[j:] have in common, in their order.
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	type line struct{ mark, text string }
	var all []line
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			all = append(all, line{" ", a[i]})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			all = append(all, line{"-", a[i]})
			i++
		default:
			all = append(all, line{"+", b[j]})
			j++
		}
	}
	var shown []string
	for n, l := range all {
		if l.mark != " " || n > 0 && all[n-1].mark != " " || n+1 < len(all) && all[n+1].mark != " " {
			shown = append(shown, l.mark+" "+l.text)
		}
	}
	return strings.Join(shown, "\n")
}
