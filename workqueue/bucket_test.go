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

// everySecond is a queue whose keys may be retried after a second each, ten together in a second, three at once.
func everySecond() *workqueue.Queue[string] {
	return workqueue.New(workqueue.Options[string]{
		Backoff:   func(string, int) time.Duration { return time.Second },
		RetryRate: 10, RetryBurst: 3,
	})
}

// fail lets n keys fail once each.
func fail(t *testing.T, q *workqueue.Queue[string], n int) {
	t.Helper()
	for i := range n {
		q.Add("failing-" + strconv.Itoa(i))
	}
	if got := len(ready(t, q, errFailed)); got != n {
		t.Fatalf("%d keys ran, want %d", got, n)
	}
}

// behaviour 283: of the key's own delay and the bucket's, the longer counts.
func TestRetriesOfAllKeysTogetherKeepToTheirRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := everySecond()
		start := time.Now()
		fail(t, q, 10)
		var got []time.Duration
		for range 10 {
			_ = q.Do(t.Context(), func(context.Context, string) error {
				got = append(got, time.Since(start).Round(time.Microsecond))
				return nil
			})
		}
		want := []time.Duration{1000, 1000, 1000, 1100, 1200, 1300, 1400, 1500, 1600, 1700}
		for i := range want {
			want[i] *= time.Millisecond
		}
		if !slices.Equal(got, want) {
			t.Errorf("retries came at %v, want %v", got, want)
		}
		wantStats(t, q, workqueue.Stats{})
	})
}

func TestRetriesThatWaitForTheirRateAreSeenAndKeepTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := everySecond()
		fail(t, q, 6)
		wantStats(t, q, workqueue.Stats{Delayed: 6})
		time.Sleep(time.Second)
		wantStats(t, q, workqueue.Stats{Ready: 3, Throttled: 3})
		wantKeys(t, q, "failing-0", "failing-1", "failing-2")
		time.Sleep(101 * time.Millisecond)
		wantKeys(t, q, "failing-3")
		time.Sleep(time.Second)
		wantKeys(t, q, "failing-4", "failing-5")
	})
}

func TestHealthyKeysDoNotWaitForTheRetriesOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := everySecond()
		fail(t, q, 1000) // a hundred seconds' worth
		time.Sleep(2 * time.Second)
		ready(t, q, nil)
		q.Add("healthy")
		wantKeys(t, q, "healthy")
		q.AddAfter("later", 50*time.Millisecond)
		q.AddAfter("failing-999", 60*time.Millisecond) // what was asked for apart from the failure is not limited
		q.AddAfter("failing-998", time.Hour)
		time.Sleep(60 * time.Millisecond)
		wantKeys(t, q, "later", "failing-999")
		q.Add("failing-998")
		wantKeys(t, q, "failing-998")
		throttled := q.Stats().Throttled
		if throttled < 970 {
			t.Errorf("%d keys are throttled, want all the others", throttled)
		}
		start := time.Now()
		for range throttled {
			_ = q.Do(t.Context(), func(context.Context, string) error { return nil })
		}
		if took := time.Since(start).Seconds(); math.Abs(took-float64(throttled)/10) > 0.5 {
			t.Errorf("%d retries at 10 a second took %.1f s", throttled, took)
		}
		wantStats(t, q, workqueue.Stats{})
	})
}

// A retry that a plain delay precedes is over; one that precedes the delay, and then waits for the bucket, is over when
// the delay is.
func TestARetryAndADelayOfOneKeyAreOneRun(t *testing.T) {
	for _, test := range []struct {
		name  string
		delay time.Duration
		want  time.Duration
	}{
		{"the delay comes first", 500 * time.Millisecond, 500 * time.Millisecond},
		{"the retry comes first and has to wait, until the delay comes", 1050 * time.Millisecond, 1050 * time.Millisecond},
		{"the retry comes first and is let through", time.Hour, 1100 * time.Millisecond},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := everySecond()
				start := time.Now()
				fail(t, q, 3) // these use up the burst
				q.AddRateLimited("key")
				q.AddAfter("key", test.delay)
				for {
					var key string
					_ = q.Do(t.Context(), func(_ context.Context, k string) error { key = k; return nil })
					if key == "key" {
						break
					}
				}
				if took := time.Since(start).Round(time.Microsecond); took != test.want {
					t.Errorf("key ran after %v, want %v", took, test.want)
				}
				time.Sleep(time.Hour)
				ready(t, q, nil)
				wantStats(t, q, workqueue.Stats{})
			})
		})
	}
}

