package controller_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
)

// step is the outcome of one reconcile.
type step func() (controller.Result, error)

// A key whose time had just passed (time.Until of it, a moment late) was never reconciled again, and nobody was told. A time that stays
// in the past must not keep a worker busy.
func TestARequeueTimeInThePastRunsAtOnceAndThenBacksOff(t *testing.T) {
	const s = time.Second
	var (
		after = func(d time.Duration) step {
			return func() (controller.Result, error) { return controller.Result{RequeueAfter: d}, nil }
		}
		in = func(d time.Duration) step {
			return func() (controller.Result, error) { return controller.Result{RequeueAt: time.Now().Add(d)}, nil }
		}
		both = func(d, at time.Duration) step {
			return func() (controller.Result, error) { r, _ := in(at)(); r.RequeueAfter = d; return r, nil }
		}
		failed   = func() (controller.Result, error) { return controller.Result{RequeueAfter: -s}, errFailed }
		panicked = func() (controller.Result, error) { panic("oh") }
		terminal = func() (controller.Result, error) {
			return controller.Result{RequeueAt: time.Now().Add(-s)}, controller.Terminal(errFailed)
		}
	)
	for _, test := range []struct {
		name   string
		steps  []step // the first reconciles; later ones are done
		want   []string
		errors int
		lines  int // in the log, of times that have passed
	}{
		{"zero is done", []step{after(0)}, []string{"0s 0"}, 0, 0},
		{"below zero is at once", []step{after(-s)}, []string{"0s 0", "0s 1"}, 0, 0},
		{"a nanosecond below zero is at once", []step{after(-1)}, []string{"0s 0", "0s 1"}, 0, 0},
		{"the smallest duration is at once", []step{after(-1 << 63)}, []string{"0s 0", "0s 1"}, 0, 0},
		{"a time to come is waited for", []step{in(10 * s)}, []string{"0s 0", "10s 1"}, 0, 0},
		{"the present is at once", []step{in(0)}, []string{"0s 0", "0s 1"}, 0, 0},
		{"a time that has passed is at once", []step{in(-s)}, []string{"0s 0", "0s 1"}, 0, 0},
		{"the earlier of two times counts: RequeueAfter", []step{both(5*s, 10*s)}, []string{"0s 0", "5s 1"}, 0, 0},
		{"the earlier of two times counts: RequeueAt", []step{both(10*s, 5*s)}, []string{"0s 0", "5s 1"}, 0, 0},
		{"RequeueAt in the past counts before RequeueAfter", []step{both(10*s, -s)}, []string{"0s 0", "0s 1"}, 0, 0},
		{"RequeueAfter in the past counts before RequeueAt", []step{both(-s, 10*s)}, []string{"0s 0", "0s 1"}, 0, 0},
		{
			"again and again is slower and slower",
			[]step{after(-s), after(-s), in(-s), in(0), after(-s)},
			[]string{"0s 0", "0s 1", "1s 2", "3s 3", "7s 4", "15s 5"},
			0, 1,
		},
		{
			"a time to come in between ends the row",
			[]step{after(-s), after(-s), after(10 * s), after(-s), in(-s)},
			[]string{"0s 0", "0s 1", "1s 2", "11s 3", "11s 4", "12s 5"},
			0, 1,
		},
		{
			"an error in between does not end it",
			[]step{after(-s), after(-s), failed, after(-s)},
			[]string{"0s 0", "0s 1", "1s 2", "2s 3", "4s 4"},
			1, 1,
		},
		{"a panic does not end it", []step{after(-s), panicked, after(-s)}, []string{"0s 0", "0s 1", "1s 2", "2s 3"}, 1, 1},
		{"an error counts for more", []step{failed}, []string{"0s 0", "1s 1"}, 1, 0},
		{"a terminal error is the last attempt", []step{terminal}, []string{"0s 0"}, 1, 0},
		{
			"it is no failure, so it ends a row of failures",
			[]step{failed, after(-s), failed},
			[]string{"0s 0", "1s 1", "1s 2", "2s 3"},
			2, 0,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, said := newLog(), logged{newLog()}
				reported, n := 0, 0
				c := controller.New("c", controller.Options{
					MinBackoff: s, MaxBackoff: time.Hour, Logger: said.logger(), OnError: func(error) { reported++ },
				}, func(context.Context, string) (controller.Result, error) {
					l.add("%d", n)
					if n++; n <= len(test.steps) {
						return test.steps[n-1]()
					}
					return controller.Result{}, nil
				}, keys{names: []string{"key"}})
				stop := run(t, c)
				time.Sleep(time.Hour)
				status := c.Status()
				mustStop(t, stop)
				wantWithinJitter(t, l.lines, test.want)
				if reported != test.errors || status.Errors != test.errors || status.Failing != 0 {
					t.Errorf("%d errors are reported, and the status is %v; want %d", reported, status, test.errors)
				}
				lines := slices.DeleteFunc(said.lines, func(l string) bool { return !strings.Contains(l, "a Result asks for a time in the past again") })
				if len(lines) != test.lines {
					t.Errorf("logged %q, want %d lines", lines, test.lines)
				}
			})
		})
	}
}

