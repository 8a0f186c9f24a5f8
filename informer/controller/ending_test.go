package controller_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bowline-go/bowline/client/meta"
	"github.com/bowline-go/bowline/informer/controller"
)

func TestReadyKeysAreWorkedOffAtTheEnd(t *testing.T) {
	for _, test := range []struct {
		name    string
		options controller.Options
		fails   bool // a source, instead of the end of the context
		want    []string
	}{
		{"if that is asked for", controller.Options{Drain: time.Minute}, false, []string{
			"0s a", "10s a done: <nil>", "10s b", "20s b done: <nil>", "20s c", "30s c done: <nil>", "30s a", "40s a done: <nil>", "40s end",
		}},
		{"and not otherwise", controller.Options{}, false, []string{"0s a", "5s a done: context canceled", "5s end"}},
		{"for a bounded time", controller.Options{Drain: 12 * time.Second}, false, []string{
			"0s a", "10s a done: <nil>", "10s b", "17s b done: context canceled", "17s end",
		}},
		{"and then the last have their grace", controller.Options{Drain: 12 * time.Second, Grace: time.Second}, false, []string{
			"0s a", "10s a done: <nil>", "10s b", "18s b done: context canceled", "18s end",
		}},
		{"or enough of it", controller.Options{Drain: 12 * time.Second, Grace: time.Minute}, false, []string{
			"0s a", "10s a done: <nil>", "10s b", "20s b done: <nil>", "20s end",
		}},
		{"but not if the controller fails", controller.Options{Drain: time.Minute}, true, []string{
			"0s a", "5s a done: context canceled", "5s end",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLog()
				again := make(chan string, 1)
				test.options.MinBackoff = time.Hour
				c := controller.New("c", test.options, func(ctx context.Context, k string) (controller.Result, error) {
					l.add("%s", k)
					var err error
					select {
					case <-time.After(10 * time.Second):
					case <-ctx.Done():
						err = ctx.Err()
					}
					l.add("%s done: %v", k, err)
					if k == "b" {
						return controller.Result{}, errFailed // retried much later
					}
					return controller.Result{}, err
				}, keys{names: []string{"a", "b", "c"}}, controller.Chan(again))
				time.AfterFunc(3*time.Second, func() { again <- "a" })
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if test.fails {
					time.AfterFunc(5*time.Second, func() {
						if _, err := c.AddSource(failing{err: errFailed}); err != nil {
							t.Error(err)
						}
					})
				} else {
					time.AfterFunc(5*time.Second, cancel)
				}
				if err := c.Run(ctx); (err != nil) != test.fails {
					t.Errorf("Run returned %v", err)
				}
				l.add("end")
				l.want(t, test.want...)
			})
		})
	}
}

// When the lease is lost, another replica may be reconciling the keys already.
func TestNothingIsDrainedWhenTheLeadershipIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog()
		c := controller.New("c", controller.Options{Drain: time.Hour}, func(ctx context.Context, k string) (controller.Result, error) {
			l.add("%s", k)
			<-ctx.Done()
			return controller.Result{}, ctx.Err()
		}, keys{names: []string{"a", "b"}})
		err := c.RunLed(t.Context(), func(ctx context.Context, work func(context.Context) error) error {
			leading, lose := context.WithCancel(ctx)
			time.AfterFunc(time.Second, lose)
			_ = work(leading)
			return errFailed
		})
		if !errors.Is(err, errFailed) {
			t.Error(err)
		}
		l.want(t, "0s a")
	})
}

// A worker that a reconcile ends during the drain is replaced, like every other.
func TestADrainGoesOnWhenAReconcileEndsItsGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog()
		ctx, cancel := context.WithCancel(t.Context())
		c := controller.New("c", controller.Options{Drain: time.Hour, MinBackoff: 2 * time.Hour, MaxBackoff: 2 * time.Hour, OnError: func(error) {}},
			func(_ context.Context, k string) (controller.Result, error) {
				l.add("%s", k)
				cancel()
				if k == "b" {
					runtime.Goexit()
				}
				return controller.Result{}, nil
			}, keys{names: []string{"a", "b", "c"}})
		if err := c.Run(ctx); err != nil {
			t.Error(err)
		}
		l.want(t, "0s a", "0s b", "0s c")
	})
}

