package main

// The table of what programs cost before they run.

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bowline-go/bowline/internal/proof/bench/builds"
	"github.com/bowline-go/bowline/internal/proof/bench/report"
)

// task is a program that is written once for each side; the first of them is Bowline's, the base of ratios.
type task struct {
	name  string
	sides []builds.Program
	limit limit
}

// limit bounds Bowline's program of a task. RESULTS.md promises it. A limit is raised only with a reason in the commit.
type limit struct {
	size              int64 // of the stripped binary, in bytes; compilers differ by a few percent
	packages, modules int
}

var tasks = []task{
	{"hello", sides("./hello"), limit{8_700_000, 240, 5}},
	{"controller", sides("./weight/controller"), limit{10_900_000, 255, 5}},
	{"operator", sides("./weight/operator"), limit{11_500_000, 257, 5}},
	{
		"whole pods", []builds.Program{
			{Name: "Bowline, client/builtin", Path: "./whole/builtin"}, {Name: "Bowline, k8s.io/api", Path: "./whole/k8sapi"},
		}, limit{8_900_000, 240, 5},
	},
}

func sides(folder string) []builds.Program {
	return []builds.Program{
		{Name: "Bowline", Path: folder + "/bowline"},
		{Name: "client-go", Path: folder + "/clientgo"},
		{Name: "controller-runtime", Path: folder + "/controllerruntime"},
	}
}

func programsOf(tasks []task) (all []builds.Program) {
	for _, t := range tasks {
		all = append(all, t.sides...)
	}
	return all
}

// chosen returns the tasks with the names, or all of them.
func chosen(names string) (some []task, err error) {
	if names == "" {
		return tasks, nil
	}
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(tasks, func(t task) bool { return t.name == name })
		if i < 0 {
			return nil, fmt.Errorf("-tasks must name tasks of the table, with commas between them, got %q", name)
		}
		some = append(some, tasks[i])
	}
	return some, nil
}

// exceeded returns the limits of a task that Bowline's program exceeds.
func (t task) exceeded(r builds.Result) (over []string) {
	if r.Size > t.limit.size {
		over = append(over, fmt.Sprintf("the binary has %d bytes, at most %d are allowed", r.Size, t.limit.size))
	}
	if r.Packages > t.limit.packages {
		over = append(over, fmt.Sprintf("%d packages are linked, at most %d are allowed", r.Packages, t.limit.packages))
	}
	if r.Modules > t.limit.modules {
		over = append(over, fmt.Sprintf("%d modules are linked, at most %d are allowed", r.Modules, t.limit.modules))
	}
	return over
}

// promise is the row of the table of limits in RESULTS.md.
func (t task) promise() string {
	return fmt.Sprintf("| %s | %s | %d | %d |", t.name, report.Megabytes(t.limit.size), t.limit.packages, t.limit.modules)
}

// printBuilds prints the results of the programs of tasks, in their order.
func printBuilds(out io.Writer, tasks []task, results []builds.Result, rounds int) {
	t := report.Table{Header: []string{"", "", "binary", "packages", "modules"}}
	if rounds > 0 {
		fmt.Fprintf(out, "The same programs (cold builds: medians of %d):\n\n", rounds)
		t.Header = append(t.Header, "cold build", "its CPU time")
	} else {
		fmt.Fprint(out, "The same programs:\n\n")
	}
	for _, of := range tasks {
		part, base, task := results[:len(of.sides)], results[0], of.name
		results = results[len(of.sides):]
		for i, r := range part {
			if i > 0 {
				task = ""
			}
			row := []string{
				cmp.Or(task, " "), r.Name,
				report.Ratio(report.Megabytes(r.Size), float64(r.Size), float64(base.Size)),
				report.Ratio(fmt.Sprint(r.Packages), float64(r.Packages), float64(base.Packages)),
				report.Ratio(fmt.Sprint(r.Modules), float64(r.Modules), float64(base.Modules)),
			}
			if rounds > 0 {
				row = append(row,
					report.Ratio(fmt.Sprintf("%.0f s", r.Wall.Seconds()), r.Wall.Seconds(), base.Wall.Seconds()),
					report.Ratio(fmt.Sprintf("%.0f s", r.CPU.Seconds()), r.CPU.Seconds(), base.CPU.Seconds()))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	t.Print(out)
}
