package controller_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer/controller"
)

// lines returns a slog handler without times, and what it has written.
func lines() (slog.Handler, *bytes.Buffer) {
	var b bytes.Buffer
	return slog.NewTextHandler(&b, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}), &b
}

func TestAContextWithoutAReconcileHasNoAttempt(t *testing.T) {
	if n := controller.Attempt(t.Context()); n != 0 {
		t.Errorf("the attempt is %d, want 0", n)
	}
}

func TestTheLoggerOfAReconcileNamesItsControllerKeyAndAttempt(t *testing.T) {
	handler, written := lines()
	const want = `level=INFO msg=slog controller=c key=ns/a attempt=1
level=INFO msg=logr controller=c key=ns/a attempt=1
level=INFO msg=slog controller=c key=ns/a attempt=2
level=INFO msg=logr controller=c key=ns/a attempt=2
level=INFO msg=slog controller=c key=ns/a attempt=1
level=INFO msg=logr controller=c key=ns/a attempt=1
`
	for _, test := range []struct {
		name    string
		options controller.Options
		context func(ctx context.Context) context.Context
	}{
		{"of the options", controller.Options{Logger: logr.FromSlogHandler(handler)}, nil},
		{"of the context of Run", controller.Options{}, func(ctx context.Context) context.Context {
			return logr.NewContext(ctx, logr.FromSlogHandler(handler))
		}},
		{"the default", controller.Options{}, nil},
		// The logger must be found in the contexts that are made from it.
		{"with a timeout", controller.Options{Logger: logr.FromSlogHandler(handler), Timeout: time.Minute, Grace: time.Minute}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				old := slog.Default()
				slog.SetDefault(slog.New(handler))
				defer slog.SetDefault(old)
				written.Reset()
				runs := 0
				test.options.OnError = func(error) {}
				test.options.MinBackoff = time.Second
				names := make(chan meta.Key)
				c := controller.New("c", test.options, func(ctx context.Context, _ meta.Key) (controller.Result, error) {
					controller.Logger(ctx).Info("slog")
					if want := []int{1, 2, 1}[runs]; controller.Attempt(ctx) != want {
						t.Errorf("the attempt is %d, want %d", controller.Attempt(ctx), want)
					}
					logr.FromContextOrDiscard(ctx).Info("logr")
					if runs++; runs == 1 {
						return controller.Result{}, errFailed
					}
					return controller.Result{}, nil
				}, controller.Chan(names))
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if test.context != nil {
					ctx = test.context(ctx)
				}
				ended := make(chan error, 1)
				go func() { ended <- c.Run(ctx) }()
				for range 2 {
					names <- meta.Key{Namespace: "ns", Name: "a"}
					time.Sleep(time.Minute)
				}
				cancel()
				if err := <-ended; err != nil {
					t.Error(err)
				}
				if got := written.String(); got != want {
					t.Errorf("logged\n%swant\n%s", got, want)
				}
			})
		})
	}
}

func TestLoggerOutsideAReconcileIsThatOfTheContext(t *testing.T) {
	handler, written := lines()
	controller.Logger(logr.NewContext(t.Context(), logr.FromSlogHandler(handler).WithValues("of", "the context"))).Info("a")
	var b bytes.Buffer
	controller.Logger(logr.NewContext(t.Context(), funcr.New(func(_, args string) { b.WriteString(args) }, funcr.Options{}))).Info("b", "key", "value")
	old := slog.Default()
	slog.SetDefault(slog.New(handler))
	defer slog.SetDefault(old)
	controller.Logger(t.Context()).Info("c")
	if got, want := written.String(), "level=INFO msg=a of=\"the context\"\nlevel=INFO msg=c\n"; got != want {
		t.Errorf("logged\n%swant\n%s", got, want)
	}
	if !strings.Contains(b.String(), `"key"="value"`) {
		t.Errorf("logged %s", b.String())
	}
}

// The context of a reconcile ends with those that it comes from, and no goroutine waits for that: synctest would fail.
func TestContextsMadeFromThatOfAReconcileEndWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := controller.New("c", controller.Options{}, func(ctx context.Context, _ string) (controller.Result, error) {
			inner, cancel := context.WithCancel(ctx)
			_ = cancel // left to the end of ctx
			<-inner.Done()
			return controller.Result{}, inner.Err()
		}, keys{names: []string{"a"}})
		stop := run(t, c)
		time.Sleep(time.Second)
		mustStop(t, stop)
		if s := c.Status(); s.Reconciles != 1 || s.Errors != 0 {
			t.Errorf("status is %v", s)
		}
	})
}
