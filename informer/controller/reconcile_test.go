package controller_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/informer/controller"
)

// behaviour 295, behaviour 297
func TestTheOutcomeOfAReconcileDecidesWhatBecomesOfItsKey(t *testing.T) {
	const s = time.Second
	again := controller.Result{RequeueAfter: 10 * time.Minute}
	for _, test := range []struct {
		name     string
		outcomes []func() (controller.Result, error) // of the first reconciles; later ones succeed
		want     []string
		status   controller.Status
	}{
		{
			"success is done", nil, []string{"0s 0"}, controller.Status{Reconciles: 1},
		},
		{
			"an error is retried, later with each failure",
			slices.Repeat([]func() (controller.Result, error){
				func() (controller.Result, error) { return controller.Result{}, errFailed },
			}, 4),
			[]string{"0s 0", "1s 1", "3s 2", "7s 3", "15s 4"},
			controller.Status{Reconciles: 5, Errors: 4},
		},
		{
			"an error counts for more than what the result says",
			[]func() (controller.Result, error){func() (controller.Result, error) { return again, errFailed }},
			[]string{"0s 0", "1s 1"},
			controller.Status{Reconciles: 2, Errors: 1},
		},
		{
			"a result asks for one more reconcile",
			[]func() (controller.Result, error){func() (controller.Result, error) { return again, nil }},
			[]string{"0s 0", "10m0s 1"},
			controller.Status{Reconciles: 2},
		},
		{
			"a priority alone asks for nothing",
			[]func() (controller.Result, error){
				func() (controller.Result, error) { return controller.Result{Priority: 5}, nil },
			},
			[]string{"0s 0"},
			controller.Status{Reconciles: 1},
		},
		{
			"only a reconcile without an error ends the row of failures",
			[]func() (controller.Result, error){
				func() (controller.Result, error) { return controller.Result{}, errFailed },
				func() (controller.Result, error) { panic("oh") },
				func() (controller.Result, error) { return again, nil },
				func() (controller.Result, error) { return controller.Result{}, errFailed },
			},
			[]string{"0s 0", "1s 1", "3s 2", "10m3s 3", "10m4s 4"},
			controller.Status{Reconciles: 5, Errors: 3, Panics: 1},
		},
		{
			"a terminal error is the last attempt, however it is wrapped",
			[]func() (controller.Result, error){
				func() (controller.Result, error) {
					return again, fmt.Errorf("wrapped: %w", controller.Terminal(errFailed))
				},
			},
			[]string{"0s 0"},
			controller.Status{Reconciles: 1, Errors: 1, Terminal: 1},
		},
		{
			"a panic with a terminal error is a panic",
			[]func() (controller.Result, error){
				func() (controller.Result, error) { panic(controller.Terminal(errFailed)) },
			},
			[]string{"0s 0", "1s 1"},
			controller.Status{Reconciles: 2, Errors: 1, Panics: 1},
		},
		{
			"an error of a context that is not the controller's is an error",
			[]func() (controller.Result, error){
				func() (controller.Result, error) { return controller.Result{}, context.Canceled },
			},
			[]string{"0s 0", "1s 1"},
			controller.Status{Reconciles: 2, Errors: 1},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLog()
				var reported []error
				n := 0
				c := controller.New("c", controller.Options{
					// Delays of 1, 2, 4, 8 s to within their jitter of up to a half, so the log is rounded up below.
					MinBackoff: s, MaxBackoff: time.Hour,
					OnError: func(err error) { reported = append(reported, err) },
				}, func(context.Context, string) (controller.Result, error) {
					l.add("%d", n)
					if n++; n <= len(test.outcomes) {
						return test.outcomes[n-1]()
					}
					return controller.Result{}, nil
				}, keys{names: []string{"key"}})
				stop := run(t, c)
				time.Sleep(time.Hour)
				got := c.Status()
				mustStop(t, stop)
				wantWithinJitter(t, l.lines, test.want)
				if len(reported) != test.status.Errors {
					t.Errorf("OnError got %v, want %d errors", reported, test.status.Errors)
				}
				for _, err := range reported {
					var r *controller.ReconcileError
					if !errors.As(err, &r) || r.Controller != "c" || r.Key != "key" || r.Failures < 1 {
						t.Errorf("OnError got %#v, want a ReconcileError of the key", err)
					}
				}
				if len(reported) > 0 && got.LastError != reported[len(reported)-1] {
					t.Errorf("last error is %v, want that of OnError", got.LastError)
				}
				got.Name, got.State, got.LastError = "", 0, nil
				if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", test.status) {
					t.Errorf("status is %+v, want %+v", got, test.status)
				}
			})
		})
	}
}

