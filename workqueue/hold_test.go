package workqueue_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/internal/proof/histories"
	"github.com/bowline-go/bowline/workqueue"
)

// aside takes the next key and holds it for d; err is what the run returns.
func aside(t *testing.T, q *workqueue.Queue[string], d time.Duration, err error) {
	t.Helper()
	if err := q.Do(t.Context(), func(_ context.Context, k string) error {
		q.Hold(k, d)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

func TestAHeldKeyWaitsWhateverIsAdded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{})
		q.Add("a")
		aside(t, q, time.Minute, nil)
		wantStats(t, q, workqueue.Stats{Held: 1})
		q.Add("a")
		q.AddAfter("a", 0)
		q.AddAfter("a", time.Second)
		q.AddRateLimited("a")
		q.Add("b") // others go on
		wantKeys(t, q, "b")
		time.Sleep(time.Minute - time.Nanosecond)
		wantStats(t, q, workqueue.Stats{Held: 1})
		time.Sleep(1 + time.Second)
		wantStats(t, q, workqueue.Stats{Ready: 1, Oldest: time.Second})
		wantKeys(t, q, "a")
		time.Sleep(time.Hour)
		wantStats(t, q, workqueue.Stats{}) // one run has served all
	})
}

func TestReleaseEndsAHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{})
		q.Release("a") // nobody knows it
		q.Hold("a", time.Minute)
		wantStats(t, q, workqueue.Stats{})
		q.AddAfter("a", time.Second)
		q.Hold("a", time.Minute) // it is not in progress
		q.Release("a")
		wantStats(t, q, workqueue.Stats{Delayed: 1})
		time.Sleep(time.Second)
		aside(t, q, time.Minute, nil)
		q.Release("a")
		q.Release("a")
		wantStats(t, q, workqueue.Stats{Ready: 1})
		wantKeys(t, q, "a")
		time.Sleep(time.Hour)
		wantStats(t, q, workqueue.Stats{})
	})
}

// A worker that waits is woken by the end of a hold, and by Release.
func TestTheEndOfAHoldWakesAWorker(t *testing.T) {
	for _, early := range []bool{true, false} {
		t.Run(fmt.Sprint("released ", early), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := workqueue.New(workqueue.Options[string]{})
				q.Add("a")
				aside(t, q, time.Minute, nil)
				taken, release := held(t.Context(), q)
				synctest.Wait()
				want := time.Minute
				if early {
					want = time.Second
					time.Sleep(want)
					q.Release("a")
				}
				began := time.Now()
				<-taken
				if took := time.Since(began); !early && took != want || early && took != 0 {
					t.Errorf("it took %v", took)
				}
				release(nil)
			})
		})
	}
}

func TestAHoldIsCountedFromTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{})
		q.Add("a")
		_ = q.Do(t.Context(), func(_ context.Context, k string) error {
			time.Sleep(time.Hour)
			q.Hold(k, time.Minute)
			return nil
		})
		time.Sleep(time.Minute - time.Nanosecond)
		wantStats(t, q, workqueue.Stats{Held: 1})
		time.Sleep(time.Nanosecond)
		wantStats(t, q, workqueue.Stats{Ready: 1})
	})
}

// The hold may end, and be ended, while the function that asked for it still runs.
func TestAHoldMayEndWithinTheRunThatAskedForIt(t *testing.T) {
	for name, end := range map[string]func(q *workqueue.Queue[string]){
		"by Release": func(q *workqueue.Queue[string]) { q.Release("a") },
		"by time":    func(*workqueue.Queue[string]) { time.Sleep(time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := workqueue.New(workqueue.Options[string]{})
				q.AddRateLimited("a")
				time.Sleep(time.Second)
				_ = q.Do(t.Context(), func(_ context.Context, k string) error {
					q.Hold(k, time.Minute)
					q.Hold(k, time.Minute)
					end(q)
					wantStats(t, q, workqueue.Stats{InProgress: 1})
					return nil
				})
				if n := q.Failures("a"); n != 1 {
					t.Errorf("%d failures, want the one from before", n)
				}
				wantStats(t, q, workqueue.Stats{Ready: 1})
				wantKeys(t, q, "a")
				wantStats(t, q, workqueue.Stats{})
			})
		})
	}
}

