package sample_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"

	"github.com/bowline-go/bowline/client"
	"github.com/bowline-go/bowline/client/clienttest"
	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer"
	"github.com/bowline-go/bowline/informer/controller"
	"github.com/bowline-go/bowline/internal/proof/e2e/sample"
)

// The tests of this file make, on purpose, the mistakes that a program with this controller is likely to have. Each used to leave a
// program that ran and did nothing; each has to be refused, reported or logged.

// heard collects what a program without OnError and Logger logs.
type heard struct {
	mu    sync.Mutex
	lines []string
}

// Enabled is that of a logger with its usual level.
func (h *heard) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }
func (h *heard) WithAttrs([]slog.Attr) slog.Handler               { return h }
func (h *heard) WithGroup(string) slog.Handler                    { return h }

func (h *heard) Handle(_ context.Context, r slog.Record) error {
	line := fmt.Sprint(time.Now().UTC().Format("15:04:05 "), r.Message)
	r.Attrs(func(a slog.Attr) bool {
		line += fmt.Sprintf(" %s=%v", a.Key, a.Value)
		return true
	})
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines = append(h.lines, line)
	return nil
}

// says fails the test unless a line has all of these words.
func (h *heard) says(t *testing.T, words ...string) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.ContainsFunc(h.lines, func(line string) bool {
		return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, word) })
	}) {
		t.Errorf("no line says all of %q:\n%s", words, strings.Join(h.lines, "\n"))
	}
}

// listen runs a controller for some time with a logger in the context of Run and no hook.
func listen(t *testing.T, ctl informer.Runner, takes time.Duration) *heard {
	t.Helper()
	h := new(heard)
	ctx, stop := context.WithTimeout(logr.NewContext(t.Context(), logr.FromSlogHandler(h)), takes)
	defer stop()
	if err := informer.Run(ctx, ctl); err != nil {
		t.Errorf("Run ended: %v", err)
	}
	return h
}

// Trap: the server is away, the definition is not installed, or the account may not list.
func TestAControllerThatCannotWorkSaysWhy(t *testing.T) {
	for _, test := range []struct {
		name    string
		options clienttest.Options
		prepare func(*clienttest.Server)
		want    []string
	}{
		{"no server", clienttest.Options{CRDs: []string{"foos.json"}}, func(s *clienttest.Server) {
			s.Refuse(errors.New("connection refused"))
		}, []string{"foos", "connection refused"}},
		{"no definition", clienttest.Options{}, func(*clienttest.Server) {}, []string{"foos", "404"}},
		{"no permission", clienttest.Options{
			CRDs:      []string{"foos.json"},
			Authorize: func(a clienttest.Access) (bool, string) { return a.Resource.Resource != "deployments", "" },
		}, func(*clienttest.Server) {}, []string{"deployments", "403"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := clienttest.Start(t, test.options)
				test.prepare(server)
				ctl := sample.New(connect(t, server.Config()), "", controller.Options{})
				h := listen(t, ctl, time.Hour)
				h.says(t, test.want...)
				h.says(t, append(test.want, "00:00:0")...) // at once
				if n := len(h.lines); n > 60 {
					t.Errorf("%d lines in an hour", n)
				}
			})
		})
	}
}

// Trap: with SyncTimeout, the error names what has not come, and why.
func TestTheEndOfSyncTimeoutSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := clienttest.Start(t, clienttest.Options{})
		ctl := sample.New(connect(t, server.Config()), "", controller.Options{SyncTimeout: time.Minute, OnError: func(error) {}})
		err := informer.Run(t.Context(), ctl)
		if err == nil || !strings.Contains(err.Error(), "foos") || !strings.Contains(err.Error(), "404") || strings.Contains(err.Error(), "deployments") {
			t.Errorf("Run returned %v, want an error that names foos and 404, and nothing else", err)
		}
	})
}

// Trap: a controller whose definition is missing must not hold up the others of the program.
func TestAControllerThatWaitsHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		must(w.foos.Create(t.Context(), newFoo("a", 1)))(t)
		c := connect(t, w.server.Config())
		missing := client.For(c, client.Type[*sample.Foo]{Group: "missing.example.com", Version: "v1", Kind: "Bar", Resource: "bars"})
		waits := controller.New("bars", controller.Options{}, func(context.Context, meta.Key) (controller.Result, error) {
			t.Error("a controller worked without its source")
			return controller.Result{}, nil
		}, controller.Watch(informer.New(missing, informer.Options{})))
		var status controller.Status
		time.AfterFunc(30*time.Second, func() { status = waits.Status() })
		both := informer.RunnerFunc(func(ctx context.Context) error {
			return informer.Run(ctx, sample.New(c, "", controller.Options{}), waits)
		})
		h := listen(t, both, time.Minute)
		h.says(t, "bars", "404")
		must(w.deployments.Get(t.Context(), appKey))(t)
		if text := fmt.Sprint(status.Unsynced); len(status.Unsynced) != 1 || !strings.Contains(text, "bars") || !strings.Contains(text, "404") {
			t.Errorf("the status is %v", status)
		}
	})
}

// spoilt is a test that fails: what a user's test would be told.
type spoilt struct {
	testing.TB
	mu     sync.Mutex
	failed []string
}

func (s *spoilt) Errorf(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = append(s.failed, fmt.Sprintf(format, args...))
}

func (s *spoilt) says(t *testing.T, words ...string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	text := strings.Join(s.failed, "\n")
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Errorf("the test was not told of %q: %s", word, text)
		}
	}
}