// wantWithinJitter compares lines of a log. The time between two of them may be shorter than wanted, by up to a half.
func wantWithinJitter(t *testing.T, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("got %q, want %q", got, want)
		return
	}
	var lastGot, lastWant time.Duration
	for i := range got {
		gotTime, gotText, _ := strings.Cut(got[i], " ")
		wantTime, wantText, _ := strings.Cut(want[i], " ")
		g, _ := time.ParseDuration(gotTime)
		w, _ := time.ParseDuration(wantTime)
		if gotText != wantText || g-lastGot > w-lastWant || g-lastGot < (w-lastWant)/2 {
			t.Errorf("got %q, want %q to within the jitter", got, want)
			return
		}
		lastGot, lastWant = g, w
	}
}

func TestANamedKeyRunsAtOnceWhateverItWaitsFor(t *testing.T) {
	for _, test := range []struct {
		name   string
		result controller.Result
		err    error
	}{
		{"a retry", controller.Result{}, errFailed},
		{"its RequeueAfter", controller.Result{RequeueAfter: time.Hour}, nil},
		{"nothing, after a terminal error", controller.Result{}, controller.Terminal(errFailed)},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, n := newLog(), 0
				named := make(chan string)
				c := controller.New("c", controller.Options{MinBackoff: time.Hour, MaxBackoff: time.Hour},
					func(_ context.Context, k string) (controller.Result, error) {
						l.add("%s", k)
						if n++; n == 1 {
							return test.result, test.err
						}
						return controller.Result{}, nil
					}, controller.Chan(named))
				stop := run(t, c)
				named <- "key"
				time.Sleep(time.Minute)
				named <- "key"
				time.Sleep(2 * time.Hour)
				mustStop(t, stop)
				l.want(t, "0s key", "1m0s key")
			})
		})
	}
}

// behaviour 300
func TestTheTimeoutEndsTheContextOfAReconcile(t *testing.T) {
	for _, test := range []struct {
		name             string
		fn               func(ctx context.Context) error
		end              time.Duration // of the controller, after its start
		timeouts, errors int
		message          string
	}{
		{"in time", func(context.Context) error {
			time.Sleep(9 * time.Second)
			return nil
		}, time.Minute, 0, 0, ""},
		{"too long, and it says so", func(ctx context.Context) error {
			<-ctx.Done()
			return fmt.Errorf("get the object: %w", ctx.Err())
		}, 10*time.Second + 1, 1, 1, "ran longer than Options.Timeout (10s): get the object: context deadline exceeded"},
		{"too long, and it fails otherwise", func(ctx context.Context) error {
			<-ctx.Done()
			return errFailed
		}, 10*time.Second + 1, 1, 1, `controller "c": failed`},
		{"too long, and it does not mind", func(ctx context.Context) error {
			<-ctx.Done()
			return nil
		}, time.Minute, 1, 0, ""},
		{"the controller ends first", func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}, 5 * time.Second, 0, 0, ""},
		{"a deadline of its own", func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			<-ctx.Done()
			return ctx.Err()
		}, time.Second + 1, 0, 1, `controller "c": context deadline exceeded`},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := controller.New("c", controller.Options{
					Timeout: 10 * time.Second, MinBackoff: time.Hour, MaxBackoff: time.Hour,
				}, func(ctx context.Context, _ string) (controller.Result, error) {
					return controller.Result{}, test.fn(ctx)
				}, keys{names: []string{"key"}})
				stop := run(t, c)
				time.Sleep(test.end)
				mustStop(t, stop)
				s := c.Status()
				if s.Timeouts != test.timeouts || s.Errors != test.errors || s.Reconciles != 1 {
					t.Errorf("status is %v, want %d timeouts and %d errors", s, test.timeouts, test.errors)
				}
				if test.message != "" && !strings.Contains(fmt.Sprint(s.LastError), test.message) {
					t.Errorf("last error is %v, want %s", s.LastError, test.message)
				}
			})
		})
	}
}

// A deadline of Run's own context ends a reconcile without being a failure or a timeout of it.
func TestADeadlineOfRunIsNotCountedAsATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := controller.New("c", controller.Options{Timeout: 10 * time.Second},
			func(ctx context.Context, _ string) (controller.Result, error) {
				<-ctx.Done()
				return controller.Result{}, ctx.Err()
			}, keys{names: []string{"key"}})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if err := c.Run(ctx); err != nil {
			t.Errorf("Run returned %v", err)
		}
		if s := c.Status(); s.Timeouts != 0 || s.Errors != 0 || s.Reconciles != 1 {
			t.Errorf("status is %v", s)
		}
	})
}

