package workqueue

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// letter is the group of a key: "a17" is in group "a".
func letter(k string) string { return k[:1] }

// addAll adds n keys of a group.
func addAll(q *Queue[string], group string, n int) {
	for i := range n {
		q.Add(group + fmt.Sprint(i))
	}
}

// order does n keys with one worker, and returns their groups.
func order(t *testing.T, q *Queue[string], n int) string {
	t.Helper()
	var got strings.Builder
	for range n {
		if err := q.Do(t.Context(), func(_ context.Context, k string) error {
			got.WriteString(letter(k))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := q.check(); err != nil {
		t.Fatal(err)
	}
	return got.String()
}

// inProgress returns how many keys of each group are in progress.
func inProgress(q *Queue[string]) map[string]int {
	n := map[string]int{}
	for _, g := range q.Groups() {
		n[g.Name] = g.InProgress
	}
	return n
}

func TestAGroupGetsNoMoreThanItsShareWhileOthersWait(t *testing.T) {
	for _, test := range []struct {
		name    string
		weights map[string]int
		keys    map[string]int
		workers int
		want    map[string]int // in progress at once
	}{
		{"a lone group has all workers", nil, map[string]int{"a": 100}, 4, map[string]int{"a": 4}},
		{"two groups halve them", nil, map[string]int{"a": 100, "b": 10}, 4, map[string]int{"a": 2, "b": 2}},
		{"the larger part of an odd number goes to the first", nil, map[string]int{"a": 100, "b": 10}, 5, map[string]int{"a": 3, "b": 2}},
		{
			"what a group does not need is for the others", nil,
			map[string]int{"a": 100, "b": 1, "c": 100},
			9,
			map[string]int{"a": 4, "b": 1, "c": 4},
		},
		{
			"more groups than workers", nil,
			map[string]int{"a": 100, "b": 100, "c": 100},
			2,
			map[string]int{"a": 1, "b": 1, "c": 0},
		},
		{
			"weights",
			map[string]int{"a": 3, "b": 1},
			map[string]int{"a": 100, "b": 100},
			8,
			map[string]int{"a": 6, "b": 2},
		},
		{
			"only the ratio of weights counts",
			map[string]int{"a": 90, "b": 30},
			map[string]int{"a": 100, "b": 100},
			8,
			map[string]int{"a": 6, "b": 2},
		},
		{
			"a weight below 1 counts as 1, one above 100 as 100",
			map[string]int{"a": 1000, "b": -1, "c": 0},
			map[string]int{"a": 200, "b": 200, "c": 200},
			102,
			map[string]int{"a": 100, "b": 1, "c": 1},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := Options[string]{Group: letter}
				if test.weights != nil {
					o.Weight = func(group string) int { return test.weights[group] }
				}
				q := New(o)
				for _, group := range slices.Sorted(maps.Keys(test.keys)) {
					addAll(q, group, test.keys[group])
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer synctest.Wait()
				defer cancel()
				for range test.workers {
					go func() {
						_ = q.Do(ctx, func(ctx context.Context, _ string) error { <-ctx.Done(); return nil })
					}()
					synctest.Wait()
				}
				if got := inProgress(q); !maps.Equal(got, test.want) {
					t.Errorf("in progress are %v, want %v", got, test.want)
				}
			})
		})
	}
}

// Keys of a take a minute, those of b a millisecond. With turns alone, a would soon have all workers.
func TestAGroupOfSlowKeysDoesNotCollectTheWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Options[string]{Group: letter})
		addAll(q, "a", 100)
		addAll(q, "b", 100)
		ctx, cancel := context.WithCancel(t.Context())
		var workers sync.WaitGroup
		done := 0
		for range 4 {
			workers.Go(func() {
				_ = q.Work(ctx, func(_ context.Context, k string) error {
					if letter(k) == "a" {
						time.Sleep(time.Minute)
						return nil
					}
					time.Sleep(time.Millisecond)
					if all := q.Groups(); len(all) == 2 && all[1].Ready > 0 && all[0].InProgress > 2 {
						t.Errorf("a has %d workers while b waits", all[0].InProgress)
					}
					q.mu.Lock()
					done++
					q.mu.Unlock()
					return nil
				})
			})
		}
		time.Sleep(time.Second)
		q.mu.Lock()
		if done != 100 {
			t.Errorf("%d keys of b are done after a second, want 100", done)
		}
		q.mu.Unlock()
		synctest.Wait()
		if got := inProgress(q); got["a"] != 4 {
			t.Errorf("b is done, and a has %d workers, want 4", got["a"])
		}
		cancel()
		workers.Wait()
	})
}

