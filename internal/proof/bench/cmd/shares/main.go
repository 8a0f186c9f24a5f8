// Command shares compares a replica that holds a quarter of the pods with one that holds all of them, and prints a
// table of medians:
//
//	go run ./cmd/shares           # 100,000 pods, three rounds, a quarter of an hour on two cores that do nothing else
//	go run ./cmd/shares -short    # checks that everything works, in seconds; its figures mean nothing
//
// A sample is one process: an informer of *corev1.Pod without managedFields, in pages of 500, in JSON, with one
// handler. It fills its cache, and then gets one event for each pod of the server; sample.Share says what is measured.
// The sides take turns, in every other round backwards. All read from one server process on loopback (package canned),
// which selects pods by a shard selector for one side, as an API server with KEP-5866 does, and sends everything to the
// others. The number of pods in each cache is checked: a replica has 64 of 256 ranges of uids. client-go cannot share.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/proof/bench/builds"
	"github.com/bowline-go/bowline/internal/proof/bench/canned"
	"github.com/bowline-go/bowline/internal/proof/bench/report"
	"github.com/bowline-go/bowline/internal/proof/bench/sample"
)

// quarter is how many ranges a replica has.
const quarter = meta.RangeCount / 4

// side is a side of the comparison: which of the pods it holds, and how.
type side struct {
	name, program string
	env           string
	ranges        int  // 0 is everything
	selects       bool // whether the server selects
	settings      string
	samples       []map[string]float64
}

func sides() []*side {
	return []*side{
		{name: "client-go, everything", program: "clientgo", env: "KUBE_FEATURE_WatchListClient=false"},
		{name: "Bowline, everything", program: "bowline"},
		{name: "Bowline, a quarter, the server sends everything", program: "bowline", ranges: quarter},
		{name: "Bowline, a quarter, the server selects", program: "bowline", ranges: quarter, selects: true},
	}
}

func main() {
	pods := flag.Int("pods", 100_000, "how many `pods` the server has")
	rounds := flag.Int("rounds", 3, "how many `samples` of each side the medians are of")
	short := flag.Bool("short", false, "a check that all works: few pods, one round")
	flag.Parse()
	if *short {
		*pods, *rounds = 2_000, 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // so that a second signal ends the program at once
	if err := run(ctx, *pods, *rounds, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "shares:", err)
		os.Exit(1)
	}
}

// run builds the programs, takes the samples and prints the table.
func run(ctx context.Context, pods, rounds int, out, progress io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "bowline-shares")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	fmt.Fprintln(progress, "build the sides and the server")
	if _, err := builds.Run(ctx, nil, "go", "build", "-ldflags=-s -w", "-o", dir+string(filepath.Separator),
		"./sides/bowline", "./sides/clientgo", "./cmd/server"); err != nil {
		return err
	}
	server := exec.CommandContext(ctx, filepath.Join(dir, "server"), "-pods", fmt.Sprint(pods))
	server.Stderr = progress
	in, err := server.StdinPipe()
	if err != nil {
		return err
	}
	said, err := server.StdoutPipe()
	if err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close(), server.Wait()) }()
	url, err := bufio.NewReader(said).ReadString('\n')
	if err != nil {
		return fmt.Errorf("read the URL of the server: %w", err)
	}
	m := &meter{dir: dir, url: strings.TrimSpace(url), pods: pods, share: sharing(pods), progress: progress}
	all := sides()
	began, before := time.Now(), report.Load()
	for round := range rounds {
		for i := range all {
			if round%2 == 1 {
				i = len(all) - 1 - i
			}
			fmt.Fprintf(progress, "round %d of %d: %s\n", round+1, rounds, all[i].name)
			if err := m.take(ctx, all[i]); err != nil {
				return fmt.Errorf("measure %s: %w", all[i].name, err)
			}
		}
	}
	fmt.Fprintf(out, "%d pods, %d in the quarter; medians of %d. The load of the machine was %s at the start, and %s at the end, after %v.\n\n",
		pods, m.share, rounds, before, report.Load(), time.Since(began).Round(time.Second))
	table(all).Print(out)
	fmt.Fprintln(out)
	for _, s := range all {
		fmt.Fprintf(out, "- %s: %s\n", s.name, strings.TrimSpace(s.settings))
	}
	return nil
}

// sharing returns how many of the server's pods are in the ranges of a replica.
func sharing(pods int) (n int) {
	for i := range pods {
		if meta.ShardByUID.Range(meta.Identity{UID: canned.UID(i)}) < quarter {
			n++
		}
	}
	return n
}

// meter takes samples.
type meter struct {
	dir, url    string
	pods, share int
	progress    io.Writer
}

// take runs one process.
func (m *meter) take(ctx context.Context, s *side) error {
	if err := m.reset(ctx, s.selects); err != nil {
		return err
	}
	params, err := json.Marshal(sample.Params{Server: m.url, Pods: m.pods, Ranges: s.ranges, Setting: "pages"})
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(m.dir, s.program), "-job", "share", "-params", string(params))
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); !strings.HasPrefix(name, "GO") && !strings.HasPrefix(name, "KUBE") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	cmd.Env = append(cmd.Env, s.env)
	cmd.Stderr = m.progress
	text, err := cmd.Output()
	if err != nil {
		return err
	}
	var r sample.Report
	if err := json.Unmarshal(text, &r); err != nil {
		return fmt.Errorf("read the report: %w", err)
	}
	want := m.pods
	if s.ranges > 0 {
		want = m.share
	}
	for _, name := range []string{"pods", "pods after the watch", "changed"} {
		if r.Counts[name] != want {
			return fmt.Errorf("it counted %v, want %s to be %d", r.Counts, name, want)
		}
	}
	s.settings, s.samples = r.Settings, append(s.samples, r.Figures)
	return nil
}

// reset resets the server, after the last process has left it.
func (m *meter) reset(ctx context.Context, selects bool) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, fmt.Sprintf("%s/control/reset?select=%t", m.url, selects), nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// table returns the medians.
func table(all []*side) report.Table {
	columns := []struct {
		header, figure string
		text           func(float64) string
	}{
		{"live heap", "heap", report.Megabytes[float64]},
		{"RSS after GC", "steady", report.Megabytes[float64]},
		{"peak RSS", "peak", report.Megabytes[float64]},
		{"first sync, CPU", "cpu", seconds},
		{"first sync, wall", "wall", seconds},
		{"first sync, received", "bytes", report.Megabytes[float64]},
		{"1,000 events, CPU", "watch cpu", func(v float64) string { return fmt.Sprintf("%.1f ms", v*1e3) }},
		{"1,000 events, received", "watch bytes", report.Megabytes[float64]},
	}
	t := report.Table{Header: []string{""}}
	for _, c := range columns {
		t.Header = append(t.Header, c.header)
	}
	for _, s := range all {
		row := []string{s.name}
		for _, c := range columns {
			of := func(sample map[string]float64) float64 { return sample[c.figure] }
			row = append(row, c.text(report.MedianOf(s.samples, of)))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func seconds(v float64) string { return fmt.Sprintf("%.2f s", v) }
