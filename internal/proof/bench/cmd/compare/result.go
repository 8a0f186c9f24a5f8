package main

// From medians to the table.

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/bowline-go/bowline/internal/proof/bench/report"
	"github.com/bowline-go/bowline/internal/proof/bench/sample"
)

// result holds the results of a run, as they go into the JSON file. Times are in seconds unless a figure's name has
// another unit, sizes in bytes.
type result struct {
	Versions string
	Rounds   int
	Params   sample.Params
	Lines    []line
	Outcomes []*outcome
}

// line is one figure of one row.
type line struct {
	Row, Title, Figure string
	ClientGo, Bowline  float64
	// Ratio is how many times better Bowline's figure is; 0 if that is unknown.
	Ratio    float64
	Target   string `json:",omitempty"`
	Reached  bool
	Measured bool // on this system, with these flags, by both sides

	figure figure
}

// chosen returns the outcome of a side in a row: among several settings, the one with the best first figure.
func chosen(r row, side string, outcomes []*outcome) *outcome {
	var best *outcome
	key, higher := r.figures[0].key, r.figures[0].higher
	for _, o := range outcomes {
		if o.Job != r.job || o.Side != side || side == clientgo && r.against != "" && o.Setting != r.against {
			continue
		}
		if best == nil || o.Medians[key] != best.Medians[key] && (o.Medians[key] > best.Medians[key]) == higher {
			best = o
		}
	}
	return best
}

func lines(selected []row, outcomes []*outcome) []line {
	var all []line
	for _, r := range selected {
		c, b := chosen(r, clientgo, outcomes), chosen(r, bowline, outcomes)
		for _, f := range r.figures {
			l := line{Row: r.name, Title: r.title, Figure: f.name, Target: f.target.text, figure: f}
			var measured [2]bool
			l.ClientGo, measured[0] = c.Medians[f.key]
			l.Bowline, measured[1] = b.Medians[f.key]
			l.Measured = measured[0] && measured[1]
			better, worse := l.Bowline, l.ClientGo
			if f.higher {
				better, worse = worse, better
			}
			if better > 0 && worse > 0 {
				l.Ratio = worse / better
			}
			l.Reached = l.Measured && f.target.reached != nil && f.target.reached(l.ClientGo, l.Bowline)
			all = append(all, l)
		}
	}
	return all
}

// cells returns the line of the table.
func (l line) cells() []string {
	if !l.Measured {
		return []string{l.Title, l.Figure, "–", "–", "–", l.Target, "not measured"}
	}
	ratio, reached := "–", ""
	if l.Ratio > 0 {
		ratio = digits(l.Ratio) + "×"
	}
	switch {
	case l.Target == "":
	case l.Reached:
		reached = "yes"
	default:
		reached = "no"
	}
	return []string{l.Title, l.Figure, l.figure.unit(l.ClientGo), l.figure.unit(l.Bowline), ratio, l.Target, reached}
}

// print writes the table, the settings under it, and the results of other settings.
func (res result) print(out io.Writer, selected []row) {
	t := report.Table{Header: []string{"row", "figure", "client-go", "Bowline", "ratio", "target", "reached"}, Left: 2}
	title := ""
	for _, l := range res.Lines {
		cells := l.cells()
		if cells[0] == title {
			cells[0] = ""
		} else {
			title = cells[0]
		}
		t.Rows = append(t.Rows, cells)
	}
	t.Print(out)

	p := res.Params
	fmt.Fprintf(out, "\nMedians of %d; %s pods; %s watch events; %s updates of %s keys; Replace of %s objects, the other cache "+
		"figures with %s; %d readers of %s objects, a list in %v each, and %s writes a second for %v. A ratio says how many times "+
		"as good Bowline's figure is.\n%s\n",
		res.Rounds, count(float64(p.Pods)), count(float64(p.Events)), count(float64(p.Updates)), count(float64(p.Keys)),
		count(float64(p.Replace)), count(float64(p.Objects)), p.Readers, count(float64(p.Listed)), p.Every,
		count(float64(p.Writes)), p.Duration, res.Versions)

	for _, r := range selected {
		if r.why != "" {
			fmt.Fprintf(out, "\nWhy, %s: %s.\n", r.title, r.why)
		}
	}
	fmt.Fprint(out, "\nSettings:\n\n")
	for _, r := range selected {
		fmt.Fprintf(out, "- %s: client-go: %s; Bowline: %s\n", r.title,
			chosen(r, clientgo, res.Outcomes).settings(), chosen(r, bowline, res.Outcomes).settings())
	}
	if others := res.others(selected); len(others) > 0 {
		fmt.Fprint(out, "\nSettings that were tried as well, and are not in the table because the row's first figure is worse:\n\n")
		for _, other := range others {
			fmt.Fprintln(out, "- "+other)
		}
	}
}

// others returns the results of the settings that were not chosen.
func (res result) others(selected []row) []string {
	var all []string
	for _, r := range selected {
		for _, o := range res.Outcomes {
			if o.Job != r.job || r.against != "" || o == chosen(r, o.Side, res.Outcomes) {
				continue
			}
			var figures []string
			for _, f := range r.figures {
				if v, measured := o.Medians[f.key]; measured {
					figures = append(figures, f.name+" "+f.unit(v))
				}
			}
			all = append(all, fmt.Sprintf("%s: %s, %s: %s", r.title, o.Side, o.settings(), strings.Join(figures, ", ")))
		}
	}
	return all
}

// settings returns the settings of the outcome, and the server's view of it.
func (o *outcome) settings() string {
	if o.Asked == "" {
		return o.Settings
	}
	return o.Settings + " (the server was asked for " + o.Asked + ")"
}

func (res result) save(path string) error {
	text, err := json.MarshalIndent(res, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}