func TestAHoldKeepsTheFailuresOfItsKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{MinBackoff: time.Second, MaxBackoff: time.Second})
		q.Add("a")
		ready(t, q, errFailed)
		time.Sleep(time.Second)
		aside(t, q, time.Minute, nil)
		if n := q.Failures("a"); n != 1 {
			t.Errorf("%d failures, want 1", n)
		}
		time.Sleep(time.Minute)
		aside(t, q, time.Minute, errFailed) // counted, and held all the same
		wantStats(t, q, workqueue.Stats{Held: 1})
		if n := q.Failures("a"); n != 2 {
			t.Errorf("%d failures, want 2", n)
		}
		time.Sleep(time.Minute)
		_ = q.Do(t.Context(), func(_ context.Context, k string) error {
			q.AddAfter(k, time.Hour)
			return nil
		})
		if n := q.Failures("a"); n != 0 {
			t.Errorf("%d failures after a success", n)
		}
	})
}

// A retry that waits for its token while its key is in progress is served by the run after the hold.
func TestAHoldSupersedesAThrottledRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{MinBackoff: 1, MaxBackoff: 1, RetryRate: 1e-6, RetryBurst: 1})
		q.AddRateLimited("b") // takes the token
		time.Sleep(time.Second)
		wantKeys(t, q, "b")
		q.Add("a")
		_ = q.Do(t.Context(), func(_ context.Context, k string) error {
			q.AddRateLimited(k)
			time.Sleep(time.Second)
			wantStats(t, q, workqueue.Stats{InProgress: 1, Throttled: 1})
			q.Hold(k, time.Minute)
			return nil
		})
		wantStats(t, q, workqueue.Stats{Held: 1})
		time.Sleep(time.Minute)
		wantKeys(t, q, "a")
		time.Sleep(time.Hour)
		wantStats(t, q, workqueue.Stats{})
		q.AddRateLimited("a")
		wantStats(t, q, workqueue.Stats{Delayed: 1})
	})
}

// Random programs with holds: no request is lost, no key is in progress twice, none runs while it is held, and nothing stays.
func TestRandomProgramsWithHoldsLoseNoRequest(t *testing.T) {
	for seed := range histories.Seeds(200) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0))
			q := workqueue.New(workqueue.Options[int]{MinBackoff: time.Second, MaxBackoff: time.Second})
			ctx, cancel := context.WithCancel(t.Context())
			var (
				mu      sync.Mutex
				owed    [4]bool // there was a request that no run has begun to serve
				running [4]bool
				until   [4]time.Time // of the hold
				wg      sync.WaitGroup
			)
			for range 2 {
				wg.Go(func() {
					for q.Do(ctx, func(_ context.Context, k int) error {
						mu.Lock()
						hold, fails, takes := r.IntN(3) == 0, r.IntN(3) == 0, time.Duration(r.IntN(3))*time.Second
						if running[k] {
							t.Errorf("seed %d: key %d is in progress twice", seed, k)
						}
						if time.Now().Before(until[k]) {
							t.Errorf("seed %d: key %d runs %v before its hold ends", seed, k, time.Until(until[k]))
						}
						until[k] = time.Time{}
						running[k] = true
						if hold {
							d := time.Duration(r.IntN(5)) * time.Second
							until[k] = time.Now().Add(d)
							q.Hold(k, d)
						} else {
							owed[k] = false
						}
						mu.Unlock()
						time.Sleep(takes)
						mu.Lock()
						defer mu.Unlock()
						running[k] = false
						if fails {
							return errFailed
						}
						return nil
					}) == nil {
					}
				})
			}
			for range 40 {
				mu.Lock()
				k := r.IntN(4)
				switch r.IntN(4) {
				case 0:
					owed[k] = true
					q.Add(k)
				case 1:
					owed[k] = true
					q.AddAfter(k, time.Duration(r.IntN(4))*time.Second)
				case 2:
					owed[k] = true
					q.AddRateLimited(k)
				case 3:
					until[k] = time.Time{}
					q.Release(k)
				}
				pause := time.Duration(r.IntN(2)) * time.Second
				mu.Unlock()
				time.Sleep(pause)
			}
			time.Sleep(time.Hour)
			if got := q.Stats(); got != (workqueue.Stats{}) || owed != [4]bool{} {
				t.Errorf("seed %d: left are %+v, and owed %v", seed, got, owed)
			}
			cancel()
			wg.Wait()
		})
	}
}
