package controllers

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
)

type fake struct {
	called string
	does   func(ctx context.Context, env *environment) error
}

func (f fake) name() string                                    { return f.called }
func (f fake) run(ctx context.Context, env *environment) error { return f.does(ctx, env) }

func waits(ctx context.Context, _ *environment) error { <-ctx.Done(); return nil }

func TestWrongControllersAreErrors(t *testing.T) {
	one := fake{"first", waits}
	for want, all := range map[string][]Controller{
		"no controller is given":                 {},
		"controller 1 must not be nil":           {one, nil},
		"controllers 0 and 2 are both the first": {one, fake{"second", waits}, one},
	} {
		if err := Run(t.Context(), client.Config{Server: "http://nowhere"}, all...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
	if err := Run(t.Context(), client.Config{}, one); err == nil || !strings.Contains(err.Error(), "Server") {
		t.Errorf("the error of a configuration without a Server is %v", err)
	}
}

func TestAControllerThatFailsEndsTheOthersAndIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		err := Run(t.Context(), client.Config{Server: "http://nowhere"}, fake{"first", waits},
			fake{"second", func(context.Context, *environment) error { return broken }})
		if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "second: ") {
			t.Errorf("the error is %v", err)
		}
	})
}

func TestRunReturnsNilWhenItsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{})
		for _, wait := range []time.Duration{0, time.Minute} {
			ctx, cancel := context.WithTimeout(t.Context(), wait)
			if err := Run(ctx, server.Config(), fake{"first", waits}); err != nil {
				t.Error(err)
			}
			cancel()
		}
	})
}

func TestControllersShareCaches(t *testing.T) {
	pods := client.Type[*meta.Partial]{Version: "v1", Kind: "Pod", Resource: "pods"}
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{})
		reads := func(ctx context.Context, env *environment) error {
			inf := cached(env, pods)
			return informer.Run(ctx, inf, informer.RunnerFunc(func(ctx context.Context) error {
				if err := inf.WaitSynced(ctx); err != nil {
					return err
				}
				<-ctx.Done()
				return nil
			}))
		}
		Start(t, server.Config(), fake{"first", reads}, fake{"second", reads})
		synctest.Wait()
		if n := server.Requests()[clienttest.Call{Verb: "watch", Resource: "pods"}]; n != 1 {
			t.Errorf("%d watches, want 1: %v", n, server.Requests())
		}
	})
}

// failures is a test that records how it fails.
type failures struct {
	errors   []string
	cleanups []func()
}

func (f *failures) Helper()          {}
func (f *failures) Cleanup(c func()) { f.cleanups = append(f.cleanups, c) }
func (f *failures) Errorf(format string, args ...any) {
	f.errors = append(f.errors, fmt.Sprintf(format, args...))
}
func (f *failures) Fatalf(format string, args ...any) { f.Errorf(format, args...) }

func TestStartFailsTheTest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &failures{}
		Start(f, client.Config{Server: "http://nowhere"})
		if len(f.errors) != 1 || len(f.cleanups) != 0 {
			t.Errorf("no controller: %q", f.errors)
		}
		f = &failures{}
		Start(f, client.Config{Server: "http://nowhere"}, fake{"first", func(context.Context, *environment) error { return errors.New("broken") }})
		f.cleanups[0]()
		if len(f.errors) != 1 || !strings.Contains(f.errors[0], "first: broken") {
			t.Errorf("a controller that fails: %q", f.errors)
		}
	})
}
