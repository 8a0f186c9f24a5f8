package workqueue

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// behaviour 284: forgotten keys free memory. BenchmarkMillionKeys prints the figures for a million.
func TestTheQueueShrinksAfterAPeak(t *testing.T) {
	const n = 100_000
	for _, test := range []struct {
		name string
		add  func(q *Queue[int], k int)
	}{
		{"of ready keys", (*Queue[int]).Add},
		{"of delayed keys", func(q *Queue[int], k int) { q.AddAfter(k, time.Duration(k%97)*time.Second) }},
		{"of delayed keys that are added after all", func(q *Queue[int], k int) {
			q.AddAfter(k, time.Hour)
			q.Add(k)
		}},
		{"of retries", (*Queue[int]).AddRateLimited},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := New(Options[int]{})
				before := heapInUse()
				for k := range n {
					test.add(q, k)
				}
				if peak := heapInUse() - before; peak < 50*n {
					t.Errorf("%d keys took %d bytes: that is not the peak this test is about", n, peak)
				}
				for range n {
					if err := q.Do(t.Context(), func(context.Context, int) error { return nil }); err != nil {
						t.Fatal(err)
					}
				}
				if left := heapInUse() - before; left > 200_000 {
					t.Errorf("%d bytes are left of %d keys", left, n)
				}
				if q.store.table.n != 0 || cap(q.delays) > minRoom {
					t.Errorf("%d entries are left, and room for %d delays", q.store.table.n, cap(q.delays))
				}
				runtime.KeepAlive(q)
			})
		})
	}
}

