package controller_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"

	"github.com/bowline-go/bowline/cache"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/internal/store/storetest"
)

// logged keeps what is logged, each line with the time since it was made.
type logged struct{ *log }

func (l logged) logger() logr.Logger {
	return funcr.New(func(_, args string) { l.add("%s", args) }, funcr.Options{})
}

// has fails unless the lines begin with these times and contain these texts.
func (l logged) has(t *testing.T, want ...string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	ok := len(l.lines) == len(want)
	for i := range min(len(want), len(l.lines)) {
		at, text, _ := strings.Cut(want[i], " ")
		ok = ok && strings.HasPrefix(l.lines[i], at+" ") && strings.Contains(l.lines[i], text)
	}
	if !ok {
		t.Errorf("logged\n\t%s\nwant\n\t%s", strings.Join(l.lines, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// A controller without a hook failed and said nothing.
func TestAReconcileThatFailsIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := logged{newLog()}
		var runs int
		c := controller.New("c", controller.Options{Logger: l.logger(), MinBackoff: time.Minute},
			func(context.Context, string) (controller.Result, error) {
				if runs++; runs < 5 {
					return controller.Result{}, errFailed
				}
				return controller.Result{}, nil
			}, keys{names: []string{"a/b"}})
		stop := run(t, c)
		time.Sleep(time.Hour)
		mustStop(t, stop)
		if n := len(l.lines); n != 5 {
			t.Errorf("%d lines, want one for each of four failures, as they are so far apart, and the recovery", n)
		}
		for i, part := range []string{
			`controller \"c\": reconcile fails" "error"="failed" "controller"="c" "key"="a/b" "failures"=1`, `"failures"=2`, `"failures"=3`, `"failures"=4`,
			`controller \"c\": reconciles work again after`,
		} {
			if !strings.Contains(l.lines[i], part) {
				t.Errorf("line %d is %s, want %s", i, l.lines[i], part)
			}
		}
	})
}

func TestAPanicIsLoggedWithItsStack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := logged{newLog()}
		c := controller.New("c", controller.Options{Logger: l.logger()},
			func(context.Context, string) (controller.Result, error) {
				var nothing *controller.Result
				return *nothing, nil
			}, keys{names: []string{"a/b"}})
		stop := run(t, c)
		mustStop(t, stop)
		all := strings.Join(l.lines, "\n")
		for _, part := range []string{`"key"="a/b"`, "invalid memory", `"stack"="goroutine`, "TestAPanicIsLoggedWithItsStack"} {
			if !strings.Contains(all, part) {
				t.Errorf("the log lacks %s: %s", part, all)
			}
		}
	})
}

// It works again when no key fails any more, and not when one of several has succeeded. A terminal error has no recovery.
func TestReconcilesWorkAgainWhenTheLastKeyThatFailedSucceeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := logged{newLog()}
		start := time.Now()
		until := map[string]time.Duration{"one": time.Minute, "two": 10 * time.Minute, "good": 0}
		c := controller.New("c", controller.Options{Logger: l.logger(), MinBackoff: time.Second, MaxBackoff: time.Second},
			func(_ context.Context, k string) (controller.Result, error) {
				switch {
				case k == "terminal":
					return controller.Result{}, controller.Terminal(errFailed)
				case time.Since(start) < until[k]:
					return controller.Result{}, errFailed
				}
				return controller.Result{RequeueAfter: time.Second}, nil
			}, keys{names: []string{"one", "two", "good", "terminal"}})
		stop := run(t, c)
		time.Sleep(time.Hour)
		mustStop(t, stop)
		again := 0
		for _, line := range l.lines {
			if strings.Contains(line, "work again") {
				if again++; !strings.HasPrefix(line, "10m0") {
					t.Errorf("%s", line)
				}
			}
		}
		if n := len(l.lines); again != 1 || n < 6 || n > 12 {
			t.Errorf("%d lines, of which %d say that reconciles work again:\n%s", n, again, strings.Join(l.lines, "\n"))
		}
	})
}

