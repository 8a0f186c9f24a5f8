package main

import (
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/internal/proof/bench/builds"
	"github.com/bowline-go/bowline/internal/proof/bench/weight/heap"
)

// A program links the kinds that it names and no others.
func TestAProgramWithPodsLinksNoOtherKind(t *testing.T) {
	results, err := builds.Measure(t.Context(), t.TempDir(), []builds.Program{{Name: "pods", Path: "./whole/builtin"}}, 0, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.ReadFile(results[0].Binary)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Pod", "PodSpec", "Container", "Node", "NodeSpec", "Service", "ServiceSpec", "PersistentVolume", "Secret", "ConfigMap", "Event"} {
		linked := regexp.MustCompile(`core\.` + name + `\b`).Match(binary)
		if want := slices.Contains([]string{"Pod", "PodSpec", "Container"}, name); linked != want {
			t.Errorf("that the program has core.%s is %t, want %t", name, linked, want)
		}
	}
}

// RESULTS.md promises the limits.
func TestBowlinesProgramsStayWithinTheirLimits(t *testing.T) {
	var programs []builds.Program
	for _, task := range tasks {
		programs = append(programs, task.sides[0])
	}
	results, err := builds.Measure(t.Context(), t.TempDir(), programs, 0, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	document, err := os.ReadFile("../RESULTS.md")
	if err != nil {
		t.Fatal(err)
	}
	for i, task := range tasks {
		for _, over := range task.exceeded(results[i]) {
			t.Errorf("%s: %s", task.name, over)
		}
		if !strings.Contains(string(document), "\n"+task.promise()+"\n") {
			t.Errorf("RESULTS.md lacks the row %q", task.promise())
		}
		if r := results[i]; r.Size < task.limit.size/2 || r.Packages < 150 || r.Modules < 2 {
			t.Errorf("%s: %+v is too small to be true", task.name, r)
		}
	}
}

func TestALimitThatIsExceededIsNamed(t *testing.T) {
	one := task{limit: limit{1000, 10, 5}}
	within := builds.Result{Size: 1000, Packages: 10, Modules: 5}
	if over := one.exceeded(within); len(over) > 0 {
		t.Errorf("at the limits: %q", over)
	}
	for name, change := range map[string]func(*builds.Result){
		"binary":   func(r *builds.Result) { r.Size++ },
		"packages": func(r *builds.Result) { r.Packages++ },
		"modules":  func(r *builds.Result) { r.Modules++ },
	} {
		r := within
		change(&r)
		if over := one.exceeded(r); len(over) != 1 || !strings.Contains(over[0], name) {
			t.Errorf("one too many of %s: %q", name, over)
		}
	}
}

func TestTheTableHasEveryProgram(t *testing.T) {
	var out strings.Builder
	var results []builds.Result
	for i, p := range programsOf(tasks) {
		results = append(results, builds.Result{Program: p, Size: int64(i+1) * 1_000_000, Packages: i + 1, Modules: i + 1})
	}
	printBuilds(&out, tasks, results, 0)
	for _, row := range []string{"hello +\\| +Bowline +\\| +1.0 MB", "controller +\\| +Bowline +\\| +4.0 MB", "operator +\\| +Bowline +\\| +7.0 MB", "\\| +\\| +controller-runtime +\\| +9.0 MB", "whole pods +\\| +Bowline, client/builtin +\\| +10.0 MB"} {
		if !regexp.MustCompile(row).MatchString(out.String()) {
			t.Errorf("the table lacks %s:\n%s", row, out.String())
		}
	}
}

func TestTasksAreChosenByTheirNames(t *testing.T) {
	if some, err := chosen("whole pods,hello"); err != nil || len(programsOf(some)) != 5 || some[0].name != "whole pods" {
		t.Errorf("got %v, %+v", err, some)
	}
	if all, err := chosen(""); err != nil || len(all) != len(tasks) {
		t.Errorf("got %v, %+v", err, all)
	}
	if _, err := chosen("hello,nothing"); err == nil || !strings.Contains(err.Error(), `got "nothing"`) {
		t.Errorf("the error is %v", err)
	}
}

// The measurement of heaps from end to end, with few pods: it shows that every side still syncs, not what it costs.
func TestEverySideSyncsItsCache(t *testing.T) {
	const pods = 200
	var progress, out strings.Builder
	results, size, err := measureHeaps(t.Context(), t.TempDir(), pods, 1, &progress)
	if err != nil {
		t.Fatal(err)
	}
	if size < 6500 || size > 7500 {
		t.Errorf("pods have %d bytes, want about 7,000", size)
	}
	printHeaps(&out, results, pods, size, 1)
	for i, c := range contenders {
		f := results[i].Figures
		if f.Objects != pods || f.InUse == 0 || f.Allocated == 0 || f.Allocations == 0 || f.Sync <= 0 {
			t.Errorf("%s: got figures %+v", c.name, f)
		}
		if !strings.Contains(out.String(), "| "+c.name) {
			t.Errorf("the table lacks %s", c.name)
		}
	}
	t.Log("\n" + out.String())
}

func TestACacheWithTheWrongPodsIsNotMeasured(t *testing.T) {
	right := heap.Figures{Objects: 1000, Running: 900, Nodes: 100}
	if err := check(right, 1000); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*heap.Figures){
		"a pod too few":       func(f *heap.Figures) { f.Objects-- },
		"phases that are not": func(f *heap.Figures) { f.Running = 0 },
		"nodes that are not":  func(f *heap.Figures) { f.Nodes = 1 },
	} {
		f := right
		change(&f)
		if check(f, 1000) == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestMediansAreOfEachFigureByItself(t *testing.T) {
	got := medians([]heap.Figures{
		{InUse: 3, Allocated: 1, Allocations: 9, PeakRSS: 4, Sync: time.Second},
		{InUse: 1, Allocated: 2, Allocations: 8, PeakRSS: 6, Sync: 3 * time.Second},
		{InUse: 2, Allocated: 3, Allocations: 7, PeakRSS: 5, Sync: 2 * time.Second},
	})
	if want := (heap.Figures{InUse: 2, Allocated: 2, Allocations: 8, PeakRSS: 5, Sync: 2 * time.Second}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
