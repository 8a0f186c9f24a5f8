package informer_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/informer"
)

// failing is a test that notes how it fails.
type failing struct {
	*testing.T
	mu       sync.Mutex
	failures []string
}

func (f *failing) Errorf(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failures = append(f.failures, fmt.Sprintf(format, args...))
}

// measuring is a benchmark.
type measuring struct{ *failing }

func (measuring) Loop() bool { return false }

// A test whose program changed an object of the cache passed: the check had to be asked for.
func TestChangingACachedObjectFailsTheTest(t *testing.T) {
	source := func(src client.Resource[*Thing]) informer.Source[*Thing] { return src }
	for _, test := range []struct {
		name   string
		tb     func(f *failing) clienttest.TB
		source func(src client.Resource[*Thing]) informer.Source[*Thing]
		change func(obj *Thing)
		want   string
	}{
		{
			"a map of it", func(f *failing) clienttest.TB { return f }, source,
			func(obj *Thing) { obj.Labels = map[string]string{"app": "web"} }, `metadata.labels["app"]`,
		},
		{
			"through a transform", func(f *failing) clienttest.TB { return f },
			func(src client.Resource[*Thing]) informer.Source[*Thing] {
				return informer.Transform(src, func(obj *Thing) *Thing { return obj })
			},
			func(obj *Thing) { obj.Data["k"] = "changed" }, `data["k"]`,
		},
		{"nothing", func(f *failing) clienttest.TB { return f }, source, func(*Thing) {}, ""},
		{
			"in a benchmark", func(f *failing) clienttest.TB { return measuring{f} }, source,
			func(obj *Thing) { obj.Labels = map[string]string{"app": "web"} }, "",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &failing{T: t}
				server := clienttest.Start(test.tb(f), clienttest.Options{})
				c, err := client.New(server.Config())
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(c.Close)
				r := &rig{T: t, server: server, things: client.For(c, things), raw: client.For(c, raw)}
				r.put("a", "k", "v")
				ctx, cancel := context.WithCancel(t.Context())
				inf := informer.New(test.source(r.things), informer.Options{})
				ended := make(chan error, 1)
				go func() { ended <- inf.Run(ctx) }()
				if err := inf.WaitSynced(ctx); err != nil {
					t.Fatal(err)
				}
				synctest.Wait() // the informer has looked at what it has listed
				for obj := range inf.Reader().All() {
					test.change(obj)
				}
				cancel()
				if err := <-ended; err != nil {
					t.Fatal(err)
				}
				f.mu.Lock()
				defer f.mu.Unlock()
				if test.want == "" {
					if len(f.failures) > 0 {
						t.Errorf("the test fails: %q", f.failures)
					}
					return
				}
				if len(f.failures) != 1 || !strings.Contains(f.failures[0], `informer of configmaps.v1: check "default/a"`) ||
					!strings.Contains(f.failures[0], test.want) {
					t.Errorf("failures are %q, want one with the object and %s", f.failures, test.want)
				}
			})
		})
	}
}

// A wait for a cache that is never complete kept a processor busy until the time limit of go test, without a word.
func TestAWaitWithoutAnEndFailsTheTest(t *testing.T) {
	for _, test := range []struct {
		name string
		runs bool
		want string
	}{{"refused", true, "not you"}, {"not run", false, "no deadline"}} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &failing{T: t}
				server := clienttest.Start(f, clienttest.Options{Authorize: func(clienttest.Access) (bool, string) { return false, "not you" }})
				c, err := client.New(server.Config())
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				inf := informer.New(client.For(c, things), informer.Options{OnError: func(error) {}})
				ctx, stop := context.WithCancel(t.Context())
				var running sync.WaitGroup
				if test.runs {
					running.Go(func() { _ = inf.Run(ctx) })
				} else {
					bounded, cancel := context.WithTimeout(t.Context(), 30*time.Hour)
					if err := inf.WaitSynced(bounded); !errors.Is(err, context.DeadlineExceeded) || len(f.failures) > 0 {
						t.Errorf("with a deadline: %v; failures %q", err, f.failures)
					}
					cancel()
				}
				begun := time.Now()
				err = inf.WaitSynced(t.Context())
				if err == nil || !strings.Contains(err.Error(), "no deadline") || !strings.Contains(err.Error(), test.want) {
					t.Errorf("WaitSynced returned %v", err)
				}
				if len(f.failures) != 1 || !strings.Contains(f.failures[0], "no deadline") || time.Since(begun) != 24*time.Hour {
					t.Errorf("after %v the failures are %q", time.Since(begun), f.failures)
				}
				stop()
				running.Wait()
			})
		})
	}
}