// A terminal error is said at once, also soon after errors that are tried again have been.
func TestATerminalErrorIsNotHeldBackByOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := logged{newLog()}
		start := time.Now()
		c := controller.New("c", controller.Options{Logger: l.logger(), MinBackoff: time.Minute},
			func(_ context.Context, k string) (controller.Result, error) {
				switch {
				case k == "fails":
					return controller.Result{}, errFailed
				case time.Since(start) < time.Second:
					return controller.Result{RequeueAfter: time.Second}, nil
				}
				return controller.Result{}, controller.Terminal(errFailed)
			}, keys{names: []string{"fails", "terminal"}})
		stop := run(t, c)
		time.Sleep(2 * time.Second)
		mustStop(t, stop)
		l.has(t, `0s "key"="fails"`, `1s "key"="terminal"`)
	})
}

// A terminal error is not what has been mended when a key that was tried again succeeds.
func TestARecoveryDoesNotCountFromATerminalError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := logged{newLog()}
		runs := 0
		names := make(chan string, 1)
		c := controller.New("c", controller.Options{Logger: l.logger(), MinBackoff: time.Minute, MaxBackoff: time.Minute},
			func(_ context.Context, k string) (controller.Result, error) {
				if k == "terminal" {
					return controller.Result{}, controller.Terminal(errFailed)
				}
				if runs++; runs == 1 {
					return controller.Result{}, errFailed
				}
				return controller.Result{}, nil
			}, controller.Chan(names))
		stop := run(t, c)
		names <- "terminal"
		time.Sleep(time.Hour)
		names <- "fails once"
		time.Sleep(time.Hour)
		mustStop(t, stop)
		if n := len(l.lines); n != 3 || !strings.Contains(l.lines[n-1], "reconciles work again after ") || strings.Contains(l.lines[n-1], "after 1h") {
			t.Errorf("logged\n%s\nwant a recovery after about a minute", strings.Join(l.lines, "\n"))
		}
	})
}

// A key that failed and was then given up was said to work again.
func TestATerminalErrorIsNotARecovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := logged{newLog()}
		runs := 0
		c := controller.New("c", controller.Options{Logger: l.logger(), MinBackoff: time.Minute},
			func(context.Context, string) (controller.Result, error) {
				if runs++; runs < 3 {
					return controller.Result{}, errFailed
				}
				return controller.Result{}, controller.Terminal(errFailed)
			}, keys{names: []string{"a/b"}})
		stop := run(t, c)
		time.Sleep(time.Hour)
		mustStop(t, stop)
		if all := strings.Join(l.lines, "\n"); strings.Contains(all, "work again") || !strings.Contains(all, "will not be retried") {
			t.Errorf("want a terminal failure and no recovery:\n%s", all)
		}
	})
}

func TestAHookSilencesTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := logged{newLog()}
		c := controller.New("c", controller.Options{Logger: l.logger(), OnError: func(error) {}},
			func(context.Context, string) (controller.Result, error) { return controller.Result{}, errFailed },
			keys{names: []string{"a"}, after: time.Minute})
		stop := run(t, c)
		time.Sleep(time.Hour)
		mustStop(t, stop)
		l.has(t)
	})
}

func TestTheLoggerOfTheContextIsUsedAndThenSlog(t *testing.T) {
	for _, carried := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			l := logged{newLog()}
			var standard bytes.Buffer
			before := slog.Default()
			defer slog.SetDefault(before)
			slog.SetDefault(slog.New(slog.NewTextHandler(&standard, nil)))
			c := controller.New("c", controller.Options{}, func(context.Context, string) (controller.Result, error) {
				return controller.Result{}, controller.Terminal(errFailed)
			}, keys{names: []string{"a"}})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if carried {
				ctx = logr.NewContext(ctx, l.logger())
			}
			if err := c.Run(ctx); err != nil {
				t.Error(err)
			}
			if (len(l.lines) == 1) != carried || strings.Contains(standard.String(), "reconcile fails") == carried {
				t.Errorf("the context's logger has %q, slog has %q", l.lines, &standard)
			}
		})
	}
}