func TestGroupsTakeTurns(t *testing.T) {
	for _, test := range []struct {
		name    string
		weights map[string]int
		do      func(q *Queue[string])
		want    string
	}{
		{"one after the other", nil, func(q *Queue[string]) {
			addAll(q, "a", 100)
			addAll(q, "b", 3)
			addAll(q, "c", 2)
		}, "abcabcabaaaa"},
		{"as often as their weights say, and evenly", map[string]int{"a": 3, "b": 1}, func(q *Queue[string]) {
			addAll(q, "a", 100)
			addAll(q, "b", 100)
		}, "aabaaabaaabaaab"},
		{"equal weights are equal, however high", map[string]int{"a": 70, "b": 70}, func(q *Queue[string]) {
			addAll(q, "a", 100)
			addAll(q, "b", 100)
		}, "abababab"},
		{"whatever their priorities", nil, func(q *Queue[string]) {
			for i := range 10 {
				q.AddWith("a"+fmt.Sprint(i), AddOptions{Priority: maxPriority})
				q.AddWith("b"+fmt.Sprint(i), AddOptions{Priority: minPriority})
			}
		}, "abababab"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := Options[string]{Group: letter}
				if test.weights != nil {
					o.Weight = func(group string) int { return test.weights[group] }
				}
				q := New(o)
				test.do(q)
				if got := order(t, q, len(test.want)); got != test.want {
					t.Errorf("the groups came as %s, want %s", got, test.want)
				}
			})
		})
	}
}

func TestAnIdleGroupHoardsNothing(t *testing.T) {
	q := New(Options[string]{Group: letter})
	addAll(q, "a", 1000)
	addAll(q, "b", 1)
	order(t, q, 500)
	addAll(q, "b", 100)
	if got, want := order(t, q, 8), "abababab"; got != want {
		t.Errorf("the groups came as %s, want %s", got, want)
	}
}

// The group is forgotten after each of its runs, so if a group came first because nothing is known of it, a would starve.
func TestAGroupOfOneKeyThatComesAgainGetsItsTurnsAlone(t *testing.T) {
	q := New(Options[string]{Group: letter})
	addAll(q, "a", 100)
	addAll(q, "b", 100)
	got := ""
	for range 10 {
		q.Add("c")
		got += order(t, q, 1)
	}
	if want := "abcabcabca"; got != want {
		t.Errorf("the groups came as %s, want %s", got, want)
	}
}

// Each run brings a new group, which is forgotten after it.
func TestNewGroupsDoNotStarveOthers(t *testing.T) {
	q := New(Options[int]{Group: func(k int) string { return fmt.Sprint(max(k, 0)) }})
	for k := range 10 {
		q.Add(-k)
	}
	old := 0
	for k := range 100 {
		q.Add(2*k + 1)
		q.Add(2*k + 2)
		_ = q.Do(t.Context(), func(_ context.Context, k int) error {
			if k <= 0 {
				old++
			}
			return nil
		})
	}
	if old < 5 {
		t.Errorf("an old group had %d of 100 runs", old)
	}
}

