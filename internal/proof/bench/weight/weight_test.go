package main

import (
	"strings"
	"testing"
	"time"

	"github.com/bowline-go/bowline/internal/proof/bench/weight/heap"
)

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
