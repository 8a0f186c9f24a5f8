package workqueue_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/workqueue"
)

var errFailed = errors.New("failed")

// held runs one Do in a goroutine and keeps its key in progress until release is called with what fn shall return.
func held[K comparable](ctx context.Context, q *workqueue.Queue[K]) (taken chan K, release func(error)) {
	taken, outcome := make(chan K, 1), make(chan error)
	go func() {
		_ = q.Do(ctx, func(_ context.Context, k K) error {
			taken <- k
			return <-outcome
		})
	}()
	return taken, func(err error) {
		outcome <- err
		synctest.Wait()
	}
}

// ready takes all keys that are ready, in order, without waiting for any, and lets each run return err.
func ready[K comparable](t *testing.T, q *workqueue.Queue[K], err error) []K {
	t.Helper()
	var keys []K
	for range q.Len() {
		if err := q.Do(t.Context(), func(_ context.Context, k K) error {
			keys = append(keys, k)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	return keys
}

func wantKeys[K comparable](t *testing.T, q *workqueue.Queue[K], want ...K) {
	t.Helper()
	if got := ready(t, q, nil); !slices.Equal(got, want) {
		t.Fatalf("ready keys are %v, want %v", got, want)
	}
}

// wantStats compares all but the times of the keys in progress.
func wantStats[K comparable](t *testing.T, q *workqueue.Queue[K], want workqueue.Stats) {
	t.Helper()
	got := q.Stats()
	got.Longest, got.Unfinished = 0, 0
	if got != want {
		t.Fatalf("stats are %+v, want %+v", got, want)
	}
}

// behaviour 274
func TestAKeyIsReadyOnceHoweverOftenItIsAdded(t *testing.T) {
	q := workqueue.New(workqueue.Options[string]{})
	for range 3 {
		q.Add("a")
		q.Add("b")
		q.Add("a")
	}
	if q.Len() != 2 {
		t.Fatalf("length is %d, want 2", q.Len())
	}
	wantKeys(t, q, "a", "b")
	wantStats(t, q, workqueue.Stats{})
}

// behaviour 272
func TestAKeyIsInProgressOnceHoweverManyWorkersThereAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		var inProgress, runs atomic.Int32
		for range 8 {
			wg.Go(func() {
				for q.Do(ctx, func(context.Context, string) error {
					if n := inProgress.Add(1); n != 1 {
						t.Errorf("key is in progress %d times", n)
					}
					time.Sleep(time.Second)
					inProgress.Add(-1)
					runs.Add(1)
					return nil
				}) == nil {
				}
			})
		}
		for range 100 {
			q.Add("key")
			time.Sleep(300 * time.Millisecond)
		}
		time.Sleep(10 * time.Second)
		cancel()
		wg.Wait()
		if n := runs.Load(); n != 31 { // from 0 s to 29.7 s one after the other, and once more for the last add
			t.Errorf("key ran %d times in a row, want 31", n)
		}
	})
}

// behaviour 273
func TestAddsOfAKeyInProgressGiveExactlyOneMoreRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{})
		q.Add("key")
		taken, release := held(t.Context(), q)
		<-taken
		for range 5 {
			q.Add("key")
		}
		wantStats(t, q, workqueue.Stats{InProgress: 1}) // nobody could take it now
		release(nil)
		wantStats(t, q, workqueue.Stats{Ready: 1})
		wantKeys(t, q, "key")
		wantStats(t, q, workqueue.Stats{})
	})
}

func TestReadyKeysComeInTheOrderInWhichTheyBecameReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{})
		q.Add("held")
		taken, release := held(t.Context(), q)
		<-taken
		q.Add("held") // ready only when it is settled, which is last
		q.AddAfter("second", time.Second)
		q.AddAfter("third", time.Second)
		q.Add("first")
		time.Sleep(time.Second)
		q.Add("fourth")
		release(nil)
		wantKeys(t, q, "first", "second", "third", "fourth", "held")
	})
}

// behaviour 276: whoever stops workers waits for what is in progress; what was added meanwhile stays for others.
func TestEndingWorkersFinishTheirKeysAndTakeNoFurther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{})
		q.Add("a")
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan string, 2)
		go func() {
			for q.Do(ctx, func(context.Context, string) error {
				time.Sleep(time.Minute)
				done <- "a"
				return nil
			}) == nil {
			}
			done <- "worker"
		}()
		synctest.Wait()
		cancel()
		q.Add("a")
		q.Add("b")
		start := time.Now()
		if first, second := <-done, <-done; first != "a" || second != "worker" {
			t.Errorf("%s ended before %s", first, second)
		}
		if took := time.Since(start); took != time.Minute {
			t.Errorf("the run in progress took %v more, want its whole minute", took)
		}
		wantKeys(t, q, "b", "a")
	})
}

// behaviour 277
func TestEveryWaitingDoReturnsWhenItsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				if err := q.Do(ctx, func(context.Context, string) error { return nil }); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got error %v, want the context's", err)
				}
			})
		}
		wg.Wait()
	})
}

// The keys become ready by one event, the timer, and there is one token to wake by: whoever takes a key passes it on.
func TestKeysThatBecomeReadyTogetherWakeAllWaitingWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 8
		q := workqueue.New(workqueue.Options[int]{})
		var releases []func(error)
		for i := range n {
			_, release := held(t.Context(), q)
			releases = append(releases, release)
			q.AddAfter(i, time.Second)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		wantStats(t, q, workqueue.Stats{InProgress: n})
		for _, release := range releases {
			release(nil)
		}
	})
}

