package workqueue_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/workqueue"
)

// told is an info in short, with times since start.
func told(i workqueue.KeyInfo[string], start time.Time) string {
	parts := []string{i.Key, i.Pending.String()}
	if !i.Due.IsZero() {
		parts = append(parts, "due", i.Due.Sub(start).String())
	}
	if i.Priority != 0 {
		parts = append(parts, "priority", fmt.Sprint(i.Priority))
	}
	if !i.Started.IsZero() {
		parts = append(parts, "started", i.Started.Sub(start).String(), "with", fmt.Sprint(i.RunPriority))
	}
	if i.Failures > 0 {
		parts = append(parts, fmt.Sprint(i.Failures), "failures:", fmt.Sprint(i.LastError))
	}
	return strings.Join(parts, " ")
}

func TestTheQueueSaysOfEachKeyWhyItDoesNotMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{
			Backoff:   func(string, int) time.Duration { return 10 * time.Second },
			RetryRate: 0.01, RetryBurst: 1,
		})
		start := time.Now()
		for i, k := range []string{"free", "throttled", "throttled and delayed", "asked"} {
			q.Add(k)
			_ = q.Do(t.Context(), func(context.Context, string) error { return fmt.Errorf("cause %d", i) })
		}
		q.AddAfter("throttled and delayed", time.Hour)
		q.Add("again")
		taken, release := held(t.Context(), q)
		<-taken
		q.AddWith("alone", with(-3))
		alone, releaseAlone := held(t.Context(), q)
		<-alone
		time.Sleep(4 * time.Second)
		q.AddWith("again", with(7))
		q.AddWith("later", workqueue.AddOptions{After: time.Minute, Priority: 2})
		q.AddRateLimited("unlucky")
		time.Sleep(6 * time.Second)
		q.AddWith("low", with(-20))
		q.Add("asked")

		want := []string{
			"again ready due 4s priority 7 started 0s with 0",
			"alone not pending started 0s with -3",
			"free ready due 10s 1 failures: cause 0",
			"asked ready due 10s 1 failures: cause 3",
			"low ready due 10s priority -20",
			"throttled throttled 1 failures: cause 1",
			"throttled and delayed throttled due 1h0m0s 1 failures: cause 2",
			"unlucky delayed due 14s 1 failures: <nil>",
			"later delayed due 1m4s priority 2",
		}
		var got []string
		for i := range q.Keys() {
			got = append(got, told(i, start))
			if same, known := q.Inspect(i.Key); !known || same != i {
				t.Errorf("Inspect says %+v, %v, Keys %+v", same, known, i)
			}
		}
		// The throttled ones have become so at the same moment.
		if !slices.Equal(got, want) {
			t.Errorf("keys are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if i, known := q.Inspect("unknown"); known || i.Key != "unknown" || i.Pending != workqueue.NotPending {
			t.Errorf("of an unknown key is known %+v, %v", i, known)
		}
		for range q.Keys() {
			q.Add("during a loop") // the loop holds no lock, and may be left
			break
		}
		if got := workqueue.Pending(9).String(); got != "Pending(9)" {
			t.Errorf("got %q", got)
		}
		release(nil)
		releaseAlone(nil)
	})
}

// The last error is kept while its key fails, and no longer.
func TestTheLastErrorOfAKeyIsKeptWhileItFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{Backoff: func(string, int) time.Duration { return time.Second }})
		q.Add("key")
		for i := range 3 {
			_ = q.Do(t.Context(), func(context.Context, string) error { return fmt.Errorf("cause %d", i) })
		}
		want := func(failures int, cause string) {
			t.Helper()
			if i, _ := q.Inspect("key"); i.Failures != failures || fmt.Sprint(i.LastError) != cause {
				t.Errorf("%d failures, the last is %v; want %d, %s", i.Failures, i.LastError, failures, cause)
			}
		}
		want(3, "cause 2")
		time.Sleep(time.Second)
		taken, release := held(t.Context(), q)
		<-taken
		want(3, "cause 2")
		q.AddRateLimited("key")
		want(4, "cause 2")
		release(nil)
		want(0, "<nil>")
	})
}
