package controller_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/informer/controller"
)

var errFailed = errors.New("failed")

func TestWorkersStartWhenEverySourceHasDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog()
		c := controller.New("c", controller.Options{}, func(_ context.Context, k string) (controller.Result, error) {
			l.add("%s", k)
			return controller.Result{}, nil
		}, keys{names: []string{"a"}}, keys{names: []string{"b", "a"}, after: time.Minute}, keys{after: time.Second})
		if got := c.Status().State; got != controller.Idle {
			t.Errorf("state is %v before Run", got)
		}
		stop := run(t, c)
		time.Sleep(2 * time.Second)
		s := c.Status()
		if s.State != controller.Syncing || len(s.Unsynced) != 1 || s.Queue.Ready != 2 || s.Reconciles != 0 {
			t.Errorf("status is %+v, want one source to be waited for, and two keys", s)
		}
		time.Sleep(time.Minute)
		s = c.Status()
		if s.State != controller.Running || s.Unsynced != nil || s.Reconciles != 2 {
			t.Errorf("status is %+v, want it running, after two reconciles", s)
		}
		mustStop(t, stop)
		if got := c.Status().State; got != controller.Stopped {
			t.Errorf("state is %v after Run", got)
		}
		slices.Sort(l.lines) // the sources name their keys at the same time
		l.want(t, "1m0s a", "1m0s b")
	})
}

func TestManyWorkersNeverShareAKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog()
		again := make(chan string)
		c := controller.New("c", controller.Options{Workers: 3},
			func(_ context.Context, k string) (controller.Result, error) {
				l.add("%s", k)
				time.Sleep(time.Second)
				return controller.Result{}, nil
			}, keys{names: []string{"a", "b", "c", "d"}}, controller.Chan(again))
		stop := run(t, c)
		for range 3 {
			again <- "a" // in progress
		}
		time.Sleep(500 * time.Millisecond)
		if s := c.Status().Queue; s.InProgress != 3 || s.Ready != 1 {
			t.Errorf("queue is %+v, want three in progress and one ready", s)
		}
		time.Sleep(5 * time.Second)
		mustStop(t, stop)
		slices.Sort(l.lines[:3]) // which of three workers is first does not matter
		slices.Sort(l.lines[3:])
		l.want(t, "0s a", "0s b", "0s c", "1s a", "1s d")
	})
}

// behaviour 299
func TestRunSaysWhyItCouldNotGoOn(t *testing.T) {
	fn := func(context.Context, string) (controller.Result, error) { return controller.Result{}, nil }
	none := []controller.Source[string]{keys{}}
	for _, test := range []struct {
		name    string
		options controller.Options
		fn      controller.Func[string]
		sources []controller.Source[string]
		want    string
	}{
		{"no function", controller.Options{}, nil, none, "controller.New: fn must not be nil"},
		{
			"no source",
			controller.Options{},
			fn, nil,
			"controller.New: from must have a source, or no key is ever reconciled",
		},
		{
			"no second source",
			controller.Options{},
			fn, append(none, nil),
			"controller.New: from[1] must not be nil",
		},
		{"workers", controller.Options{Workers: -1}, fn, none, "controller.Options: Workers must be 0 or more, got -1"},
		{"timeout", controller.Options{Timeout: -1}, fn, none, "controller.Options: Timeout must be 0 or more, got -1ns"},
		{"grace", controller.Options{Grace: -1}, fn, none, "controller.Options: Grace must be 0 or more, got -1ns"},
		{
			"rate",
			controller.Options{RetryRate: math.NaN()},
			fn, none,
			"controller.Options: RetryRate must be 0 or more, got NaN",
		},
		{
			"backoff",
			controller.Options{MinBackoff: 2, MaxBackoff: 1},
			fn, none,
			"controller.Options: MinBackoff must be at most MaxBackoff (1ns), got 2ns",
		},
		{
			"a source that fails while others are not synced",
			controller.Options{},
			fn,
			[]controller.Source[string]{keys{after: time.Hour}, keys{err: errFailed, after: time.Second}},
			"controller_test.keys: failed",
		},
		{
			"a source that fails when all run",
			controller.Options{},
			fn,
			[]controller.Source[string]{keys{}, failing{after: time.Hour, err: errFailed}},
			"controller_test.failing: failed",
		},
		{
			"a source that panics",
			controller.Options{},
			fn,
			[]controller.Source[string]{keys{}, failing{after: time.Hour, panics: "oh"}},
			"controller_test.failing: panic: oh",
		},
		{
			"a source that takes too long",
			controller.Options{SyncTimeout: time.Minute},
			fn,
			[]controller.Source[string]{keys{after: time.Second}, keys{after: time.Hour}, controller.Every(time.Hour, "key")},
			"sources have not delivered within Options.SyncTimeout (1m0s): controller_test.keys",
		},
		{
			"a period that makes no sense",
			controller.Options{},
			fn,
			[]controller.Source[string]{controller.Every(0, "key")},
			"Every(0s): the period must be above 0, got 0s",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := controller.New("c", test.options, test.fn, test.sources...)
				err := c.Run(t.Context())
				if want := `run controller "c": ` + test.want; err == nil || err.Error() != want {
					t.Errorf("Run returned\n\t%v\nwant\n\t%s", err, want)
				}
				if strings.HasSuffix(test.want, ": failed") && !errors.Is(err, errFailed) {
					t.Errorf("%v does not wrap the source's error", err)
				}
			})
		})
	}
}