func TestAGroupThatHasHadItsShareKeepsOneTurnAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Options[string]{Group: letter})
		addAll(q, "a", 100)
		release := make(chan struct{})
		var held sync.WaitGroup
		for range 2 {
			held.Go(func() {
				_ = q.Do(t.Context(), func(context.Context, string) error { <-release; return nil })
			})
		}
		synctest.Wait()
		addAll(q, "b", 100)
		if got := order(t, q, 50); strings.Contains(got[:50], "a") {
			t.Errorf("the groups came as %s, and a had two of three workers", got)
		}
		close(release)
		held.Wait()
		if got, want := order(t, q, 8), "abababab"; got != want {
			t.Errorf("the groups came as %s, want %s", got, want)
		}
	})
}

func TestAKeyKeepsItsGroupWhileItIsInTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		group := "old"
		q := New(Options[string]{Group: func(string) string { return group }})
		groupOf := func(want string) {
			t.Helper()
			if i, _ := q.Inspect("k"); i.Group != want {
				t.Errorf("the group is %q, want %q", i.Group, want)
			}
			if err := q.check(); err != nil {
				t.Error(err)
			}
		}
		q.AddAfter("k", time.Hour)
		group = "new"
		q.Add("k")
		groupOf("old")
		_ = q.Do(t.Context(), func(context.Context, string) error {
			q.Add("k")
			groupOf("old")
			return errModel
		})
		q.AddRateLimited("k")
		groupOf("old")
		q.Cancel("k")
		groupOf("")
		q.AddRateLimited("k")
		groupOf("new")
	})
}

func TestTheFunctionsOfGroupsRunWithNoLockHeld(t *testing.T) {
	var q *Queue[string]
	fail := true
	q = New(Options[string]{
		Group: func(k string) string {
			if q.Len(); fail {
				panic("group")
			}
			return letter(k)
		},
		Weight: func(string) int { return q.Len() + 5 },
	})
	for name, add := range map[string]func(){
		"Add":            func() { q.Add("a") },
		"AddAfter":       func() { q.AddAfter("a", time.Second) },
		"AddWith":        func() { q.AddWith("a", AddOptions{}) },
		"AddRateLimited": func() { q.AddRateLimited("a") },
	} {
		func() {
			defer func() {
				if recover() != "group" {
					t.Errorf("the panic did not go to the caller of %s", name)
				}
			}()
			add()
		}()
		if s := q.Stats(); s != (Stats{}) {
			t.Errorf("%s has added something: %+v", name, s)
		}
	}
	fail = false
	q.Add("a")
	if got, want := q.Groups(), []GroupStats{{Name: "a", Weight: 5, Ready: 1}}; got[0].Name != want[0].Name || got[0].Weight != want[0].Weight {
		t.Errorf("groups are %+v, want %+v", got, want)
	}
}

func TestANewWeightCountsFromTheNextKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		weight := 1
		q := New(Options[string]{Group: letter, Weight: func(group string) int {
			if group == "a" {
				return weight
			}
			return 1
		}})
		addAll(q, "a", 100)
		addAll(q, "b", 100)
		order(t, q, 10)
		weight = 3
		q.Add("a new")
		order(t, q, 2) // these turns were given before
		if got := order(t, q, 40); strings.Count(got, "a") != 30 {
			t.Errorf("the groups came as %s, want three times as many of a", got)
		}
	})
}

func TestGroupsThatAreGoneFreeTheirMemory(t *testing.T) {
	const n = 50_000
	q := New(Options[int]{Group: func(k int) string { return fmt.Sprint(k) }})
	before := heapInUse()
	for k := range n {
		q.AddWith(k, AddOptions{Priority: LowPriority})
	}
	if peak := heapInUse() - before; peak < 500*n {
		t.Errorf("%d groups took %d bytes: that is not the peak this test is about", n, peak)
	}
	for range n {
		_ = q.Do(t.Context(), func(context.Context, int) error { return nil })
	}
	if left := heapInUse() - before; left > 500_000 {
		t.Errorf("%d bytes are left of %d groups", left, n)
	}
	if len(q.fair.groups) != 0 || cap(q.fair.below.all) > minRoom {
		t.Errorf("%d groups are left, and room for %d", len(q.fair.groups), cap(q.fair.below.all))
	}
	runtime.KeepAlive(q)
}

