package workqueue_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/workqueue"
)

func with(priority int) workqueue.AddOptions { return workqueue.AddOptions{Priority: priority} }

// behaviour 286
func TestAHigherPriorityComesFirst(t *testing.T) {
	type options = workqueue.AddOptions
	for _, test := range []struct {
		name string
		add  func(q *workqueue.Queue[string])
		want []string
	}{
		{"higher first, and in the order of the adds within a priority", func(q *workqueue.Queue[string]) {
			q.AddWith("low 1", with(-1))
			q.Add("normal 1")
			q.AddWith("high 1", with(10))
			q.AddWith("low 2", with(-1))
			q.AddWith("normal 2", with(0))
			q.AddWith("high 2", with(10))
		}, []string{"high 1", "high 2", "normal 1", "normal 2", "low 1", "low 2"}},
		{"a raise moves a ready key forward", func(q *workqueue.Queue[string]) {
			q.Add("a")
			q.Add("b")
			q.Add("c")
			q.AddWith("b", with(1))
		}, []string{"b", "a", "c"}},
		{"the first and the last of a priority, raised", func(q *workqueue.Queue[string]) {
			q.Add("a")
			q.Add("b")
			q.Add("c")
			q.AddWith("c", with(1))
			q.AddWith("a", with(2))
		}, []string{"a", "c", "b"}},
		{"raised twice", func(q *workqueue.Queue[string]) {
			q.AddWith("a", with(-5))
			q.Add("b")
			q.AddWith("c", with(3))
			q.Add("a")
			q.AddWith("a", with(4))
		}, []string{"a", "c", "b"}},
		{"a raise to a priority that others have: the one that became ready first", func(q *workqueue.Queue[string]) {
			q.Add("a")
			q.AddWith("b", with(1))
			q.AddWith("a", with(1))
		}, []string{"a", "b"}},
		{"a lower priority never lowers", func(q *workqueue.Queue[string]) {
			q.AddWith("a", with(1))
			q.AddWith("b", with(2))
			q.Add("a")
			q.AddWith("b", with(-50))
			q.AddWith("c", with(1))
		}, []string{"b", "a", "c"}},
		{"priorities beyond the range count as its ends", func(q *workqueue.Queue[string]) {
			q.AddWith("lowest", with(workqueue.LowPriority))
			q.AddWith("lower still", with(math.MinInt))
			q.AddWith("highest", with(100))
			q.AddWith("higher still", with(math.MaxInt))
		}, []string{"highest", "higher still", "lowest", "lower still"}},
		{"the shorter delay and the higher priority, asked for apart", func(q *workqueue.Queue[string]) {
			q.AddWith("a", options{After: time.Hour, Priority: 5})
			q.Add("b")
			q.Add("a")
		}, []string{"a", "b"}},
		{"the highest that was asked for while it was delayed", func(q *workqueue.Queue[string]) {
			q.AddWith("a", options{After: time.Hour, Priority: -5})
			q.AddWith("a", options{After: 2 * time.Hour, Priority: 5})
			q.AddWith("b", with(4))
			q.AddWith("a", with(-10))
		}, []string{"a", "b"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := workqueue.New(workqueue.Options[string]{})
				test.add(q)
				wantKeys(t, q, test.want...)
				wantStats(t, q, workqueue.Stats{})
			})
		})
	}
}

// behaviour 287
func TestAKeyThatBecomesReadyGoesBeforeThoseOfALowerPriority(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{})
		q.AddWith("held", with(50))
		taken, release := held(t.Context(), q)
		<-taken
		q.AddWith("delayed", workqueue.AddOptions{After: time.Second, Priority: 10})
		q.Add("low")
		q.AddWith("held", with(50)) // in progress: no other worker may have it, whatever its priority
		time.Sleep(time.Second)
		if got := ready(t, q, nil); !slices.Equal(got, []string{"delayed", "low"}) {
			t.Errorf("keys came as %v", got)
		}
		q.Add("low")
		release(nil)
		wantKeys(t, q, "held", "low")
	})
}

// A key that has waited for the ageing counts as one priority higher: one of the next priority overtakes it if it comes
// earlier than that, and else does not.
func TestAWaitingKeyAges(t *testing.T) {
	for _, test := range []struct {
		ageing, want time.Duration // that is set, and that applies
	}{
		{0, 500 * time.Millisecond},
		{-1, 500 * time.Millisecond},
		{time.Nanosecond, time.Nanosecond},
		{time.Minute, time.Minute},
		{math.MaxInt64, 365 * 24 * time.Hour},
	} {
		for _, priorities := range [][2]int{{0, 1}, {-1, 0}, {3, 8}, {workqueue.LowPriority, 100}} {
			for _, early := range []time.Duration{0, 1} {
				t.Run(fmt.Sprint(test.ageing, priorities, early), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						q := workqueue.New(workqueue.Options[string]{Ageing: test.ageing})
						q.AddWith("old", with(priorities[0]))
						time.Sleep(time.Duration(priorities[1]-priorities[0])*test.want - early)
						q.AddWith("new", with(priorities[1]))
						want := []string{"old", "new"}
						if early > 0 {
							want = []string{"new", "old"}
						}
						wantKeys(t, q, want...)
					})
				})
			}
		}
	}
}

