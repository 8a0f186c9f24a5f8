package workqueue_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/workqueue"
)

// events is what hooks are told, in the order in which they are.
type events struct {
	sync.Mutex
	all []string
}

func (e *events) hooks() workqueue.Hooks[string] {
	note := func(format string, about ...any) {
		e.Lock()
		defer e.Unlock()
		e.all = append(e.all, fmt.Sprintf(format, about...))
	}
	return workqueue.Hooks[string]{
		Add: func(i workqueue.HookInfo[string]) { note("add %s %d", i.Key, i.Priority) },
		Start: func(i workqueue.HookInfo[string]) {
			note("start %s %d waited %v failures %d", i.Key, i.Priority, i.Duration, i.Failures)
		},
		Done: func(i workqueue.HookInfo[string]) {
			note("done %s %d worked %v failures %d: %v", i.Key, i.Priority, i.Duration, i.Failures, i.Err)
		},
		Retry: func(i workqueue.HookInfo[string]) {
			note("retry %s %d after %v failures %d: %v", i.Key, i.Priority, i.Duration, i.Failures, i.Err)
		},
	}
}

// want compares what was told since the last call.
func (e *events) want(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	e.Lock()
	defer e.Unlock()
	if !slices.Equal(e.all, want) {
		t.Fatalf("hooks were told\n%s\nwant\n%s", strings.Join(e.all, "\n"), strings.Join(want, "\n"))
	}
	e.all = nil
}

// wantInAnyOrder is want for events of several goroutines at one moment, which have no order.
func (e *events) wantInAnyOrder(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	e.Lock()
	slices.Sort(e.all)
	e.Unlock()
	slices.Sort(want)
	e.want(t, want...)
}

// behaviour 290
func TestHooksAreToldWhatMetricsNeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e events
		q := workqueue.New(workqueue.Options[string]{
			Hooks:   e.hooks(),
			Backoff: func(_ string, failures int) time.Duration { return time.Duration(failures) * time.Second },
		})
		run := func(fn func(k string) error) {
			t.Helper()
			if err := q.Do(t.Context(), func(_ context.Context, k string) error { return fn(k) }); err != nil {
				t.Fatal(err)
			}
		}

		q.Add("a")
		q.Add("a") // nothing changes
		q.AddWith("a", with(3))
		e.want(t, "add a 0")
		time.Sleep(time.Second)
		run(func(string) error {
			time.Sleep(2 * time.Second)
			return nil
		})
		e.want(t, "start a 3 waited 1s failures 0", "done a 3 worked 2s failures 0: <nil>")

		q.AddWith("b", with(-1))
		run(func(string) error { return errFailed })
		e.want(t, "add b -1", "start b -1 waited 0s failures 0", "done b -1 worked 0s failures 1: failed", "retry b -1 after 1s failures 1: failed")
		time.Sleep(3 * time.Second) // no worker waits, so the queue notices with the next call
		e.want(t)
		if q.Len() != 1 {
			t.Error("the retry is not ready")
		}
		e.want(t, "add b -1")
		run(func(k string) error {
			q.Add(k)
			return errFailed
		})
		e.want(t, "start b -1 waited 2s failures 1", "add b 0", "done b -1 worked 0s failures 2: failed", "retry b 0 after 0s failures 2: failed")
		run(func(k string) error {
			q.Add(k) // becomes ready when it is settled
			e.want(t, "start b 0 waited 0s failures 2")
			time.Sleep(time.Second)
			return nil
		})
		e.want(t, "add b 0", "done b 0 worked 1s failures 0: <nil>")
		run(func(string) error { return nil })
		e.want(t, "start b 0 waited 0s failures 0", "done b 0 worked 0s failures 0: <nil>")

		q.AddRateLimited("c")
		q.AddRateLimited("c") // nothing changes
		e.want(t, "retry c 0 after 1s failures 1: <nil>")
		q.Cancel("c")
		q.AddAfter("d", time.Minute)
		e.want(t)
		q.Move("d", 0)
		e.want(t, "add d 0")
		go func() {
			defer func() { _ = recover() }()
			run(func(string) error { panic("oh") })
		}()
		e.want(t, "start d 0 waited 0s failures 0",
			"done d 0 worked 0s failures 1: the function panicked or ended its goroutine",
			"retry d 0 after 1s failures 1: the function panicked or ended its goroutine")
	})
}