// In a queue of a steady size, nothing is allocated: by Add and Do, by delays that come and go, by a worker that waits, by
// priorities.
func TestASteadyQueueAllocatesNothing(t *testing.T) {
	type key struct{ namespace, name string }
	a, b := key{"default", "a"}, key{"default", "b"}
	for _, test := range []struct {
		name string
		do   func(q *Queue[key], work func())
	}{
		{"add and do", func(q *Queue[key], work func()) {
			q.Add(a)
			work()
		}},
		{"a key that is added again while it is in progress", func(q *Queue[key], work func()) {
			q.Add(b)
			work()
			work()
		}},
		{"delays that are moved and superseded", func(q *Queue[key], work func()) {
			q.AddAfter(a, time.Hour)
			q.Move(a, time.Minute)
			q.Add(a)
			work()
		}},
		{"priorities, and a raise", func(q *Queue[key], work func()) {
			q.AddWith(a, AddOptions{Priority: -5})
			q.AddWith(b, AddOptions{Priority: 5})
			q.AddWith(a, AddOptions{Priority: 10})
			work()
			work()
		}},
		{"questions", func(q *Queue[key], _ func()) {
			_, _ = q.Inspect(a)
			_ = q.Failures(a)
			_ = q.Stats()
			_ = q.Len()
			q.Cancel(a)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			q, ctx := New(Options[key]{}), t.Context()
			again := false
			fn := func(_ context.Context, k key) error {
				if again = !again; again && k == b {
					q.Add(b)
				}
				return nil
			}
			work := func() { _ = q.Do(ctx, fn) }
			if n := testing.AllocsPerRun(100, func() {
				again = false
				test.do(q, work)
			}); n != 0 {
				t.Errorf("%v allocations", n)
			}
			if err := q.check(); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("a worker that waits for each key", func(t *testing.T) {
		q, done := New(Options[key]{}), make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			_ = q.Work(ctx, func(context.Context, key) error {
				done <- struct{}{}
				return nil
			})
		})
		if n := testing.AllocsPerRun(100, func() {
			q.Add(a)
			<-done
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
		cancel()
		wg.Wait()
	})
}

func heapInUse() int64 {
	runtime.GC()
	runtime.GC() // the second one sweeps what the first one found
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// The keys that are left of a peak are copied for a fraction of the deletions only, and keep their places in every list and
// heap.
func TestShrinkingKeepsTheKeysThatAreLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 20_000
		q := New(Options[int]{RetryRate: 1, RetryBurst: 1, Backoff: func(int, int) time.Duration { return time.Second }})
		var want, got, later []int // what is left, in the order in which it shall come and comes; the retries
		release := make(chan struct{})
		var held sync.WaitGroup
		for k := range n {
			switch {
			case k%1000 == 1: // in progress all the time, added again and to be retried
				q.AddWith(k, AddOptions{Priority: maxPriority})
				held.Go(func() {
					_ = q.Do(t.Context(), func(context.Context, int) error {
						q.Add(k)
						<-release
						return errModel
					})
				})
				synctest.Wait()
			case k%1000 == 2:
				q.AddRateLimited(k)
			case k%1000 == 3:
				q.AddAfter(k, time.Hour-time.Duration(k)*time.Millisecond)
			case k%1000 == 4:
				q.AddWith(k, AddOptions{Priority: minPriority})
			default:
				q.Add(k)
			}
		}
		time.Sleep(2 * time.Second) // all retries are due; one has a token, and the next one soon after
		for k := 4; k < n; k += 2000 {
			q.AddWith(k, AddOptions{Priority: minPriority + 1}) // raised
		}
		shrunk := 0
		for q.ready.level(0).list.len > 0 {
			peak := q.store.peak
			if err := q.Do(t.Context(), func(_ context.Context, k int) error {
				if k%1000 == 2 {
					later = append(later, k)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if q.store.peak < peak {
				shrunk++
				if err := q.check(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if shrunk != 2 { // at 2500 of 20,000 and at 312 of 2500
			t.Errorf("the queue shrank %d times, want 2", shrunk)
		}
		if err := q.check(); err != nil {
			t.Fatal(err)
		}
		close(release)
		held.Wait()
		if err := q.check(); err != nil {
			t.Fatal(err)
		}
		for k := 1; k < n; k += 1000 { // at once, at the highest priority
			want = append(want, k)
		}
		for _, first := range []int{4, 1004} { // the raised ones before the others
			for k := first; k < n; k += 2000 {
				want = append(want, k)
			}
		}
		for len(got)+len(later) < 4*n/1000 {
			if err := q.Do(t.Context(), func(_ context.Context, k int) error {
				if k%1000 != 2 {
					got = append(got, k)
				} else {
					later = append(later, k)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		for k := n - 997; k > 0; k -= 1000 { // the later ones have the shorter delays
			want = append(want, k)
		}
		slices.Sort(got[:n/1000]) // they were settled in no order
		if !slices.Equal(got, want) {
			t.Errorf("keys came as\n%v, want\n%v", got, want)
		}
		if !slices.IsSorted(later) || len(later) != n/1000 {
			t.Errorf("retries came as %v", later)
		}
		if q.store.table.n != 0 {
			t.Errorf("%d entries are left", q.store.table.n)
		}
	})
}

// Nothing of the queue runs while no Do waits.
func TestTheTimerRunsOnlyWhileADoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Options[int]{RetryRate: 1, RetryBurst: 1})
		running := func() bool {
			q.mu.Lock()
			defer q.mu.Unlock()
			return q.armed != never
		}
		for k := range 10 {
			q.AddAfter(k, time.Hour)
			q.AddRateLimited(100 + k)
		}
		if q.timer != nil {
			t.Error("there is a timer, and nobody waits")
		}
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				for q.Do(ctx, func(context.Context, int) error { return nil }) == nil {
				}
			})
		}
		time.Sleep(59 * time.Second)
		if !running() {
			t.Error("there is no timer, and somebody waits")
		}
		wg.Wait()
		if running() || q.timer.Stop() {
			t.Error("the timer runs on after the last Do")
		}
	})
}

// behaviour 282: no number of failures overflows.
func TestExponentialNeitherOverflowsNorExceedsItsLimit(t *testing.T) {
	for _, test := range []struct {
		base, limit time.Duration
		failures    int
		want        time.Duration
	}{
		{5, 1000, 0, 5},
		{5, 1000, 1, 5},
		{5, 1000, 2, 10},
		{5, 1000, 8, 640},
		{5, 1000, 9, 1000},
		{5, 1000, 1000, 1000},
		{5, 5, 2, 5},
		{1, never, 62, 1 << 61},
		{1, never, 63, 1 << 62},
		{1, never, 64, never},
		{never, never, 1, never},
		{never, never, 1000, never},
	} {
		if got := exponential(test.base, test.limit, test.failures); got != test.want {
			t.Errorf("exponential(%d, %d, %d) is %d, want %d", test.base, test.limit, test.failures, got, test.want)
		}
		if d := jitter(test.want); d > test.want || d < test.want/2 {
			t.Errorf("jitter(%d) is %d, want half of it to all of it", test.want, d)
		}
	}
}
