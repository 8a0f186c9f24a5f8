package workqueue

import (
	"context"
	"errors"
	"runtime"
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
				if len(q.entries) != 0 || cap(q.delays) > minRoom {
					t.Errorf("%d entries are left, and room for %d delays", len(q.entries), cap(q.delays))
				}
				runtime.KeepAlive(q)
			})
		})
	}
}

func heapInUse() int64 {
	runtime.GC()
	runtime.GC() // the second one sweeps what the first one found
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// The shrinking map is copied for a fraction of the deletions only, and loses nothing while it is.
func TestShrinkingKeepsTheKeysThatAreLeft(t *testing.T) {
	q := New(Options[int]{})
	for k := range 20_000 {
		q.Add(k)
		q.AddAfter(-1-k%100, time.Hour)
	}
	maps := 0
	for k := range 20_000 {
		before := q.peak
		if err := q.Do(t.Context(), func(context.Context, int) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if q.peak != before {
			maps++
		}
		if want := 20_000 - k - 1 + 100; len(q.entries) != want {
			t.Fatalf("%d entries after %d keys, want %d", len(q.entries), k+1, want)
		}
	}
	if maps != 2 { // at 2512 of 20,100 and at 314 of 2512
		t.Errorf("the map was made again %d times, want 2", maps)
	}
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

// The invariants that Queue.mu protects, for the tests that go through many states.
func (q *Queue[K]) check() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	running, ready, throttled, delayed := 0, 0, 0, 0
	for k, e := range q.entries {
		if e.key != k {
			return errors.New("an entry is under another's key")
		}
		if e.running {
			running++
		}
		if e.ready && !e.running {
			ready++
		}
		if e.throttled {
			throttled++
		}
		if e.index >= 0 {
			delayed++
			if q.delays[e.index] != e {
				return errors.New("an entry does not know its place in the heap")
			}
		}
		switch {
		case !e.running && !e.ready && !e.throttled && e.index < 0:
			return errors.New("an entry is there for nothing")
		case e.ready && (e.throttled || e.index >= 0 || e.retry != never):
			return errors.New("a ready entry waits")
		case !e.ready && (e.at() != never) != (e.index >= 0):
			return errors.New("an entry is in the heap without a time, or not there with one")
		case e.throttled && e.retry != never:
			return errors.New("a throttled entry has another retry")
		}
	}
	count := func(l list[K]) (n int) {
		for e := l.first; e != nil; e = e.next {
			n++
			if e.next == nil && l.last != e {
				return -1
			}
		}
		return n
	}
	if running != q.inProgress || ready != q.ready.len || ready != count(q.ready) ||
		throttled != q.throttled.len || throttled != count(q.throttled) || delayed != len(q.delays) {
		return errors.New("the counts do not match the entries")
	}
	if q.waiting == 0 && q.armed != never {
		return errors.New("the timer runs though nobody waits")
	}
	if q.waiting > 0 && len(q.delays) > 0 && q.armed > q.delays[0].at() {
		return errors.New("the timer is too late")
	}
	return nil
}