// A Run that could not return did not say why.
func TestARunThatCannotReturnSaysWhatHangs(t *testing.T) {
	for _, logs := range []bool{false, true} {
		t.Run(fmt.Sprint("logged: ", logs), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLog()
				o := controller.Options{Workers: 2, Grace: time.Minute, OnError: func(err error) {
					l.add("%v", err)
				}}
				if logs {
					o.OnError, o.Logger = nil, logged{l}.logger()
				}
				c := controller.New("c", o, func(_ context.Context, k string) (controller.Result, error) {
					if k == "a" {
						time.Sleep(time.Minute)
					}
					time.Sleep(2 * time.Minute)
					return controller.Result{}, nil
				}, keys{names: []string{"a"}, after: 2 * time.Second}, keysLater{}, stubborn{})
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(10*time.Second, cancel)
				if err := c.Run(ctx); err != nil {
					t.Error(err)
				}
				const after = `after the end of their contexts: `
				want := []string{
					// The grace ends at 70 s, and the contexts with it. The reconciles return at 125 s and 182 s, the source at 210 s.
					`75s 5s ` + after + `the reconcile of "a" since 2000-01-01T00:00:02Z, the reconcile of "b" since 2000-01-01T00:00:05Z`,
					`90s 20s ` + after + `the reconcile of "a" since 2000-01-01T00:00:02Z, the reconcile of "b" since 2000-01-01T00:00:05Z`,
					`135s 1m5s ` + after + `the reconcile of "a" since 2000-01-01T00:00:02Z`,
					`187s 5s ` + after + `controller_test.stubborn`,
					`202s 20s ` + after + `controller_test.stubborn`,
				}
				var got []string
				for _, line := range l.lines {
					at, text, _ := strings.Cut(line, " ")
					d, err := time.ParseDuration(at)
					if err != nil {
						t.Fatal(err)
					}
					if strings.Contains(text, "workers wait") {
						continue
					}
					if logs && !strings.Contains(text, "Run cannot return") {
						t.Errorf("logged %s", text)
					}
					text = strings.ReplaceAll(text, `\"`, `"`)
					_, text, _ = strings.Cut(text, "still running ")
					text, _, _ = strings.Cut(text, `"}`)
					got = append(got, fmt.Sprintf("%vs %s", d.Seconds(), strings.TrimSuffix(text, `"`)))
				}
				if logs {
					for i := range want {
						want[i] = strings.TrimSuffix(want[i], `"`)
						got[i] = strings.TrimSuffix(got[i], `"`)
					}
				}
				if strings.Join(got, "\n") != strings.Join(want, "\n") {
					t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			})
		})
	}
}

// keysLater names a key after 5 s.
type keysLater struct{}

func (keysLater) Run(ctx context.Context, add func(string), synced func()) error {
	synced()
	time.Sleep(5 * time.Second)
	add("b")
	<-ctx.Done()
	return nil
}

// stubborn is a source that takes its time to return.
type stubborn struct{}

func (stubborn) Run(ctx context.Context, _ func(string), synced func()) error {
	synced()
	<-ctx.Done()
	time.Sleep(200 * time.Second)
	return nil
}

// A Run with many reconciles that hang names the first ten.
func TestARunThatHangsNamesTheFirstTenReconciles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var names []string
		for i := range 12 {
			names = append(names, fmt.Sprint("k", i))
		}
		var told []string
		c := controller.New("c", controller.Options{Workers: 12, OnError: func(err error) { told = append(told, err.Error()) }},
			func(context.Context, string) (controller.Result, error) {
				time.Sleep(12 * time.Second)
				return controller.Result{}, nil
			}, keys{names: names})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if err := c.Run(ctx); err != nil {
			t.Error(err)
		}
		if len(told) != 1 || !strings.HasPrefix(told[0], `stop controller "c": still running 5s after the end of their contexts: the reconcile of "k`) ||
			strings.Count(told[0], "the reconcile of ") != 10 || !strings.HasSuffix(told[0], `since 2000-01-01T00:00:00Z, 2 more reconciles`) {
			t.Errorf("told %q", told)
		}
	})
}

// An added source that hangs while it is removed, and an informer that hangs, are named too.
func TestAddedSourcesThatHangAreNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog()
		c := controller.New("c", controller.Options{OnError: func(err error) {
			_, text, _ := strings.Cut(err.Error(), "contexts: ")
			l.add("%s", text)
		}}, func(context.Context, meta.Key) (controller.Result, error) {
			return controller.Result{}, nil
		}, controller.Chan(make(chan meta.Key)))
		stop := run(t, c)
		if _, err := c.AddSource(controller.Watch(newPods(t).ReaderOf(slowRunner{}))); err != nil {
			t.Fatal(err)
		}
		removed, err := c.AddSource(slowSource{})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		go removed.Remove()
		synctest.Wait()
		mustStop(t, stop)
		synctest.Wait()
		l.want(t, "5s controller_test.slowSource", "20s controller_test.slowRunner")
	})
}

// slowSource takes 10 s to return, and slowRunner 20 s more.
type (
	slowSource struct{}
	slowRunner struct{}
)

func (slowSource) Run(ctx context.Context, _ func(meta.Key), synced func()) error {
	synced()
	<-ctx.Done()
	time.Sleep(10 * time.Second)
	return nil
}

func (slowRunner) Run(ctx context.Context) error {
	<-ctx.Done()
	time.Sleep(20 * time.Second)
	return nil
}
