package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/internal/proof/bench/builds"
	"github.com/bowline-go/bowline/internal/proof/bench/sample"
)

// All rows from end to end, with small numbers: it shows that every side still does every job, not what that costs. The
// counts of objects, events and final states are checked by the command itself. With -short it measures a cache, a watch
// and a controller.
func TestEveryRowIsMeasured(t *testing.T) {
	selected := rows
	if testing.Short() {
		var err error
		if selected, err = selectRows("projection,watch-protobuf,controller-typed"); err != nil {
			t.Fatal(err)
		}
	}
	var progress, out strings.Builder
	res, err := compare(t.Context(), options{rows: selected, params: short, rounds: 1}, &out, &progress)
	if err != nil {
		t.Fatalf("%v\n%s", err, &progress)
	}
	t.Log("\n" + out.String())

	figures := map[string]line{}
	for _, l := range res.Lines {
		figures[l.Row+": "+l.Figure] = l
		if cold := l.Row == "hello" && l.Figure == "cold build"; l.Measured == cold && !skipped(l) {
			t.Errorf("%s, %s: measured is %v", l.Title, l.Figure, l.Measured)
		}
		if l.ClientGo < 0 || l.Bowline < 0 {
			if l.Figure != "heap growth" { // which a collection may turn around
				t.Errorf("%s, %s: got %v and %v", l.Title, l.Figure, l.ClientGo, l.Bowline)
			}
		}
		if !strings.Contains(out.String(), l.Figure) {
			t.Errorf("the table lacks %s", l.Figure)
		}
		if l.Rounds != 1 || l.Load[0] == "" || l.Load[1] == "" {
			t.Errorf("%s, %s: got %d rounds and loads %q", l.Title, l.Figure, l.Rounds, l.Load)
		}
	}
	asked := func(figure string) bool {
		name, _, _ := strings.Cut(figure, ":")
		return slices.ContainsFunc(selected, func(r row) bool { return r.name == name })
	}
	for name, want := range map[string]struct{ clientgo, bowline float64 }{
		"relist: handler calls":          {float64(short.Pods), 0},
		"slow: final states that arrive": {float64(short.Keys), float64(short.Keys)},
	} {
		if l, found := figures[name]; asked(name) && (!found || l.ClientGo != want.clientgo || l.Bowline != want.bowline) {
			t.Errorf("%s: got %v and %v, want %+v", name, l.ClientGo, l.Bowline, want)
		}
	}
	for _, name := range []string{
		"sync: wall", "sync: CPU", "projection: wall", "projection: live heap an object", "heap: an object", "watch: events a second",
		"watch: allocations an event", "micro: Replace, 2 indexes", "contention: write p99",
		"controller: wall", "controller: CPU", "controller-typed: CPU", "failover: median", "own-write: objects a second, workers: 1",
		"manager: wall", "manager-protobuf: peak RSS", "manager-watch: CPU an event", "manager-read: Get",
		"manager-fields: wall", "manager-fields-protobuf: peak RSS", "manager-fields-watch-protobuf: CPU an event",
		"patch: apply a JSON patch: CPU", "patch: three-way merge: CPU", "hello: linked modules",
	} {
		if l := figures[name]; asked(name) && (l.ClientGo <= 0 || l.Bowline <= 0 || l.Ratio <= 0) {
			t.Errorf("%s: got %+v", name, l)
		}
	}

	path := filepath.Join(t.TempDir(), "figures.json")
	if err := res.save(path); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var saved result
	if err := json.Unmarshal(text, &saved); err != nil {
		t.Fatal(err)
	}
	if len(saved.Lines) != len(res.Lines) || len(saved.Outcomes) != len(res.Outcomes) || saved.Params.Pods != short.Pods {
		t.Errorf("the file has %d lines and %d outcomes, want %d and %d",
			len(saved.Lines), len(saved.Outcomes), len(res.Lines), len(res.Outcomes))
	}
}

// skipped reports whether this system cannot measure the line, because it has no /proc.
func skipped(l line) bool {
	_, err := os.Stat("/proc/self/clear_refs")
	return err != nil && l.Row == "peak"
}

func TestASampleWithWrongCountsIsRefused(t *testing.T) {
	dir := t.TempDir()
	if _, err := builds.Run(t.Context(), nil, "go", "build", "-ldflags=-s -w", "-o", dir+string(filepath.Separator),
		"./sides/projection", "./cmd/server"); err != nil {
		t.Fatal(err)
	}
	const pods = 50
	url, stop, err := startServer(t.Context(), dir, "server", "-pods", fmt.Sprint(pods))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	}()
	c := contender{bowline, "pages", "projection", nil}
	for _, expected := range []int{pods, pods + 10} {
		b := bench{dir: dir, params: sample.Params{Server: url, Pods: expected}, progress: os.Stderr}
		if _, err := b.sample(t.Context(), "project", c); (err == nil) != (expected == pods) {
			t.Errorf("%d pods where %d are expected: got error %v", pods, expected, err)
		}
		answer, err := b.reset(t.Context())
		if err != nil || answer.Asked != "a list in 1 page" {
			t.Errorf("the server was asked for %q, error %v", answer.Asked, err)
		}
	}
}

