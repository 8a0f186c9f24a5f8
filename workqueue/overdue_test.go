package workqueue_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/workqueue"
)

// A time that has passed is at once. A time that stays in the past must not keep a worker busy.
func TestAKeyThatIsOverdueAgainAndAgainWaitsLikeOneThatFails(t *testing.T) {
	const s = time.Second
	overdue := func(q *workqueue.Queue[string], k string) error { q.AddOverdue(k, 0); return nil }
	later := func(q *workqueue.Queue[string], k string) error { q.AddAfter(k, 10*s); return nil }
	failed := func(*workqueue.Queue[string], string) error { return errors.New("failed") }
	for _, test := range []struct {
		name string
		runs []func(q *workqueue.Queue[string], k string) error
		want []time.Duration // after the run before
	}{
		{"the first time is at once", []func(*workqueue.Queue[string], string) error{overdue}, []time.Duration{0, 0}},
		{
			"further times wait by the backoff", slices.Repeat([]func(*workqueue.Queue[string], string) error{overdue}, 6),
			[]time.Duration{0, 0, 1 * s, 2 * s, 4 * s, 8 * s, 10 * s},
		},
		{
			"a run that asks for a time to come ends the row",
			[]func(*workqueue.Queue[string], string) error{overdue, overdue, later, overdue, overdue},
			[]time.Duration{0, 0, 1 * s, 10 * s, 0, 1 * s},
		},
		{
			"a run that fails does not",
			[]func(*workqueue.Queue[string], string) error{overdue, overdue, failed, overdue, overdue},
			[]time.Duration{0, 0, 1 * s, 1 * s, 2 * s, 4 * s},
		},
		{
			"a second call in a run counts nothing",
			[]func(*workqueue.Queue[string], string) error{
				func(q *workqueue.Queue[string], k string) error { q.AddOverdue(k, 0); return overdue(q, k) }, overdue,
			},
			[]time.Duration{0, 0, 1 * s},
		},
		{
			"an earlier request counts",
			[]func(*workqueue.Queue[string], string) error{
				overdue, func(q *workqueue.Queue[string], k string) error { q.AddOverdue(k, 0); q.AddAfter(k, s/2); return nil },
			},
			[]time.Duration{0, 0, s / 2},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := workqueue.New(workqueue.Options[string]{Backoff: func(_ string, failures int) time.Duration {
					return min(s<<(failures-1), 10*s)
				}})
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				var got []time.Duration
				last := time.Now()
				q.Add("a")
				_ = q.Work(ctx, func(_ context.Context, k string) error {
					got, last = append(got, time.Since(last)), time.Now()
					if n := len(got); n <= len(test.runs) {
						return test.runs[n-1](q, k)
					}
					return nil
				})
				if !slices.Equal(got, test.want) {
					t.Errorf("the runs began %v after those before, want %v", got, test.want)
				}
			})
		})
	}
}

// A row that never ends costs a run in each longest backoff, and no failure is counted.
func TestAnEndlessRowOfOverdueRunsIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{RetryRate: 0.0001})
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Hour)
		defer cancel()
		runs, row := 0, 0
		q.Add("a")
		_ = q.Work(ctx, func(_ context.Context, k string) error {
			runs++
			row = q.AddOverdue(k, 0)
			return nil
		})
		if runs < 360 || runs > 760 { // every 500 to 1000 s, and some faster ones at first
			t.Errorf("%d runs in 100 hours", runs)
		}
		if row != min(runs, 64) {
			t.Errorf("the row is %d after %d runs", row, runs)
		}
		if q.Failures("a") != 0 {
			t.Errorf("%d failures, want none", q.Failures("a"))
		}
	})
}

func TestAddOverdueOutsideOfARunIsAddWith(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{})
		for range 3 {
			if row := q.AddOverdue("a", 7); row != 0 {
				t.Errorf("the row of a key that is not in progress is %d", row)
			}
		}
		info, _ := q.Inspect("a")
		if info.Pending != workqueue.Ready || info.Priority != 7 {
			t.Errorf("the key is %v with priority %d, want ready with 7", info.Pending, info.Priority)
		}
	})
}