// behaviour 301
func TestAPanicIsReportedWithItsStack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reported error
		c := controller.New("c", controller.Options{
			OnError: func(err error) { reported = err },
		}, func(context.Context, string) (controller.Result, error) {
			if reported != nil {
				return controller.Result{}, nil
			}
			var nothing *controller.Result
			return *nothing, nil
		}, keys{names: []string{"a/b"}})
		stop := run(t, c)
		time.Sleep(time.Minute)
		mustStop(t, stop)

		var p *cache.PanicError
		if !errors.As(reported, &p) || !strings.Contains(string(p.Stack), "TestAPanicIsReportedWithItsStack") {
			t.Errorf("got %#v, want the panic with the place where it happened", reported)
		}
		want := `reconcile "a/b" in controller "c": panic: runtime error: invalid memory address or nil pointer dereference`
		if reported.Error() != want {
			t.Errorf("got %s, want %s", reported, want)
		}
		var runtimeError interface{ RuntimeError() }
		if !errors.As(reported, &runtimeError) {
			t.Error("the run-time error is not within")
		}
	})
}

func TestRetriesKeepToTheRateThatWasChosen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog()
		c := controller.New("c", controller.Options{
			MinBackoff: time.Millisecond, MaxBackoff: time.Millisecond, RetryRate: 2,
		}, func(context.Context, string) (controller.Result, error) {
			l.add("run")
			return controller.Result{}, errFailed
		}, keys{names: []string{"a", "b", "c", "d", "e"}})
		stop := run(t, c)
		time.Sleep(10*time.Second + 500*time.Millisecond)
		mustStop(t, stop)
		if n := len(l.lines); n != 5+2+20 {
			t.Errorf("%d reconciles, want 5 first attempts, 2 retries at once and 20 in 10 seconds", n)
		}
	})
}

func TestErrorsOfTheContextAreNotReportedAtTheEndOfRun(t *testing.T) {
	cause := errors.New("the reason why Run is ended")
	for _, test := range []struct {
		name  string
		grace time.Duration
		fn    func(ctx context.Context) error
		want  string // the error that is reported
	}{
		{"the context's error", 0, func(ctx context.Context) error { return fmt.Errorf("get: %w", ctx.Err()) }, ""},
		{"its cause", 0, context.Cause, ""},
		{"another error", 0, func(context.Context) error { return errFailed }, "failed"},
		{"a panic, even with the context's error", 0, func(ctx context.Context) error {
			panic(ctx.Err())
		}, "panic: context canceled"},
		{"another error after the grace", time.Minute, func(context.Context) error { return errFailed }, "failed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				reported := ""
				c := controller.New("c", controller.Options{
					Grace:   test.grace,
					OnError: func(err error) { reported = errors.Unwrap(err).Error() },
				}, func(ctx context.Context, _ string) (controller.Result, error) {
					<-ctx.Done()
					return controller.Result{}, test.fn(ctx)
				}, keys{names: []string{"key"}})
				ctx, end := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Second, func() { end(cause) })
				if err := c.Run(ctx); err != nil {
					t.Errorf("Run returned %v, want nil", err)
				}
				if reported != test.want {
					t.Errorf("OnError got %q, want %q", reported, test.want)
				}
			})
		})
	}
}

func TestTheStatusIsOneLineForPeople(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := controller.New("mirror",
			controller.Options{Workers: 2, MinBackoff: time.Hour, MaxBackoff: time.Hour, Timeout: time.Minute},
			func(ctx context.Context, k string) (controller.Result, error) {
				switch k {
				case "error":
					return controller.Result{}, errFailed
				case "panic":
					panic("oh")
				case "terminal":
					return controller.Result{}, controller.Terminal(errFailed)
				case "slow":
					<-ctx.Done()
				case "stuck":
					time.Sleep(time.Hour)
				}
				return controller.Result{}, nil
			}, keys{names: []string{"ok", "error", "panic", "slow", "stuck", "terminal"}, after: time.Second},
			controller.Every(24*time.Hour, "ok"))
		if got, want := c.Status().String(), `controller "mirror": idle, 0 reconciles, 0 errors`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		stop := run(t, c)
		want := `controller "mirror": syncing (waiting for controller_test.keys), 0 reconciles, 0 errors, 6 ready`
		if got := c.Status().String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		time.Sleep(2 * time.Minute)
		want = `controller "mirror": running, 5 reconciles, 3 errors, 1 panics, 1 terminal, 1 timeouts, 1 in progress, ` +
			`2 delayed; last error: reconcile "terminal" in controller "mirror": will not be retried: failed`
		if got := c.Status().String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		mustStop(t, stop)
		if got := c.String(); got != `controller "mirror"` {
			t.Errorf("its name is %s", got)
		}
	})
}

func TestTerminalOfNilIsNil(t *testing.T) {
	if err := controller.Terminal(nil); err != nil {
		t.Errorf("got %v", err)
	}
	if err := controller.Terminal(errFailed); !errors.Is(err, errFailed) {
		t.Errorf("%v does not wrap the cause", err)
	}
}