func TestTheSettingWithTheBetterFirstFigureIsTaken(t *testing.T) {
	of := func(side, job, setting string, wall, heap float64) *outcome {
		return &outcome{Side: side, Job: job, Setting: setting, Medians: map[string]float64{"wall": wall, "heap": heap}}
	}
	outcomes := []*outcome{
		of(clientgo, "sync", "slow", 7, 1), of(bowline, "sync", "", 1, 2), of(clientgo, "sync", "fast", 6, 3), of(clientgo, "other", "", 1, 1),
	}
	r := row{name: "sync", title: "first sync", job: "sync", figures: []figure{
		{"wall", "wall", duration, false, times(6, "6 times faster")},
		{"heap", "heap", bytes, false, atMost(1, "at most 1 B")},
		{"peak", "peak", bytes, false, target{}},
	}}
	if got := chosen(r, clientgo, outcomes); got.Setting != "fast" {
		t.Errorf("took %s", got.Setting)
	}
	r.figures[0].higher = true
	if got := chosen(r, clientgo, outcomes); got.Setting != "slow" {
		t.Errorf("where more is better it took %s", got.Setting)
	}
	r.figures[0].higher = false
	m := measured{outcomes: outcomes[:3], rounds: 3, load: [2]string{"0.10", "1.20"}}
	var out strings.Builder
	got := m.print(&out, r)
	for i, want := range [][]string{
		{"wall", "6.00 s", "1.00 s", "6.00×", "6 times faster", "yes"},
		{"heap", "3 B", "2 B", "1.50×", "at most 1 B", "no"},
		{"peak", "–", "–", "–", "", "not measured"},
	} {
		if cells := got[i].cells(); strings.Join(cells, "|") != strings.Join(want, "|") {
			t.Errorf("got %q, want %q", cells, want)
		}
	}
	if others := m.others(r); len(others) != 1 || !strings.Contains(others[0], "wall 7.00 s, heap 1 B") {
		t.Errorf("others are %q", others)
	}
	for _, want := range []string{
		"## sync: first sync\n", "| wall   |    6.00 s |", "\nMedians of 3. The load of the machine was 0.10 before and 1.20 after.\n",
		"is worse: client-go, : wall 7.00 s",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in:\n%s", want, &out)
		}
	}
}

func TestARoundIsDoneIfThereIsTimeForOneLikeTheLast(t *testing.T) {
	for name, c := range map[string]struct {
		limit, round time.Duration
		want         int
	}{
		"no limit":                  {0, time.Hour, 4},
		"enough for all":            {5 * time.Minute, time.Minute, 4},
		"enough for two and a half": {150 * time.Second, time.Minute, 2},
		"not enough for the first":  {time.Second, time.Minute, 1},
		"enough for one and a bit":  {119 * time.Second, time.Minute, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			done, err := budgetOf(c.limit).repeat(4, func(int) error {
				<-time.After(c.round)
				return nil
			})
			if done != c.want || err != nil {
				t.Errorf("%s: got %d rounds and error %v, want %d", name, done, err, c.want)
			}
		})
	}
	failed := errors.New("failed")
	if done, err := budgetOf(0).repeat(4, func(i int) error {
		if i == 2 {
			return failed
		}
		return nil
	}); done != 2 || err != failed {
		t.Errorf("a failure of the third round: got %d and %v", done, err)
	}
}

// The programs are not there, so a row that is measured would fail.
func TestRowsWithoutTimeAreNamed(t *testing.T) {
	selected, err := selectRows("sync,heap,hello")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		limit := budgetOf(time.Second)
		<-time.After(time.Second)
		var res result
		var out strings.Builder
		b := &bench{dir: t.TempDir(), progress: &out}
		if err := res.take(t.Context(), b, options{rows: selected, rounds: 1, builds: 1}, limit, &out); err != nil {
			t.Fatal(err)
		}
		if want := "\nThere was no time for sync, heap, hello.\n"; out.String() != want {
			t.Errorf("got %q, want %q", &out, want)
		}
	})
}

func TestTargetsSayWhatIsReached(t *testing.T) {
	for name, c := range map[string]struct {
		target            target
		clientgo, bowline float64
		want              bool
	}{
		"exactly a third":         {third, 3, 1, true},
		"more than a third":       {third, 3, 1.1, false},
		"exactly the limit":       {atMost(800, ""), 0, 800, true},
		"above the limit":         {atMost(800, ""), 10_000, 801, false},
		"no calls":                {none, 300, 0, true},
		"one call":                {none, 300, 1, false},
		"five times as many":      {timesMore(5, ""), 2, 10, true},
		"not five times as many":  {timesMore(5, ""), 2, 9.9, false},
		"half, and both are zero": {half, 0, 0, true},
	} {
		if got := c.target.reached(c.clientgo, c.bowline); got != c.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func TestRowsAreSelectedByName(t *testing.T) {
	if got, err := selectRows(""); err != nil || len(got) != len(rows) {
		t.Errorf("no names: got %d rows, error %v", len(got), err)
	}
	if got, err := selectRows("watch,sync"); err != nil || len(got) != 2 || got[0].name != "sync" || got[1].name != "watch" {
		t.Errorf("two names: got %v, error %v", got, err)
	}
	if _, err := selectRows("sync,nonsense"); err == nil || !strings.Contains(err.Error(), `"nonsense"`) {
		t.Errorf("a wrong name: got error %v", err)
	}
}

func TestFiguresArePrintedInTheUnitThatSuitsThem(t *testing.T) {
	for want, got := range map[string]string{
		"5.70 s": duration(5.7), "12.3 ms": duration(0.01234), "304 µs": duration(304e-6), "79.0 ns": nanoseconds(79),
		"800 B": bytes(800), "12,400 B": bytes(12_400), "26.8 MB": bytes(26.8e6), "-0.2 MB": bytes(-2e5), "-5,000 B": bytes(-5000),
		"313,000": count(313_000), "3,700": count(3700.4), "-100": count(-100), "1,000,000": count(1e6), "7.3": count(7.3), "0": count(0),
		"1.25": ratio(1.25), "46.5 kB": kilobytes(46_464), "1,886": rounded(1885.6),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