// Work settles a key and takes the next one in one step, and tells of both.
func TestWorkCallsTheHooksOfEachKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e events
		q := workqueue.New(workqueue.Options[string]{Hooks: e.hooks()})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			_ = q.Work(ctx, func(_ context.Context, k string) error {
				time.Sleep(time.Second)
				return nil
			})
		}()
		e.want(t)
		q.Add("a")
		q.AddAfter("b", 500*time.Millisecond)
		e.wantInAnyOrder(t, "add a 0", "start a 0 waited 0s failures 0")
		time.Sleep(time.Second)
		e.want(t, "add b 0", "done a 0 worked 1s failures 0: <nil>", "start b 0 waited 500ms failures 0")
		time.Sleep(time.Second)
		e.want(t, "done b 0 worked 1s failures 0: <nil>")
		q.AddAfter("c", time.Second)
		time.Sleep(time.Second)
		e.wantInAnyOrder(t, "add c 0", "start c 0 waited 0s failures 0") // by the timer
		cancel()
		time.Sleep(time.Second)
		e.want(t, "done c 0 worked 1s failures 0: <nil>")
	})
}

// behaviour 288, behaviour 290: depth counts what is ready, and the rest is for as long as it is in progress.
func TestStatsTellDepthAndUnfinishedWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{})
		want := func(want workqueue.Stats) {
			t.Helper()
			if got := q.Stats(); got != want || q.Len() != want.Ready {
				t.Fatalf("stats are %+v, and the length %d; want %+v", got, q.Len(), want)
			}
		}
		q.Add("a")
		q.Add("b")
		q.AddAfter("delayed", time.Hour)
		want(workqueue.Stats{Ready: 2, Delayed: 1})
		a, releaseA := held(t.Context(), q)
		<-a
		want(workqueue.Stats{Ready: 1, InProgress: 1, Delayed: 1})
		time.Sleep(2 * time.Second)
		want(workqueue.Stats{Ready: 1, Oldest: 2 * time.Second, InProgress: 1, Longest: 2 * time.Second, Unfinished: 2 * time.Second, Delayed: 1})
		b, releaseB := held(t.Context(), q)
		<-b
		q.Add("a") // not ready before it is settled
		time.Sleep(3 * time.Second)
		want(workqueue.Stats{InProgress: 2, Longest: 5 * time.Second, Unfinished: 8 * time.Second, Delayed: 1})
		releaseA(nil)
		want(workqueue.Stats{Ready: 1, InProgress: 1, Longest: 3 * time.Second, Unfinished: 3 * time.Second, Delayed: 1})
		releaseB(nil)
		want(workqueue.Stats{Ready: 1, Delayed: 1})
	})
}

// Oldest is the key that has waited for longest, whatever comes next.
func TestTheOldestKeyMayBeOfAnyPriority(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{Ageing: time.Hour})
		q.AddWith("low", with(-1))
		time.Sleep(time.Second)
		q.Add("normal")
		q.Add("raised")
		time.Sleep(time.Second)
		q.AddWith("high", with(1))
		time.Sleep(time.Second)
		want := func(want time.Duration) {
			t.Helper()
			if got := q.Stats().Oldest; got != want {
				t.Errorf("the oldest has waited %v, want %v", got, want)
			}
		}
		want(3 * time.Second)
		q.AddWith("low", with(2)) // it has waited as long as before
		want(3 * time.Second)
		q.Cancel("low")
		want(2 * time.Second)
		q.Cancel("normal")
		q.AddWith("raised", with(3))
		want(2 * time.Second)
		wantKeys(t, q, "raised", "high")
		want(0)
	})
}

// Hooks are called with no lock held, so they may call the queue, and block nobody.
func TestHooksMayCallTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q *workqueue.Queue[int]
		block := make(chan struct{})
		q = workqueue.New(workqueue.Options[int]{Hooks: workqueue.Hooks[int]{
			Add: func(i workqueue.HookInfo[int]) {
				if i.Key > 0 {
					q.Add(i.Key - 1)
				}
			},
			Start: func(workqueue.HookInfo[int]) { _ = q.Stats() },
			Done:  func(workqueue.HookInfo[int]) { <-block },
			Retry: func(i workqueue.HookInfo[int]) { q.Cancel(i.Key) },
		}})
		q.Add(5)
		for range 6 {
			go func() {
				_ = q.Do(t.Context(), func(context.Context, int) error { return errFailed })
			}()
		}
		synctest.Wait()
		wantStats(t, q, workqueue.Stats{Delayed: 6}) // all are settled, and their Done is not
		close(block)
		synctest.Wait()
		wantStats(t, q, workqueue.Stats{})
	})
}

// behaviour 291: there is no goroutine for metrics, nor any other.
func TestAQueueHasNoGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // which fails if one is left
		var e events
		q := workqueue.New(workqueue.Options[string]{Hooks: e.hooks()})
		q.Add("a")
		q.AddAfter("b", time.Hour)
		wantKeys(t, q, "a")
		runtime.KeepAlive(q)
	})
}
