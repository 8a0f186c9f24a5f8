package workqueue_test

import (
	"context"
	"math"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/workqueue"
)

// behaviour 279
func TestADelayedKeyRunsAtTheEarliestTimeThatWasAskedFor(t *testing.T) {
	const s = time.Second
	for _, test := range []struct {
		name string
		add  func(q *workqueue.Queue[string])
		want time.Duration
	}{
		{"not before its time", func(q *workqueue.Queue[string]) { q.AddAfter("key", 5*s) }, 5 * s},
		{"no delay is immediate", func(q *workqueue.Queue[string]) { q.AddAfter("key", 0) }, 0},
		{"less than no delay too", func(q *workqueue.Queue[string]) { q.AddAfter("key", -s) }, 0},
		{"the second delay is earlier", func(q *workqueue.Queue[string]) {
			q.AddAfter("key", 5*s)
			q.AddAfter("key", 2*s)
		}, 2 * s},
		{"the first delay is earlier", func(q *workqueue.Queue[string]) {
			q.AddAfter("key", 2*s)
			q.AddAfter("key", 5*s)
		}, 2 * s},
		{"an add supersedes the delay", func(q *workqueue.Queue[string]) {
			q.AddAfter("key", 5*s)
			q.Add("key")
		}, 0},
		{"a delay does not defer what is ready", func(q *workqueue.Queue[string]) {
			q.Add("key")
			q.AddAfter("key", 5*s)
		}, 0},
		{"a retry does not defer an earlier delay", func(q *workqueue.Queue[string]) {
			q.AddAfter("key", time.Millisecond)
			q.AddRateLimited("key")
		}, time.Millisecond},
		{"a delay does not defer an earlier retry", func(q *workqueue.Queue[string]) {
			q.AddRateLimited("key")
			q.AddAfter("key", 5*s)
		}, 3 * s},
		{"an add supersedes a retry", func(q *workqueue.Queue[string]) {
			q.AddRateLimited("key")
			q.Add("key")
		}, 0},
		{"the longest delay does not overflow, and can be superseded", func(q *workqueue.Queue[string]) {
			q.AddAfter("key", math.MaxInt64)
			q.AddAfter("key", math.MaxInt64)
			q.AddAfter("key", 7*s)
		}, 7 * s},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := workqueue.New(workqueue.Options[string]{
					Backoff: func(string, int) time.Duration { return 3 * s },
				})
				time.Sleep(s) // the queue is not new
				start := time.Now()
				test.add(q)
				if err := q.Do(t.Context(), func(context.Context, string) error { return nil }); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(start); took != test.want {
					t.Errorf("key ran after %v, want %v", took, test.want)
				}
				wantStats(t, q, workqueue.Stats{}) // and it was the only run
			})
		})
	}
}

// behaviour 279: with a Do waiting already, so that the timer has to follow.
func TestAWaitingDoGetsDelayedKeysInTheOrderOfTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[int]{})
		ctx, cancel := context.WithCancel(t.Context())
		start := time.Now()
		type run struct {
			key   int
			after time.Duration
		}
		var got []run
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for q.Do(ctx, func(_ context.Context, k int) error {
				got = append(got, run{k, time.Since(start)})
				return nil
			}) == nil {
			}
		}()
		synctest.Wait()
		var want []run
		for i := range 100 {
			k := (i*37 + 11) % 100 // each of 0 to 99 once, in no order
			q.AddAfter(k, time.Duration(k)*time.Second)
			want = append(want, run{i, time.Duration(i) * time.Second})
		}
		q.AddAfter(50, 10*time.Second) // moved forward: 10 was there before
		q.AddAfter(20, 90*time.Second) // moved back: no
		want = slices.Insert(slices.DeleteFunc(want, func(r run) bool { return r.key == 50 }), 11, run{50, 10 * time.Second})
		time.Sleep(time.Hour)
		cancel()
		<-ended
		if !slices.Equal(got, want) {
			t.Errorf("keys ran as %v, want %v", got, want)
		}
	})
}

