package workqueue_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/workqueue"
)

func TestAWorkerNeedsAFunction(t *testing.T) {
	q := workqueue.New(workqueue.Options[string]{})
	q.Add("key")
	for name, call := range map[string]func(context.Context, func(context.Context, string) error) error{
		"Do": q.Do, "Work": q.Work, "Drain": q.Drain,
	} {
		if err := call(t.Context(), nil); err == nil {
			t.Errorf("%s took nil", name)
		}
	}
	wantKeys(t, q, "key")
}

func TestWorkGoesOnUntilItsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reported := 0
		q := workqueue.New(workqueue.Options[int]{OnError: func(int, error) { reported++ }})
		for k := range 10 {
			q.AddAfter(k, time.Duration(k/5)*time.Second)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var got []int
		err := q.Work(ctx, func(_ context.Context, k int) error {
			got = append(got, k)
			switch {
			case k == 3 && q.Failures(3) == 0:
				return errFailed
			case k == 8:
				cancel()
			}
			return nil
		})
		if !errors.Is(err, context.Canceled) || !slices.Equal(got, []int{0, 1, 2, 3, 4, 3, 5, 6, 7, 8}) || reported != 1 {
			t.Errorf("keys %v, error %v, %d reported", got, err, reported)
		}
		wantKeys(t, q, 9)
		wantStats(t, q, workqueue.Stats{})
	})
}

// However a run ends its worker, the key is settled.
func TestWorkSettlesTheKeyOfARunThatEndsIt(t *testing.T) {
	for name, end := range map[string]func(){
		"a panic":                  func() { panic("oh") },
		"the end of its goroutine": runtime.Goexit,
	} {
		for _, drain := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					q := workqueue.New(workqueue.Options[string]{})
					q.Add("good")
					q.Add("bad")
					work := q.Work
					if drain {
						work = q.Drain
					}
					var wg sync.WaitGroup
					wg.Go(func() {
						defer func() { _ = recover() }()
						_ = work(t.Context(), func(_ context.Context, k string) error {
							if k == "bad" {
								end()
							}
							return nil
						})
						t.Error("the worker went on")
					})
					wg.Wait()
					wantStats(t, q, workqueue.Stats{Delayed: 1})
					info, _ := q.Inspect("bad")
					if info.Failures != 1 || info.LastError == nil {
						t.Errorf("of the key is known %+v", info)
					}
					time.Sleep(time.Second)
					wantKeys(t, q, "bad")
				})
			})
		}
	}
}

// behaviour 276: what is ready is worked off, and so is what is added to keys in progress; delays are not waited for.
func TestDrainWorksOffWhatIsReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{})
		q.AddAfter("delayed", time.Hour)
		q.Add("held")
		taken, release := held(t.Context(), q)
		<-taken
		for _, k := range []string{"a", "b", "c"} {
			q.Add(k)
		}
		var mu sync.Mutex
		runs := map[string]int{}
		var wg sync.WaitGroup
		ended := 0
		for range 3 {
			wg.Go(func() {
				if err := q.Drain(t.Context(), func(_ context.Context, k string) error {
					time.Sleep(time.Second)
					mu.Lock()
					defer mu.Unlock()
					if runs[k]++; k == "a" && runs[k] == 1 {
						q.Add("a") // in flight
					}
					if k == "b" {
						return errFailed // retried after 5 ms, when others are still in progress
					}
					return nil
				}); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				ended++
			})
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if ended != 0 || runs["a"] != 2 || runs["c"] != 1 {
			t.Errorf("%d ended, and a key is in progress; runs were %v", ended, runs)
		}
		q.Add("held") // while it is in progress
		release(nil)
		wg.Wait()
		if runs["held"] != 1 {
			t.Errorf("runs were %v", runs)
		}
		if s := q.Stats(); s.Ready != 0 || s.InProgress != 0 || s.Delayed < 1 || s.Delayed > 2 {
			t.Errorf("stats are %+v, want nothing that is ready or in progress, and the delay", s)
		}
		if err := q.Drain(t.Context(), func(_ context.Context, k string) error { t.Error(k); return nil }); err != nil {
			t.Error(err)
		}
	})
}

