package controller_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/informer/controller"
)

// A reconcile that ended its goroutine, as t.FailNow of a test does, took its worker with it: no key was reconciled any more.
func TestAReconcileThatEndsItsGoroutineKeepsTheWorker(t *testing.T) {
	for _, crash := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			l := newLog()
			names := make(chan string, 10)
			c := controller.New("x", controller.Options{
				CrashOnPanic: crash, OnError: func(err error) { l.add("%v", err) }, MinBackoff: time.Minute, MaxBackoff: time.Minute,
			}, func(_ context.Context, k string) (controller.Result, error) {
				l.add("%s", k)
				if len(l.lines) == 1 {
					runtime.Goexit()
				}
				return controller.Result{}, nil
			}, controller.Chan(names))
			stop := run(t, c)
			names <- "a"
			time.Sleep(time.Second)
			names <- "b"
			time.Sleep(time.Hour)
			if s := c.Status(); s.Errors != 1 || s.Reconciles != 3 || s.Queue.InProgress != 0 {
				t.Errorf("status is %v", s)
			}
			mustStop(t, stop)
			if n := len(l.lines); n != 4 {
				t.Fatalf("got %q", l.lines)
			}
			l.lines[3] = "retry " + l.lines[3][strings.LastIndex(l.lines[3], " ")+1:]
			l.want(t, "0s a", `0s reconcile "a" in controller "x": called runtime.Goexit instead of returning`, "1s b", "retry a")
		})
	}
}

// A reconcile that ends its goroutine is a failure like others: it counts up, and a success afterwards is a recovery.
func TestReconcilesThatEndTheirGoroutineAreCounted(t *testing.T) {
	for exits := 1; exits <= 2; exits++ {
		synctest.Test(t, func(t *testing.T) {
			l := logged{newLog()}
			runs := 0
			c := controller.New("x", controller.Options{Logger: l.logger(), MinBackoff: time.Minute},
				func(context.Context, string) (controller.Result, error) {
					if runs++; runs <= exits {
						runtime.Goexit()
					}
					return controller.Result{}, nil
				}, keys{names: []string{"a"}})
			stop := run(t, c)
			time.Sleep(time.Hour)
			mustStop(t, stop)
			if len(l.lines) != exits+1 {
				t.Fatalf("logged\n%s\nwant %d failures and a recovery", strings.Join(l.lines, "\n"), exits)
			}
			for n, line := range l.lines {
				want := fmt.Sprintf(`"failures"=%d`, n+1)
				if n == exits {
					want = "reconciles work again"
				}
				if !strings.Contains(line, want) {
					t.Errorf("logged %s, want %s", line, want)
				}
			}
		})
	}
}

// A hook may end the goroutine too.
func TestAHookThatEndsItsGoroutineKeepsTheWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		c := controller.New("x", controller.Options{OnError: func(error) { runtime.Goexit() }},
			func(context.Context, string) (controller.Result, error) {
				if runs++; runs < 5 {
					return controller.Result{}, errFailed
				}
				return controller.Result{}, nil
			}, keys{names: []string{"a"}})
		stop := run(t, c)
		time.Sleep(time.Hour)
		mustStop(t, stop)
		if runs != 5 {
			t.Errorf("%d reconciles, want 5", runs)
		}
	})
}

// exits is a source that ends its goroutine.
type exits struct{}

func (exits) Run(context.Context, func(string), func()) error {
	runtime.Goexit()
	return nil
}

func TestASourceThatEndsItsGoroutineEndsTheController(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		err := controller.New("x", controller.Options{}, func(context.Context, string) (controller.Result, error) {
			return controller.Result{}, nil
		}, exits{}).Run(ctx)
		if want := `run controller "x": controller_test.exits: called runtime.Goexit instead of returning`; err == nil || err.Error() != want {
			t.Errorf("Run returned %v, want %s", err, want)
		}
	})
}