func TestAKeyThatAsksForItselfLaterIsSettledAndRunsThen(t *testing.T) {
	for _, test := range []struct {
		name    string
		delay   time.Duration // asked for at the start of a run that takes a minute
		stats   workqueue.Stats
		runs    time.Duration // after the start of the first run
		failing bool
	}{
		{"its time comes after the run", time.Hour, workqueue.Stats{Delayed: 1}, time.Hour, false},
		{"its time comes during the run", time.Second, workqueue.Stats{Ready: 1}, time.Minute, false},
		{"at once", 0, workqueue.Stats{Ready: 1}, time.Minute, false},
		{"the run fails, and its retry is earlier", time.Hour, workqueue.Stats{Delayed: 1}, time.Minute + time.Second, true},
		{"the run fails, and its retry is later", time.Minute + 1, workqueue.Stats{Delayed: 1}, time.Minute + 1, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := workqueue.New(workqueue.Options[string]{
					Backoff: func(string, int) time.Duration { return time.Second },
				})
				q.Add("key")
				start := time.Now()
				_ = q.Do(t.Context(), func(context.Context, string) error {
					q.AddAfter("key", test.delay)
					time.Sleep(time.Minute)
					if test.failing {
						return errFailed
					}
					return nil
				})
				wantStats(t, q, test.stats)
				_ = q.Do(t.Context(), func(context.Context, string) error { return nil })
				if took := time.Since(start); took != test.runs {
					t.Errorf("key ran again after %v, want %v", took, test.runs)
				}
				wantStats(t, q, workqueue.Stats{})
			})
		})
	}
}

func TestDelaysPassWithoutAWaitingWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{})
		for i := range 3 {
			q.AddAfter(strconv.Itoa(i), time.Duration(3-i)*time.Second)
		}
		time.Sleep(2 * time.Second)
		wantStats(t, q, workqueue.Stats{Ready: 2, Delayed: 1, Oldest: time.Second})
		wantKeys(t, q, "2", "1")
	})
}

// behaviour 282
func TestTheBackoffOfAKeyDoublesWithEachFailureUpToItsMaximum(t *testing.T) {
	type options = workqueue.Options[string]
	for _, test := range []struct {
		name        string
		options     options
		first, most time.Duration
	}{
		{"5 ms to 1000 s by default", options{}, 5 * time.Millisecond, 1000 * time.Second},
		{"as chosen", options{MinBackoff: time.Second, MaxBackoff: 10 * time.Second}, time.Second, 10 * time.Second},
		{"a minimum above the maximum", options{MinBackoff: time.Hour, MaxBackoff: time.Second}, time.Second, time.Second},
		{
			"numbers below 0 count as 0",
			options{MinBackoff: -1, MaxBackoff: -1, RetryRate: -1, RetryBurst: -1},
			5 * time.Millisecond, 1000 * time.Second,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := workqueue.New(test.options)
				q.Add("key")
				fail := func() time.Time {
					_ = q.Do(t.Context(), func(context.Context, string) error { return errFailed })
					return time.Now()
				}
				bound, last, shortest := test.first, fail(), 1.0
				for n := 1; n <= 1000; n++ {
					if got := q.Failures("key"); got != n {
						t.Fatalf("failures are %d, want %d", got, n)
					}
					now := fail()
					d := now.Sub(last)
					if d < bound/2 || d > bound {
						t.Fatalf("delay after failure %d is %v, want %v to %v", n, d, bound/2, bound)
					}
					shortest = min(shortest, float64(d)/float64(bound))
					bound, last = min(2*bound, test.most), now
				}
				if shortest > 0.55 { // of 1000 even draws from 0.5 to 1
					t.Errorf("no delay was below %.2f of its bound: they are not jittered", shortest)
				}
			})
		})
	}
}

// behaviour 282
func TestASuccessForgetsTheFailuresOfItsKeyOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{
			Backoff: func(_ string, failures int) time.Duration { return time.Duration(failures) * time.Second },
		})
		q.Add("a")
		q.Add("b")
		for range 3 {
			ready(t, q, errFailed)
			time.Sleep(time.Minute)
		}
		if a, b := q.Failures("a"), q.Failures("b"); a != 3 || b != 3 {
			t.Fatalf("failures are %d and %d, want 3 and 3", a, b)
		}
		_ = q.Do(t.Context(), func(context.Context, string) error { return nil })
		if a, b := q.Failures("a"), q.Failures("b"); a != 0 || b != 3 {
			t.Errorf("failures are %d and %d, want 0 and 3", a, b)
		}
		wantKeys(t, q, "b")
		q.Add("a")
		ready(t, q, errFailed)
		time.Sleep(time.Second) // the first failure again
		wantKeys(t, q, "a")
	})
}