// Trap: a reconcile that changes the object that it got from the cache.
func TestAReconcileThatChangesTheCacheFailsTheTest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := &spoilt{TB: t}
		server := clienttest.Start(told, clienttest.Options{CRDs: []string{"foos.json"}})
		c := connect(t, server.Config())
		must(client.For(c, sample.Foos).Create(t.Context(), newFoo("a", 1)))(t)
		inf := informer.New(client.For(c, sample.Foos), informer.Options{OnError: func(error) {}})
		ctl := controller.New("foos", controller.Options{}, func(_ context.Context, key meta.Key) (controller.Result, error) {
			foo, _ := inf.Reader().Get(key)
			foo.Spec.Replicas = 7 // not a clone
			return controller.Result{}, nil
		}, controller.Watch(inf))
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		if err := informer.Run(ctx, ctl); err != nil {
			t.Fatal(err)
		}
		told.says(t, "default/a", "spec.replicas")
	})
}

// Trap: a reconcile that reads a cache which nobody runs, because no source names it.
func TestAReadOfACacheThatNobodyRunsFailsTheTest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := &spoilt{TB: t}
		server := clienttest.Start(told, clienttest.Options{CRDs: []string{"foos.json"}})
		c := connect(t, server.Config())
		must(client.For(c, sample.Foos).Create(t.Context(), newFoo("a", 1)))(t)
		inf := informer.New(client.For(c, sample.Foos), informer.Options{})
		forgotten := informer.New(client.For(c, sample.Deployments), informer.Options{OnError: func(error) {}})
		ctl := controller.New("foos", controller.Options{}, func(_ context.Context, key meta.Key) (controller.Result, error) {
			_, _ = forgotten.Reader().Get(key)
			return controller.Result{}, nil
		}, controller.Watch(inf))
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		if err := informer.Run(ctx, ctl); err != nil {
			t.Fatal(err)
		}
		told.says(t, "deployments", "traps_test.go", "controller.Reads")

		// Declared, it is run and waited for.
		quiet := &spoilt{TB: t}
		server = clienttest.Start(quiet, clienttest.Options{CRDs: []string{"foos.json"}})
		c = connect(t, server.Config())
		must(client.For(c, sample.Foos).Create(t.Context(), newFoo("a", 1)))(t)
		must(client.For(c, sample.Deployments).Create(t.Context(), newDeployment("a")))(t)
		inf = informer.New(client.For(c, sample.Foos), informer.Options{})
		declared := informer.New(client.For(c, sample.Deployments), informer.Options{})
		found := false
		ctl = controller.New("foos", controller.Options{}, func(_ context.Context, key meta.Key) (controller.Result, error) {
			_, found = declared.Reader().Get(key)
			return controller.Result{}, nil
		}, controller.Watch(inf), controller.Reads[meta.Key](declared))
		ctx, stop = context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		if err := informer.Run(ctx, ctl); err != nil {
			t.Fatal(err)
		}
		if !found || len(quiet.failed) > 0 {
			t.Errorf("found %v, told %v", found, quiet.failed)
		}
	})
}

// Trap: the server does not keep what is ensured. Each Ensure says so, so that a loop can see that it fights somebody.
func TestEnsureReportsFieldsThatTheServerDrops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		type painted struct {
			meta.ObjectMeta `json:"metadata"`
			Spec            struct {
				sample.FooSpec
				Colour string `json:"colour"` // the definition does not have it, so the server drops it
			} `json:"spec"`
		}
		foos := client.For(connect(t, w.server.Config()), client.Type[*painted]{
			Group: sample.Foos.Group, Version: sample.Foos.Version, Kind: sample.Foos.Kind, Resource: sample.Foos.Resource,
		})
		want := &painted{ObjectMeta: key.ObjectMeta()}
		want.Spec.DeploymentName, want.Spec.Colour = "app", "red"
		for range 2 {
			_, did, err := foos.Ensure(t.Context(), want, client.EnsureOptions{})
			if err != nil || did.Outcome != client.NotKept || !slices.Equal(did.NotKept, []string{"/spec/colour"}) {
				t.Errorf("Ensure says %v, %v, want NotKept: /spec/colour", did, err)
			}
		}
	})
}

// Trap: a type whose metadata has no deletionTimestamp, no owners and no labels is asked for them. The program does not compile.
func TestALeanTypeThatIsAskedForWhatItLacksDoesNotCompile(t *testing.T) {
	out, err := exec.Command("go", "build", "-o", os.DevNull, "./testdata/lean").CombinedOutput()
	if err == nil {
		t.Fatal("it compiles")
	}
	for _, want := range []string{"meta.IsDeleting", "GetDeletionTimestamp", "GetOwnerReferences", "GetLabels"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the compiler does not name %s:\n%s", want, out)
		}
	}
}

// Trap: a fault of a handler's own making, such as t.FailNow, must not cost the worker that it ran in.
func TestAReconcileThatEndsItsGoroutineCostsNoWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		for _, name := range []string{"a", "b"} {
			must(w.foos.Create(t.Context(), newFoo(name, 1)))(t)
		}
		var mu sync.Mutex
		seen := map[string]int{}
		inf := informer.New(client.For(connect(t, w.server.Config()), sample.Foos), informer.Options{})
		ctl := controller.New("foos", controller.Options{OnError: func(error) {}}, func(_ context.Context, key meta.Key) (controller.Result, error) {
			mu.Lock()
			seen[key.Name]++
			first := seen[key.Name] == 1
			mu.Unlock()
			if first {
				new(testing.T).SkipNow() // ends the goroutine
			}
			return controller.Result{}, nil
		}, controller.Watch(inf))
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		if err := informer.Run(ctx, ctl); err != nil {
			t.Fatal(err)
		}
		if seen["a"] != 2 || seen["b"] != 2 {
			t.Errorf("the reconciles were %v, want two of each", seen)
		}
	})
}
