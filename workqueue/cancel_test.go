package workqueue_test

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/workqueue"
)

func TestCancelTakesAwayThePendingRunOnly(t *testing.T) {
	type queue = workqueue.Queue[string]
	for _, test := range []struct {
		name string
		add  func(t *testing.T, q *queue)
		want bool
	}{
		{"of a key that is unknown", func(*testing.T, *queue) {}, false},
		{"of a key that is ready", func(_ *testing.T, q *queue) { q.Add("key") }, true},
		{"of a key that is delayed", func(_ *testing.T, q *queue) { q.AddAfter("key", time.Second) }, true},
		{"of a key that is delayed, and waits for a retry too", func(_ *testing.T, q *queue) {
			q.AddAfter("key", time.Second)
			q.AddRateLimited("key")
		}, true},
		{"of a key whose retry waits for its rate", func(t *testing.T, q *queue) {
			q.AddRateLimited("other")
			q.AddRateLimited("key")
			time.Sleep(time.Second)
			wantKeys(t, q, "other")
			wantStats(t, q, workqueue.Stats{Throttled: 1})
		}, true},
		{"of a key that is done", func(t *testing.T, q *queue) {
			q.Add("key")
			wantKeys(t, q, "key")
		}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := workqueue.New(workqueue.Options[string]{
					Backoff:   func(string, int) time.Duration { return time.Second },
					RetryRate: 0.001, RetryBurst: 1,
				})
				test.add(t, q)
				if got := q.Cancel("key"); got != test.want {
					t.Errorf("cancelled is %v, want %v", got, test.want)
				}
				if q.Cancel("key") {
					t.Error("it was cancelled twice")
				}
				if n := q.Failures("key"); n != 0 {
					t.Errorf("%d failures are left", n)
				}
				time.Sleep(24 * time.Hour)
				wantStats(t, q, workqueue.Stats{})
				q.Add("key")
				wantKeys(t, q, "key")
			})
		})
	}
}

func TestCancelLeavesTheOthersInTheirOrder(t *testing.T) {
	for _, cancelled := range []string{"a", "b", "c", "raised"} {
		q := workqueue.New(workqueue.Options[string]{})
		var want []string
		for _, k := range []string{"raised", "a", "b", "c"} {
			q.Add(k)
			if k != cancelled {
				want = append(want, k)
			}
		}
		q.AddWith("raised", with(1))
		q.Cancel(cancelled)
		wantKeys(t, q, want...)
	}
}

// Cancel does not end a run in progress. It drops the requests for another run that were made before it, but not the retry after
// a failure that comes later.
func TestCancelDoesNotEndTheRunInProgress(t *testing.T) {
	for _, test := range []struct {
		name  string
		added bool
		err   error
		want  workqueue.Stats
	}{
		{"that succeeds", false, nil, workqueue.Stats{}},
		{"that was added again", true, nil, workqueue.Stats{}},
		{"that fails", false, errFailed, workqueue.Stats{Delayed: 1}},
		{"that was added again and fails", true, errFailed, workqueue.Stats{Delayed: 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := workqueue.New(workqueue.Options[string]{})
				q.Add("key")
				ready(t, q, errFailed)
				q.Add("key")
				taken, release := held(t.Context(), q)
				<-taken
				if test.added {
					q.Add("key")
				}
				if got := q.Cancel("key"); got != test.added {
					t.Errorf("cancelled is %v, want %v", got, test.added)
				}
				if n := q.Failures("key"); n != 1 {
					t.Errorf("failures are %d, want the one before this run", n)
				}
				release(test.err)
				wantStats(t, q, test.want)
			})
		})
	}
}