// A controller that waits says for what, and why.
func TestTheLogNamesTheSourcesThatWorkersWaitFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := logged{newLog()}
		c := controller.New("c", controller.Options{Logger: l.logger()},
			func(context.Context, string) (controller.Result, error) { return controller.Result{}, nil },
			keys{after: time.Minute}, excuse{keys{after: time.Minute}}, keys{})
		stop := run(t, c)
		time.Sleep(time.Hour)
		mustStop(t, stop)
		l.has(t,
			`5s controller \"c\": workers wait for sources, nothing is reconciled`,
			`20s "sources"="controller_test.keys; controller_test.excuse: the dog has eaten them"`,
			`1m0s controller \"c\": sources have delivered after 1m0s`)
	})
}

// excuse is a source that says why it has not delivered.
type excuse struct{ keys }

func (excuse) Unsynced() error { return errors.New("the dog has eaten them") }

// A slog handler or logger may ask the controller that it is told of.
func TestALoggerMayAskForTheStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c *controller.Controller[string]
		var mu sync.Mutex
		var seen []controller.Status
		logger := funcr.New(func(_, _ string) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, c.Status())
		}, funcr.Options{Verbosity: 1})
		c = controller.New("c", controller.Options{Logger: logger},
			func(context.Context, string) (controller.Result, error) { return controller.Result{}, errFailed },
			keys{names: []string{"a"}, after: time.Minute})
		stop := run(t, c)
		time.Sleep(time.Hour)
		mustStop(t, stop)
		if len(seen) < 5 {
			t.Errorf("%d lines", len(seen))
		}
	})
}

// Each informer runs once, however many sources follow it. A reader that does not know what fills it has nobody to run.
func TestRunnersAreThoseOfTheSources(t *testing.T) {
	pods := storetest.New[*pod]()
	a, b := &filler{"a"}, &filler{"b"}
	function := fillerFunc(func(context.Context) error { return nil }) // a function cannot be compared
	for name, test := range map[string]struct {
		sources []controller.Source[meta.Key]
		want    int
	}{
		"nobody":             {[]controller.Source[meta.Key]{controller.Watch(pods.Reader()), controller.EveryObject(pods.Reader(), time.Hour), controller.Chan(make(chan meta.Key))}, 0},
		"one of Watch":       {[]controller.Source[meta.Key]{controller.Watch(pods.ReaderOf(a))}, 1},
		"one of EveryObject": {[]controller.Source[meta.Key]{controller.EveryObject(pods.ReaderOf(a), time.Hour)}, 1},
		"one, twice":         {[]controller.Source[meta.Key]{controller.Watch(pods.ReaderOf(a)), controller.EveryObject(pods.ReaderOf(a), time.Hour)}, 1},
		"a nil informer":     {[]controller.Source[meta.Key]{controller.Watch((*ownReader)(nil))}, 0},
		"two":                {[]controller.Source[meta.Key]{controller.Watch(pods.ReaderOf(a)), controller.Watch(pods.ReaderOf(b))}, 2},
		"a function, twice":  {[]controller.Source[meta.Key]{controller.Watch(pods.ReaderOf(function)), controller.Watch(pods.ReaderOf(function))}, 2},
	} {
		c := controller.New("c", controller.Options{},
			func(context.Context, meta.Key) (controller.Result, error) { return controller.Result{}, nil }, test.sources...)
		if rs := c.Runners(); len(rs) != test.want {
			t.Errorf("%s: the runners are %v, want %d", name, rs, test.want)
		}
	}
}

// ownReader is a reader that fills itself, as an informer is. A nil one does not.
type ownReader struct{ cache.Reader[*pod] }

func (*ownReader) Run(context.Context) error { return nil }

// filler is what fills a store, and does nothing.
type filler struct{ name string }

func (*filler) Run(context.Context) error { return nil }
