package main

// The table of a controller's costs before it runs.

import (
	"fmt"
	"io"

	"github.com/bowline-go/bowline/internal/proof/bench/builds"
	"github.com/bowline-go/bowline/internal/proof/bench/report"
)

// programs are the same controller three times; the first is the base of ratios.
var programs = []builds.Program{
	{Name: "Bowline", Path: "./weight/bowline"},
	{Name: "client-go", Path: "./weight/clientgo"},
	{Name: "controller-runtime", Path: "./weight/controllerruntime"},
}

func printBuilds(out io.Writer, results []builds.Result, rounds int) {
	t := report.Table{Header: []string{"", "binary", "packages", "modules"}}
	if rounds > 0 {
		fmt.Fprintf(out, "The same controller (cold builds: medians of %d):\n\n", rounds)
		t.Header = append(t.Header, "cold build", "its CPU time")
	} else {
		fmt.Fprint(out, "The same controller:\n\n")
	}
	base := results[0]
	for _, r := range results {
		row := []string{
			r.Name,
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
	t.Print(out)
}