// -1 stands for "nothing is due" in many a function. That costs a reconcile in each longest backoff, and a line.
func TestARequeueTimeThatStaysInThePastBacksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := logged{newLog()}
		n := map[string]int{}
		c := controller.New("c", controller.Options{Logger: said.logger()}, func(_ context.Context, k string) (controller.Result, error) {
			n[k]++
			return controller.Result{RequeueAfter: -1}, nil
		}, controller.Every(1000*time.Hour, "a", "b"))
		for range 2 { // a second Run begins anew
			said.lines = nil
			clear(n)
			stop := run(t, c)
			time.Sleep(100 * time.Hour)
			if s := c.Status(); s.Failing != 0 || s.Errors != 0 || s.Queue.Delayed != 2 {
				t.Errorf("the status is %+v", s)
			}
			mustStop(t, stop)
			for _, k := range []string{"a", "b"} {
				if n[k] < 360 || n[k] > 760 { // one in 500 to 1000 s, and some faster ones at first
					t.Errorf("%s was reconciled %d times in 100 hours", k, n[k])
				}
			}
			if len(said.lines) != 2 || !strings.Contains(said.lines[0], `"key"=`) {
				t.Errorf("logged %q, want one line for each key", said.lines)
			}
		}
	})
}

// A thousand keys with the same fault do not make a thousand lines.
func TestTheLogAboutRequeueTimesInThePastIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := logged{newLog()}
		var names []string
		for i := range 1000 {
			names = append(names, fmt.Sprint(i))
		}
		c := controller.New("c", controller.Options{Logger: said.logger()}, func(context.Context, string) (controller.Result, error) {
			return controller.Result{RequeueAfter: -1}, nil
		}, controller.Every(1000*time.Hour, names...))
		stop := run(t, c)
		time.Sleep(time.Hour)
		mustStop(t, stop)
		if len(said.lines) != 20 {
			t.Errorf("%d lines, want 20", len(said.lines))
		}
	})
}

// A cleanup that asked for a time that had just passed counted as finished: the finalizer was removed, and the object went.
func TestACleanupIsNotFinishedWhileItAsksForARequeue(t *testing.T) {
	for name, again := range map[string]func(until time.Time) controller.Result{
		"RequeueAfter": func(until time.Time) controller.Result { return controller.Result{RequeueAfter: time.Until(until)} },
		"RequeueAt":    func(until time.Time) controller.Result { return controller.Result{RequeueAt: until} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, maps := startServer(t, clienttest.Options{})
				inf := informer.New(maps, informer.Options{})
				finished := false
				var retention time.Time
				ctl := controller.New("x", controller.Options{}, controller.Finalize(maps, inf.Reader(), ours, nothing,
					func(context.Context, *pod) (controller.Result, error) {
						if retention.IsZero() {
							retention = time.Now().Add(time.Second)
						}
						if time.Now().Before(retention) {
							time.Sleep(1500 * time.Millisecond) // a slow backend
							return again(retention), nil
						}
						finished = true
						return controller.Result{}, nil
					}, controller.FinalizeOptions{}), controller.Watch(inf))
				stop := runAll(t, ctl)
				create(t, maps, "a")
				key := meta.Key{Namespace: "default", Name: "a"}
				if err := maps.Delete(t.Context(), key, client.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(1400 * time.Millisecond)
				if _, err := maps.Get(t.Context(), key); err != nil {
					t.Error("the object is gone during its cleanup")
				}
				time.Sleep(time.Minute)
				if _, err := maps.Get(t.Context(), key); err == nil || !finished {
					t.Errorf("a minute later, the cleanup has finished: %v, and the object: %v", finished, err)
				}
				mustStop(t, stop)
			})
		})
	}
}

// nothing is a function of Finalize.
func nothing(context.Context, *pod) (controller.Result, error) { return controller.Result{}, nil }

// runAll runs r and what it needs in the bubble of t until stop is called.
func runAll(t *testing.T, r informer.Runner) (stop func() error) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- informer.Run(ctx, r) }()
	synctest.Wait()
	return func() error {
		cancel()
		return <-ended
	}
}
