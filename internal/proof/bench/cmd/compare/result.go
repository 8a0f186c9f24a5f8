package main

// This file makes the tables from the medians.

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
	Left     []string `json:",omitempty"` // the rows for which there was no time
	Outcomes []*outcome
}

// measured has the results of a job.
type measured struct {
	outcomes []*outcome
	rounds   int // 0 if there was no time
	load     [2]string
}

// line is one figure of one row.
type line struct {
	Row, Title, Figure string
	Rounds             int       // the samples of which it is the median
	Load               [2]string // of the machine, before and after the row's samples
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

// lines returns the lines of a row.
func (m measured) lines(r row) []line {
	var all []line
	c, b := chosen(r, clientgo, m.outcomes), chosen(r, bowline, m.outcomes)
	for _, f := range r.figures {
		l := line{Row: r.name, Title: r.title, Figure: f.name, Rounds: m.rounds, Load: m.load, Target: f.target.text, figure: f}
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
	return all
}

// cells returns the line of the table.
func (l line) cells() []string {
	if !l.Measured {
		return []string{l.Figure, "–", "–", "–", l.Target, "not measured"}
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
	return []string{l.Figure, l.figure.unit(l.ClientGo), l.figure.unit(l.Bowline), ratio, l.Target, reached}
}

// print writes the table of a row, its settings, and the results of other settings. It returns the lines of the table.
func (m measured) print(out io.Writer, r row) []line {
	fmt.Fprintf(out, "\n## %s: %s\n\n", r.name, r.title)
	all := m.lines(r)
	t := report.Table{Header: []string{"figure", clientgo, bowline, "ratio", "target", "reached"}}
	for _, l := range all {
		t.Rows = append(t.Rows, l.cells())
	}
	t.Print(out)
	fmt.Fprintf(out, "\nMedians of %d. The load of the machine was %s before and %s after.\n\n", m.rounds, m.load[0], m.load[1])
	for _, side := range []string{clientgo, bowline} {
		fmt.Fprintf(out, "- %s: %s\n", side, chosen(r, side, m.outcomes).settings())
	}
	for _, other := range m.others(r) {
		fmt.Fprintf(out, "- not in the table, because the first figure is worse: %s\n", other)
	}
	if r.why != "" {
		fmt.Fprintf(out, "- why: %s\n", r.why)
	}
	return all
}

// printHead writes what is common to all rows.
func (res result) printHead(out io.Writer) {
	p := res.Params
	fmt.Fprintf(out, "%s pods; %s watch events; %s updates of %s keys; Replace of %s objects, the other cache "+
		"figures with %s; %d readers of %s objects, a list in %v each, and %s writes a second for %v. A ratio says how many times "+
		"as good Bowline's figure is.\n\n%s\n",
		count(float64(p.Pods)), count(float64(p.Events)), count(float64(p.Updates)), count(float64(p.Keys)),
		count(float64(p.Replace)), count(float64(p.Objects)), p.Readers, count(float64(p.Listed)), p.Every,
		count(float64(p.Writes)), p.Duration, res.Versions)
}

// printLeft names the rows for which there was no time.
func (res result) printLeft(out io.Writer) {
	if len(res.Left) > 0 {
		fmt.Fprintf(out, "\nThere was no time for %s.\n", strings.Join(res.Left, ", "))
	}
}

// others returns the results of the settings that were not chosen.
func (m measured) others(r row) []string {
	var all []string
	for _, o := range m.outcomes {
		if r.against != "" || o == chosen(r, o.Side, m.outcomes) {
			continue
		}
		var figures []string
		for _, f := range r.figures {
			if v, measured := o.Medians[f.key]; measured {
				figures = append(figures, f.name+" "+f.unit(v))
			}
		}
		all = append(all, fmt.Sprintf("%s, %s: %s", o.Side, o.settings(), strings.Join(figures, ", ")))
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