// behaviour 283: whatever limits somebody wants are a function of the key and its failures, and the queue does what it
// says to the nanosecond.
func TestACustomBackoffIsExact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fastThenSlow := func(k string, failures int) time.Duration {
			switch {
			case k == "impatient":
				return 0
			case failures <= 2:
				return 7 * time.Millisecond
			default:
				return 11 * time.Second
			}
		}
		q := workqueue.New(workqueue.Options[string]{Backoff: fastThenSlow})
		for _, test := range []struct {
			key  string
			want []time.Duration
		}{
			{"key", []time.Duration{7 * time.Millisecond, 7 * time.Millisecond, 11 * time.Second, 11 * time.Second}},
			{"impatient", []time.Duration{0, 0, 0, 0}},
		} {
			q.Add(test.key)
			last := time.Now()
			for i := range len(test.want) + 1 {
				_ = q.Do(t.Context(), func(context.Context, string) error { return errFailed })
				if d := time.Since(last); i > 0 && d != test.want[i-1] {
					t.Errorf("retry %d of %s came after %v, want %v", i, test.key, d, test.want[i-1])
				}
				last = time.Now()
			}
			_ = q.Do(t.Context(), func(context.Context, string) error { return nil })
			wantStats(t, q, workqueue.Stats{})
		}
	})
}

func TestAPanicOfACustomBackoffLosesNoKey(t *testing.T) {
	q := workqueue.New(workqueue.Options[string]{Backoff: func(string, int) time.Duration { panic("oh") }})
	q.Add("key")
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic got lost")
			}
		}()
		_ = q.Do(t.Context(), func(context.Context, string) error { return errFailed })
	}()
	wantKeys(t, q, "key")
}

// behaviour 284
func TestRateLimitedAddsCountFailuresOfTheirKeyOnceEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{
			Backoff: func(_ string, failures int) time.Duration { return time.Duration(failures) * time.Second },
		})
		if n := q.Failures("unknown"); n != 0 {
			t.Errorf("failures of an unknown key are %d", n)
		}
		for range 1000 { // pain: duplicates that grow the delay to hours
			q.AddRateLimited("key")
		}
		if n := q.Failures("key"); n != 1 {
			t.Errorf("failures are %d, want 1: all but the first repeat a pending retry", n)
		}
		wantStats(t, q, workqueue.Stats{Delayed: 1})
		time.Sleep(time.Second)
		q.AddRateLimited("key") // ready: nothing changes
		wantStats(t, q, workqueue.Stats{Ready: 1})
		ready(t, q, errFailed)
		if n := q.Failures("key"); n != 2 {
			t.Errorf("failures are %d, want 2", n)
		}
		time.Sleep(2 * time.Second)
		taken, release := held(t.Context(), q)
		<-taken
		q.AddRateLimited("key") // in progress: one more run, 3 s from now
		if n := q.Failures("key"); n != 3 {
			t.Errorf("failures are %d, want 3", n)
		}
		release(nil) // the run that was in progress succeeds
		if n := q.Failures("key"); n != 0 {
			t.Errorf("failures are %d, want 0", n)
		}
		wantStats(t, q, workqueue.Stats{Delayed: 1})
		time.Sleep(3 * time.Second)
		wantKeys(t, q, "key")
	})
}

// behaviour 285
func TestRateLimitedAddsOfSeveralKeysDoNotAffectEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{
			Backoff: func(_ string, failures int) time.Duration { return time.Duration(failures) * time.Second },
		})
		for range 3 {
			q.AddRateLimited("old")
			time.Sleep(time.Minute)
			ready(t, q, errFailed)
			q.Add("old")
			ready(t, q, errFailed)
			q.Add("old")
		}
		failures := q.Failures("old")
		for _, k := range []string{"a", "b", "c"} {
			q.AddRateLimited(k)
			if n := q.Failures(k); n != 1 {
				t.Errorf("failures of %s are %d, want 1", k, n)
			}
		}
		if n := q.Failures("old"); n != failures {
			t.Errorf("failures of another key went from %d to %d", failures, n)
		}
		wantKeys(t, q, "old")
		time.Sleep(time.Second)
		wantKeys(t, q, "a", "b", "c")
	})
}

func TestAnAddOfAFailingKeyRunsItAtOnceAndKeepsItsFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{Backoff: func(string, int) time.Duration { return time.Hour }})
		q.Add("key")
		ready(t, q, errFailed)
		q.Add("key")
		taken, release := held(t.Context(), q)
		<-taken
		q.Add("key")
		release(errFailed)
		if n := q.Failures("key"); n != 2 {
			t.Errorf("failures are %d, want 2", n)
		}
		wantKeys(t, q, "key") // what was added during the failing run does not wait for its backoff
		wantStats(t, q, workqueue.Stats{})
	})
}