// A key of a low priority starves in other queues, if a worker never keeps up with keys of priority 0. Here its wait is bounded by
// the ageing, and by the keys that were ready when it stopped to be overtaken.
func TestNoLoadStarvesALowPriority(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[int]{})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		defer wg.Wait()
		defer cancel()
		wg.Go(func() { // three keys in the time that two take
			for k := 1; ctx.Err() == nil; k++ {
				q.Add(k)
				time.Sleep(20 * time.Millisecond)
			}
		})
		synctest.Wait()
		q.AddWith(0, with(workqueue.LowPriority))
		start, overtaken := time.Now(), 0
		for found := false; !found; {
			_ = q.Do(ctx, func(_ context.Context, k int) error {
				if found = k == 0; !found {
					overtaken++
				}
				time.Sleep(30 * time.Millisecond)
				return nil
			})
		}
		// Those that became ready in the first 50 s are 2500, the one before the key among them.
		if took := time.Since(start); overtaken != 2500 || took != 2501*30*time.Millisecond {
			t.Errorf("the key came after %d others and %v", overtaken, took)
		}
	})
}

// behaviour 302
func TestARetryKeepsThePriorityOfItsRun(t *testing.T) {
	type queue = workqueue.Queue[string]
	for _, test := range []struct {
		name    string
		run     int            // the priority of the run
		in      func(q *queue) // is called during the run
		fails   bool           // the run does
		after   func(q *queue) // is called after it
		want    int            // the priority of the next run
		pending workqueue.Pending
	}{
		{"a high one that fails", 7, nil, true, nil, 7, workqueue.Delayed},
		{"a low one that fails", -7, nil, true, nil, -7, workqueue.Delayed},
		{"a low one that fails and was added meanwhile", -7, func(q *queue) { q.Add("key") }, true, nil, 0, workqueue.Ready},
		{"a high one that fails and was added meanwhile", 7, func(q *queue) { q.Add("key") }, true, nil, 7, workqueue.Ready},
		{"a high one that succeeds and was added meanwhile", 7, func(q *queue) { q.Add("key") }, false, nil, 0, workqueue.Ready},
		{"a low one that asks for a retry", -7, func(q *queue) { q.AddRateLimited("key") }, false, nil, -7, workqueue.Delayed},
		{"a low one that requeues itself with its priority", -7, func(q *queue) {
			info, _ := q.Inspect("key")
			q.AddWith("key", workqueue.AddOptions{After: time.Hour, Priority: info.RunPriority})
		}, false, nil, -7, workqueue.Delayed},
		{"a low one that fails, and is added afterwards", -7, nil, true, func(q *queue) { q.Add("key") }, 0, workqueue.Ready},
		{"a high one that fails, and is added afterwards", 7, nil, true, func(q *queue) { q.Add("key") }, 7, workqueue.Ready},
		{"a low one whose retry is asked for again", -7, nil, true, func(q *queue) { q.AddRateLimited("key") }, 0, workqueue.Delayed},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := workqueue.New(workqueue.Options[string]{})
				q.AddWith("key", with(test.run))
				err := q.Do(t.Context(), func(context.Context, string) error {
					if info, _ := q.Inspect("key"); info.RunPriority != test.run {
						t.Errorf("the run has priority %d, want %d", info.RunPriority, test.run)
					}
					if test.in != nil {
						test.in(q)
					}
					if test.fails {
						return errFailed
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				if test.after != nil {
					test.after(q)
				}
				info, known := q.Inspect("key")
				if !known || info.Priority != test.want || info.Pending != test.pending {
					t.Errorf("the next run is %v with priority %d, want %v with %d", info.Pending, info.Priority, test.pending, test.want)
				}
			})
		})
	}
}

// A key that is done leaves no priority behind.
func TestAPriorityEndsWithItsRun(t *testing.T) {
	q := workqueue.New(workqueue.Options[string]{})
	q.AddWith("a", with(5))
	wantKeys(t, q, "a")
	q.Add("b")
	q.Add("a")
	wantKeys(t, q, "b", "a")
	q.AddWith("a", with(5))
	q.Cancel("a")
	q.Add("b")
	q.Add("a")
	wantKeys(t, q, "b", "a")
}

func TestReadyKeysAreCountedByPriority(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[int]{})
		for k := range 10 {
			q.AddWith(k, workqueue.AddOptions{Priority: k % 3, After: time.Duration(k/8) * time.Hour}) // 8 and 9 are delayed
		}
		want := func(want map[int]int) {
			t.Helper()
			if got := q.ReadyByPriority(); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("counts are %v, want %v", got, want)
			}
		}
		want(map[int]int{0: 3, 1: 3, 2: 2})
		q.AddWith(0, with(2))
		q.Cancel(1)
		want(map[int]int{0: 2, 1: 2, 2: 3})
		ready(t, q, nil)
		want(nil)
		time.Sleep(time.Hour)
		want(map[int]int{0: 1, 2: 1})
	})
}