// A source may be over before it has said that it is synced: it has nothing more to deliver.
func TestASourceThatIsOverIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := controller.New("c", controller.Options{}, func(context.Context, string) (controller.Result, error) {
			return controller.Result{}, nil
		}, brief("a"), brief("b"), keys{})
		stop := run(t, c)
		if s := c.Status(); s.State != controller.Running || s.Reconciles != 2 {
			t.Errorf("status is %v, want it running, after two reconciles", s)
		}
		mustStop(t, stop)
	})
}

// brief is a source that names one key and is over.
type brief string

func (s brief) Run(_ context.Context, add func(string), _ func()) error {
	add(string(s))
	return nil
}

// failing is a source that is synced at once and fails later.
type failing struct {
	after  time.Duration
	err    error
	panics any
}

func (s failing) Run(_ context.Context, _ func(string), synced func()) error {
	synced()
	synced() // twice is harmless
	time.Sleep(s.after)
	if s.panics != nil {
		panic(s.panics)
	}
	return s.err
}

// behaviour 299
func TestASecondRunIsRefusedWhileTheFirstIsInProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog()
		c := controller.New("c", controller.Options{}, func(_ context.Context, k string) (controller.Result, error) {
			l.add("%s", k)
			return controller.Result{RequeueAfter: time.Hour}, nil
		}, keys{names: []string{"key"}})
		stop := run(t, c)
		err := c.Run(t.Context())
		if want := `run controller "c": already running`; err == nil || err.Error() != want {
			t.Errorf("the second Run returned %v, want %s", err, want)
		}
		if s := c.Status(); s.State != controller.Running {
			t.Errorf("the refused Run left the state %v", s.State)
		}
		mustStop(t, stop)

		stop = run(t, c) // and it starts anew
		if s := c.Status(); s.Reconciles != 2 || s.Queue.Delayed != 1 {
			t.Errorf("status is %v, want a second reconcile, and one delayed key", s)
		}
		mustStop(t, stop)
		l.want(t, "0s key", "0s key")
	})
}