// behaviour 276: a bound ends the wait. behaviour 277: every waiting Drain returns.
func TestDrainIsBoundedByItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{})
		for _, k := range []string{"a", "b", "c"} {
			q.Add(k)
		}
		taken, release := held(t.Context(), q)
		<-taken
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		start := time.Now()
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if err := q.Drain(ctx, func(_ context.Context, k string) error {
					time.Sleep(time.Minute)
					q.Add(k) // again and again
					return nil
				}); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got error %v, want the context's", err)
				}
			})
		}
		wg.Wait()
		if took := time.Since(start); took != 2*time.Minute { // the second run of each was in progress
			t.Errorf("draining took %v", took)
		}
		wantStats(t, q, workqueue.Stats{Ready: 2, InProgress: 1})
		release(nil)
	})
}

// A Drain that waits for a key in progress ends when the last ready key is cancelled, too.
func TestDrainEndsWhenTheQueueIsEmptyForAnyReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{})
		q.Add("held")
		taken, release := held(t.Context(), q)
		<-taken
		q.Add("held")
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				if err := q.Drain(t.Context(), func(_ context.Context, k string) error { t.Error(k); return nil }); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		q.Cancel("held")
		release(errFailed) // a retry is not waited for
		wg.Wait()
		wantStats(t, q, workqueue.Stats{Delayed: 1})
	})
}

// A Drain needs no timer: it does not wait for delays. It leaves a Do that waits for one alone.
func TestDrainAndDoWaitSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{})
		q.Add("held")
		taken, release := held(t.Context(), q)
		<-taken
		q.AddAfter("delayed", time.Minute)
		start := time.Now()
		var wg sync.WaitGroup
		wg.Go(func() {
			_ = q.Do(t.Context(), func(_ context.Context, k string) error {
				if took := time.Since(start); k != "delayed" || took != time.Minute {
					t.Errorf("%s came after %v", k, took)
				}
				return nil
			})
		})
		synctest.Wait()
		wg.Go(func() {
			_ = q.Drain(t.Context(), func(_ context.Context, k string) error { t.Error(k); return nil })
			if took := time.Since(start); took != time.Second {
				t.Errorf("draining took %v", took)
			}
		})
		time.Sleep(time.Second)
		release(nil)
		wg.Wait()
	})
}

// A queue has no state that workers leave behind: others go on where they have stopped, also with what became due in between.
func TestAQueueIsWorkedOnAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{MinBackoff: time.Second})
		var did []string
		fails := true
		work := func(d time.Duration, run func(ctx context.Context, fn func(context.Context, string) error) error) error {
			ctx, cancel := context.WithTimeout(t.Context(), d)
			defer cancel()
			did = nil
			return run(ctx, func(_ context.Context, k string) error {
				did = append(did, k)
				if k == "fails" && fails {
					return errors.New("so it is")
				}
				return nil
			})
		}
		want := func(what string, err, wantErr error, keys ...string) {
			t.Helper()
			if !errors.Is(err, wantErr) || !slices.Equal(did, keys) {
				t.Errorf("%s: %v, and did %q; want %v and %q", what, err, did, wantErr, keys)
			}
		}
		q.Add("fails")
		q.AddAfter("later", time.Minute)
		want("the first worker", work(10*time.Millisecond, q.Work), context.DeadlineExceeded, "fails")
		time.Sleep(time.Hour) // nobody works
		q.Add("new")
		fails = false
		want("the second worker", work(time.Millisecond, q.Work), context.DeadlineExceeded, "fails", "later", "new")
		if n := q.Failures("fails"); n != 0 || q.Stats().InProgress != 0 {
			t.Errorf("%d failures, %+v", n, q.Stats())
		}
		for range 2 {
			q.Add("a")
			want("a drain", work(time.Second, q.Drain), nil, "a")
		}
		want("a drain of nothing", work(time.Second, q.Drain), nil)
	})
}