func TestMoveSetsTheTimeOfADelayedRun(t *testing.T) {
	const s = time.Second
	type queue = workqueue.Queue[string]
	after := func(d time.Duration) func(*testing.T, *queue) {
		return func(_ *testing.T, q *queue) { q.AddAfter("key", d) }
	}
	for _, test := range []struct {
		name  string
		add   func(t *testing.T, q *queue)
		to    time.Duration
		moved bool
		want  time.Duration // when it runs
	}{
		{"later", after(5 * s), 9 * s, true, 9 * s},
		{"earlier", after(5 * s), 2 * s, true, 2 * s},
		{"now", after(5 * s), 0, true, 0},
		{"to the past", after(5 * s), math.MinInt64, true, 0},
		{"a retry", func(_ *testing.T, q *queue) { q.AddRateLimited("key") }, 9 * s, true, 9 * s},
		{"a retry and a delay", func(_ *testing.T, q *queue) {
			q.AddRateLimited("key")
			q.AddAfter("key", 5*s)
		}, 9 * s, true, 9 * s},
		{"a key that is ready", func(_ *testing.T, q *queue) { q.Add("key") }, 9 * s, false, 0},
		{"a key whose time has come", func(_ *testing.T, q *queue) {
			q.AddAfter("key", s)
			time.Sleep(s)
		}, 9 * s, false, s},
		{"a key whose retry waits for its rate", func(_ *testing.T, q *queue) {
			q.AddRateLimited("other")
			q.AddRateLimited("key")
			time.Sleep(3 * s)
			q.Cancel("other")
		}, 4 * s, true, 7 * s},
		{"a key to which its rate would come sooner", func(_ *testing.T, q *queue) {
			q.AddRateLimited("other")
			q.AddRateLimited("key")
			time.Sleep(3 * s)
			q.Cancel("other")
		}, 3000 * s, true, 3003 * s},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := workqueue.New(workqueue.Options[string]{
					Backoff:   func(string, int) time.Duration { return 3 * s },
					RetryRate: 0.001, RetryBurst: 1,
				})
				start := time.Now()
				test.add(t, q)
				failures := q.Failures("key")
				if got := q.Move("key", test.to); got != test.moved {
					t.Errorf("moved is %v, want %v", got, test.moved)
				}
				if n := q.Failures("key"); n != failures {
					t.Errorf("failures went from %d to %d", failures, n)
				}
				if err := q.Do(t.Context(), func(context.Context, string) error { return nil }); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(start); took != test.want {
					t.Errorf("key ran after %v, want %v", took, test.want)
				}
				wantStats(t, q, workqueue.Stats{})
			})
		})
	}
}

// No request is lost: a request beside Move gives a run that is not later than it was asked for.
func TestMoveLosesNoRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{})
		q.AddAfter("key", time.Minute)
		q.Move("key", time.Hour)
		q.AddAfter("key", 2*time.Hour)
		q.AddAfter("key", time.Minute)
		start := time.Now()
		_ = q.Do(t.Context(), func(context.Context, string) error {
			q.Add("key")
			if q.Move("key", time.Hour) {
				t.Error("a request for a run after this one was deferred")
			}
			return nil
		})
		if took := time.Since(start); took != time.Minute {
			t.Errorf("key ran after %v, want a minute", took)
		}
		wantKeys(t, q, "key")
		_ = q.Move("unknown", time.Second)
		wantStats(t, q, workqueue.Stats{})
	})
}

// A worker that waits for a delay follows when it is moved, and does not wake up for one that was cancelled.
func TestAWaitingWorkerFollowsCancelAndMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{})
		start := time.Now()
		ran := map[string]time.Duration{}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		q.AddAfter("cancelled", time.Second)
		q.AddAfter("later", 2*time.Second)
		q.AddAfter("earlier", 30*time.Second)
		go func() {
			synctest.Wait()
			q.Cancel("cancelled")
			q.Move("later", 20*time.Second)
			q.Move("earlier", 10*time.Second)
		}()
		_ = q.Work(ctx, func(_ context.Context, k string) error {
			ran[k] = time.Since(start)
			return nil
		})
		if len(ran) != 2 || ran["later"] != 20*time.Second || ran["earlier"] != 10*time.Second {
			t.Errorf("keys ran at %v", ran)
		}
	})
}