// behaviour 305: whatever a controller is doing when its context ends, Run returns nil, and nothing is left: synctest
// fails on goroutines that are.
func TestTheEndOfTheContextEndsARunAtAnyPoint(t *testing.T) {
	idle := func(context.Context, string) (controller.Result, error) { return controller.Result{}, nil }
	for _, test := range []struct {
		name    string
		fn      controller.Func[string]
		options controller.Options
		sources []controller.Source[string]
		after   time.Duration
	}{
		{"before it begins", idle, controller.Options{}, []controller.Source[string]{keys{}}, -1},
		{"before any source has delivered", idle, controller.Options{SyncTimeout: time.Hour}, []controller.Source[string]{
			keys{after: time.Hour}, keys{after: time.Hour},
		}, time.Minute},
		{"before the last source has delivered", idle, controller.Options{}, []controller.Source[string]{
			keys{names: []string{"a", "b"}}, keys{after: time.Hour},
		}, time.Minute},
		{"while workers wait", idle, controller.Options{Workers: 5}, []controller.Source[string]{keys{}}, time.Minute},
		{"while keys are delayed", func(context.Context, string) (controller.Result, error) {
			return controller.Result{RequeueAfter: time.Hour}, nil
		}, controller.Options{}, []controller.Source[string]{keys{names: []string{"a", "b"}}}, time.Minute},
		{"while everything fails", func(context.Context, string) (controller.Result, error) {
			return controller.Result{}, errFailed
		}, controller.Options{RetryRate: 10}, []controller.Source[string]{keys{names: []string{"a", "b"}}}, time.Minute},
		{"in the middle of reconciles", func(ctx context.Context, _ string) (controller.Result, error) {
			<-ctx.Done()
			return controller.Result{}, ctx.Err()
		}, controller.Options{Workers: 2}, []controller.Source[string]{keys{names: []string{"a", "b", "c"}}}, time.Minute},
		{"in the middle of reconciles with grace", func(ctx context.Context, _ string) (controller.Result, error) {
			<-ctx.Done()
			return controller.Result{}, ctx.Err()
		}, controller.Options{Workers: 2, Grace: time.Hour, Timeout: 2 * time.Hour}, []controller.Source[string]{
			keys{names: []string{"a", "b", "c"}},
		}, time.Minute},
		{"while a source takes its time to end", idle, controller.Options{}, []controller.Source[string]{
			failing{after: time.Hour, err: errFailed},
		}, time.Minute},
		{"when a source has nothing more to say", idle, controller.Options{}, []controller.Source[string]{
			failing{}, closed(), controller.Every(time.Second, "a"),
		}, time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := controller.New("c", test.options, test.fn, test.sources...)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if test.after < 0 {
					cancel()
				} else {
					time.AfterFunc(test.after, cancel)
				}
				if err := c.Run(ctx); err != nil {
					t.Errorf("Run returned %v, want nil", err)
				}
				if s := c.Status(); s.State != controller.Stopped || s.Queue.InProgress != 0 {
					t.Errorf("status is %v, want it stopped, nothing in progress", s)
				}
			})
		})
	}
}

func closed() controller.Source[string] {
	c := make(chan string)
	close(c)
	return controller.Chan(c)
}

// behaviour 304
func TestReconcilesInProgressHaveTheirGrace(t *testing.T) {
	for _, test := range []struct {
		name  string
		grace time.Duration
		takes time.Duration // of a reconcile that is left alone
		want  time.Duration // between the end of the context and that of Run
		err   error         // that the reconcile got from its context
	}{
		{"none: the context ends at once", 0, time.Minute, 0, context.Canceled},
		{"enough to finish", 2 * time.Minute, time.Minute, 30 * time.Second, nil},
		{"not enough", 10 * time.Second, time.Minute, 10 * time.Second, context.Canceled},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				type value struct{}
				var got error
				runs := 0
				c := controller.New("c", controller.Options{Grace: test.grace},
					func(ctx context.Context, _ string) (controller.Result, error) {
						runs++
						if ctx.Value(value{}) != "kept" {
							t.Error("the values of Run's context are lost")
						}
						select {
						case <-time.After(test.takes):
						case <-ctx.Done():
							got = ctx.Err()
						}
						return controller.Result{}, got
					}, keys{names: []string{"a", "b"}})
				ctx, cancel := context.WithCancel(context.WithValue(t.Context(), value{}, "kept"))
				var ended time.Time
				time.AfterFunc(30*time.Second, func() {
					ended = time.Now()
					cancel()
					synctest.Wait()
					if s := c.Status(); test.want > 0 && s.State != controller.Stopping {
						t.Errorf("state is %v, want stopping", s.State)
					}
				})
				if err := c.Run(ctx); err != nil {
					t.Errorf("Run returned %v, want nil", err)
				}
				if took := time.Since(ended); took != test.want {
					t.Errorf("Run took %v to return, want %v", took, test.want)
				}
				if !errors.Is(got, test.err) {
					t.Errorf("the reconcile got %v, want %v", got, test.err)
				}
				if runs != 1 {
					t.Errorf("%d reconciles started, want only the one before the end", runs)
				}
				if s := c.Status(); s.Errors != 0 || s.Reconciles != 1 || s.Queue.Ready != 1 {
					t.Errorf("status is %v, want one reconcile without an error, and one key left", s)
				}
			})
		})
	}
}