func TestASteadyQueueWithGroupsAllocatesNothing(t *testing.T) {
	q, ctx := New(Options[string]{Group: letter, Weight: func(g string) int { return int(g[0]) }}), t.Context()
	fn := func(context.Context, string) error { return nil }
	fewest := 1.0
	for range 100 { // the race detector makes pools forget, so not each call finds a group there
		fewest = min(fewest, testing.AllocsPerRun(1, func() {
			q.Add("a1")
			q.AddWith("b1", AddOptions{Priority: -5})
			q.Add("a2")
			for range 3 {
				_ = q.Do(ctx, fn)
			}
		}))
	}
	if fewest != 0 {
		t.Errorf("%v allocations", fewest)
	}
}

func TestShrinkingKeepsTheGroups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 20_000
		q := New(Options[int]{Group: func(k int) string { return fmt.Sprint(k % 7) }})
		release := make(chan struct{})
		var held sync.WaitGroup
		for k := range n {
			switch {
			case k%1000 == 1: // in progress all the time, and added again
				q.AddWith(k, AddOptions{Priority: maxPriority})
				held.Go(func() {
					_ = q.Do(t.Context(), func(_ context.Context, k int) error {
						q.Add(k)
						<-release
						return nil
					})
				})
				synctest.Wait()
			case k%1000 == 3:
				q.AddAfter(k, time.Hour)
			default:
				q.Add(k)
			}
		}
		shrunk := 0
		for q.Len() > 0 {
			peak := q.store.peak
			if err := q.Do(t.Context(), func(context.Context, int) error { return nil }); err != nil {
				t.Fatal(err)
			}
			if q.store.peak < peak {
				shrunk++
				if err := q.check(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if shrunk == 0 {
			t.Error("the queue never shrank")
		}
		close(release)
		held.Wait()
		for i := range q.Keys() {
			if want := fmt.Sprint(i.Key % 7); i.Group != want {
				t.Errorf("key %d is in group %q, want %q", i.Key, i.Group, want)
			}
		}
		if err := q.check(); err != nil {
			t.Fatal(err)
		}
		for q.Stats() != (Stats{}) {
			if err := q.Do(t.Context(), func(context.Context, int) error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
		if len(q.fair.groups) != 0 || q.fair.weight != 0 {
			t.Errorf("%d groups of weight %d are left", len(q.fair.groups), q.fair.weight)
		}
	})
}

// Both have had their share, and both are below it when the share has grown. The one with the lower load is looked at first.
func TestTheGroupWithTheLowerLoadGoesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Options[string]{Group: letter, Weight: func(group string) int { return map[string]int{"a": 3}[group] }})
		release := make(chan struct{})
		addAll(q, "d", 10)
		addAll(q, "a", 1)
		addAll(q, "b", 1)
		for range 12 {
			go func() {
				_ = q.Do(t.Context(), func(context.Context, string) error { <-release; return nil })
			}()
		}
		synctest.Wait()
		q.Add("b second")
		q.Add("a second")
		q.mu.Lock()
		a, b := q.fair.groups["a"], q.fair.groups["b"]
		b.tag = a.tag - 1
		q.fair.move(a, true)
		q.fair.move(b, true)
		if e := q.next(); e.key != "b second" {
			t.Errorf("%s comes next, want the group with the lower tag", e.key)
		}
		q.mu.Unlock()
		close(release)
	})
}

// A snapshot of the groups has the keys whose time has come, also if nothing has happened to the queue since.
func TestGroupsHaveTheKeysWhoseTimeHasCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Options[string]{Group: letter})
		q.AddAfter("a1", time.Second)
		if got := q.Groups(); len(got) != 0 {
			t.Errorf("groups are %+v, want none", got)
		}
		time.Sleep(3 * time.Second)
		if got, want := q.Groups(), []GroupStats{{Name: "a", Weight: 1, Ready: 1, Oldest: 2 * time.Second}}; !slices.Equal(got, want) {
			t.Errorf("groups are %+v, want %+v", got, want)
		}
	})
}