// behaviour 277: a key becomes ready at the moment at which contexts end. A worker that was told of it and may not take it
// passes it on.
func TestAKeyIsNotLostToADoThatEndsAtTheSameMoment(t *testing.T) {
	for range 200 {
		synctest.Test(t, func(t *testing.T) {
			q := workqueue.New(workqueue.Options[int]{})
			ended, end := context.WithCancel(t.Context())
			alive, stop := context.WithTimeout(t.Context(), time.Hour)
			defer stop()
			var done atomic.Int32
			var wg sync.WaitGroup
			for i := range 8 {
				ctx := ended
				if i == 7 {
					ctx = alive
				}
				wg.Go(func() {
					for q.Do(ctx, func(context.Context, int) error { done.Add(1); return nil }) == nil {
					}
				})
			}
			synctest.Wait()
			wg.Go(end)
			for i := range 4 {
				wg.Go(func() { q.Add(i) })
			}
			synctest.Wait()
			if done.Load() != 4 || q.Len() != 0 {
				t.Errorf("%d keys were done and %d are left, want 4 and 0", done.Load(), q.Len())
			}
			stop()
			wg.Wait()
		})
	}
}

func TestAnEndedContextTakesNoKeyEvenIfOneIsReady(t *testing.T) {
	q := workqueue.New(workqueue.Options[string]{})
	q.Add("key")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := q.Do(ctx, func(context.Context, string) error { t.Error("the key was taken"); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want the context's", err)
	}
	wantKeys(t, q, "key")
}

// behaviour 293: there is no way to settle a key that one has not taken.
func TestADoInsideADoSettlesItsOwnKeyOnly(t *testing.T) {
	q := workqueue.New(workqueue.Options[string]{})
	q.Add("outer")
	q.Add("inner")
	err := q.Do(t.Context(), func(ctx context.Context, k string) error {
		if err := q.Do(ctx, func(_ context.Context, k string) error {
			wantStats(t, q, workqueue.Stats{InProgress: 2})
			return nil
		}); err != nil {
			t.Error(err)
		}
		wantStats(t, q, workqueue.Stats{InProgress: 1})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	wantStats(t, q, workqueue.Stats{})
}

func TestAFailedRunIsRetriedHoweverItFailed(t *testing.T) {
	for _, test := range []struct {
		name     string
		fn       func() error
		panics   any
		reported error
	}{
		{"an error, which goes to OnError", func() error { return errFailed }, nil, errFailed},
		{"a panic, which goes on to the caller", func() error { panic("oh") }, "oh", nil},
		{"the end of its goroutine", func() error { runtime.Goexit(); return nil }, nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var reported error
				q := workqueue.New(workqueue.Options[string]{OnError: func(k string, err error) {
					if k == "key" {
						reported = err
					}
				}})
				q.Add("key")
				ended := make(chan any)
				go func() {
					defer close(ended)
					defer func() {
						if v := recover(); v != nil {
							ended <- v
						}
					}()
					if err := q.Do(t.Context(), func(context.Context, string) error { return test.fn() }); err != nil {
						t.Errorf("got error %v, want none: a key was settled", err)
					}
				}()
				if v := <-ended; v != test.panics {
					t.Errorf("got panic %v, want %v", v, test.panics)
				}
				if !errors.Is(reported, test.reported) {
					t.Errorf("OnError got %v, want %v", reported, test.reported)
				}
				wantStats(t, q, workqueue.Stats{Delayed: 1})
				if n := q.Failures("key"); n != 1 {
					t.Errorf("failures are %d, want 1", n)
				}
				time.Sleep(5 * time.Millisecond)
				wantKeys(t, q, "key")
			})
		})
	}
}

// behaviour 278
func TestKeysThatAreDoneCanBeCollected(t *testing.T) {
	type key *[1 << 10]byte
	q := workqueue.New(workqueue.Options[key]{MinBackoff: 1, MaxBackoff: 1})
	const n = 100
	collected := make(chan struct{}, n)
	for i := range n {
		k := new([1 << 10]byte)
		runtime.AddCleanup(k, func(struct{}) { collected <- struct{}{} }, struct{}{})
		switch i % 3 {
		case 0:
			q.Add(k)
		case 1:
			q.AddAfter(k, 1)
		case 2:
			q.AddRateLimited(k)
		}
	}
	for range n {
		if err := q.Do(t.Context(), func(context.Context, key) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	tooLong := time.After(time.Minute)
	for i := range n {
		runtime.GC()
		select {
		case <-collected:
		case <-tooLong:
			t.Fatalf("%d of %d keys are kept", n-i, n)
		}
	}
	runtime.KeepAlive(q)
}

func TestStatsTellTheAgeOfTheOldestReadyKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{})
		q.AddAfter("late", 3*time.Second)
		time.Sleep(time.Second)
		q.Add("early")
		wantStats(t, q, workqueue.Stats{Ready: 1, Delayed: 1})
		time.Sleep(4 * time.Second)
		wantStats(t, q, workqueue.Stats{Ready: 2, Oldest: 4 * time.Second})
		_ = q.Do(t.Context(), func(context.Context, string) error { return nil })
		wantStats(t, q, workqueue.Stats{Ready: 1, Oldest: 2 * time.Second}) // since its time came, not since it was added
	})
}

func TestAllKindsOfKeysWork(t *testing.T) {
	type pair struct{ namespace, name string }
	q := workqueue.New(workqueue.Options[any]{})
	for _, k := range []any{1, "1", pair{"a", "b"}, pair{"a", "b"}, nil, [2]int{1, 2}} {
		q.Add(k)
	}
	if got := fmt.Sprint(ready(t, q, nil)); got != "[1 1 {a b} <nil> [1 2]]" {
		t.Errorf("keys are %v", got)
	}
}