func TestARetryThatIsDueDuringARunCountsForThatRunToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := everySecond()
		fail(t, q, 4) // one more than the burst
		q.Add("key")
		taken, release := held(t.Context(), q)
		<-taken
		q.AddRateLimited("key")
		time.Sleep(time.Second)
		ready(t, q, nil)
		wantStats(t, q, workqueue.Stats{InProgress: 1, Throttled: 2})
		release(errFailed)
		wantStats(t, q, workqueue.Stats{Throttled: 2})
		if n := q.Failures("key"); n != 2 {
			t.Errorf("failures are %d, want 2", n)
		}
		time.Sleep(300 * time.Millisecond)
		wantKeys(t, q, "failing-3", "key")
		wantStats(t, q, workqueue.Stats{})
	})
}

// In other queues each request for a retry took a token, so that requests which repeated or replaced a retry
// built up a debt, and the next key to fail waited for hours.
func TestReplacedRetriesDelayNoOtherKey(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func(t *testing.T, q *workqueue.Queue[string])
	}{
		{"a retry that is asked for again and again", func(t *testing.T, q *workqueue.Queue[string]) {
			for range 10_000 {
				q.AddRateLimited("other")
			}
			q.Add("other")
		}},
		{"retries that adds replace", func(t *testing.T, q *workqueue.Queue[string]) {
			for range 1000 {
				fail(t, q, 10)
			}
			for i := range 10 {
				q.Add("failing-" + strconv.Itoa(i))
			}
		}},
		{"retries that adds replace while they wait for the bucket", func(t *testing.T, q *workqueue.Queue[string]) {
			fail(t, q, 100)
			time.Sleep(time.Second)
			for i := range 100 {
				q.Add("failing-" + strconv.Itoa(i))
			}
			ready(t, q, nil)
			time.Sleep(time.Second)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := everySecond()
				test.do(t, q)
				ready(t, q, nil)
				wantStats(t, q, workqueue.Stats{})
				q.Add("key")
				ready(t, q, errFailed)
				start := time.Now()
				_ = q.Do(t.Context(), func(context.Context, string) error { return nil })
				if took := time.Since(start); took != time.Second {
					t.Errorf("the next key to fail was retried after %v, want 1s", took)
				}
			})
		})
	}
}

func TestExtremeRetryRatesDelayNoKeyForLong(t *testing.T) {
	for _, test := range []struct {
		name string
		rate float64
		keys int
		took time.Duration
	}{
		{"infinite", math.Inf(1), 100, time.Second},
		{"not a number", math.NaN(), 100, time.Second},
		{"below 0", -5, 100, time.Second},
		{"the largest", math.MaxFloat64, 100, time.Second},
		{"less than one a second, the first of which is free", 0.5, 3, 5 * time.Second},
		{"so small that only the first comes in a lifetime", math.SmallestNonzeroFloat64, 1, time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := workqueue.New(workqueue.Options[string]{
					Backoff:   func(string, int) time.Duration { return time.Second },
					RetryRate: test.rate,
				})
				fail(t, q, test.keys)
				start := time.Now()
				for range test.keys {
					_ = q.Do(t.Context(), func(context.Context, string) error { return nil })
				}
				if took := time.Since(start).Round(time.Microsecond); took != test.took {
					t.Errorf("retries took %v, want %v", took, test.took)
				}
			})
		})
	}
}
