package cache_test

import (
	"fmt"
	"iter"
	"testing"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/internal/store/storetest"
)

// loops are the ways to go over a store of crowd: each yields the same objects.
func loops(s storetest.Cache[*labelled]) map[string]iter.Seq[*labelled] {
	r := s.Reader()
	selector := func(text string) meta.Selector {
		sel, err := meta.ParseSelector(text)
		if err != nil {
			panic(err)
		}
		return sel
	}
	cache.NewLabelIndex(r, "side")
	byNothing := cache.NewIndex(r, func(*labelled) []string { return []string{"all"} })
	return map[string]iter.Seq[*labelled]{
		"All":                         r.All(),
		"Namespace":                   r.Namespace("ns"),
		"an index":                    byNothing.Get("all"),
		"a selector with an index":    cache.Select(r, selector("side in (left,right)")),
		"a selector without an index": cache.Select(r, selector("name!=nobody")),
	}
}

// crowd fills a store with enough objects of two labels for several chunks, runs and views.
func crowd(s storetest.Cache[*labelled], n int) {
	for i := range n {
		putLabelled(s, fmt.Sprintf("o%d", i), "1", "side="+[]string{"left", "right"}[i%2])
	}
}

// A loop may be left at any object: the iterator must not yield again.
func TestALoopMayBeLeftAnywhere(t *testing.T) {
	for _, n := range []int{20, 3_000} { // few rows, and runs of them
		s := storetest.New[*labelled]()
		crowd(s, n)
		for name, loop := range loops(s) {
			for _, last := range []int{1, n/2 - 1, n / 2, n/2 + 1, n - 1, n} {
				got := 0
				for range loop {
					if got++; got == last {
						break
					}
				}
				if got != last {
					t.Errorf("%s of %d: %d objects before the end, want %d", name, n, got, last)
				}
			}
		}
	}
}

// A loop sees the objects as they were when it began, also if it writes itself.
func TestALoopSeesASnapshot(t *testing.T) {
	const n = 3_000
	for _, name := range []string{"All", "Namespace", "an index", "a selector with an index", "a selector without an index"} {
		s := storetest.New[*labelled]()
		crowd(s, n)
		got := 0
		for o := range loops(s)[name] {
			if got == 0 {
				for i := range n { // one state for another, in place
					putLabelled(s, fmt.Sprintf("o%d", i), "2", "side="+[]string{"left", "right"}[i%2])
				}
			}
			if got++; o.ResourceVersion != "1" {
				t.Fatalf("%s: object %d is in its version %s, of after the loop began", name, got, o.ResourceVersion)
			}
		}
		if got != n {
			t.Errorf("%s: %d objects, want %d", name, got, n)
		}
	}
}
